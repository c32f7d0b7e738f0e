"""GET /conversion-sync/data-sources."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields

from api import auth, context, db
from api.exports import gates, sources
from api.guard import guarded
from api.http import Blueprint
from api.models import Profile
from api.scopes import Scope
from api.served import profile_facts
from api.snapshot import snapshots

bp = Blueprint("data_sources", __name__, description="Whether the sources of conversions are fit to be exported from.")

_PERCENT = "Of the conversions of seven days, those that it is known of; null without any."

_EVENTS = "Of the tracker all that pages told, of which few are conversions; of ad platforms ads' days of delivery."


class MatchKeys(Schema):
    """How often a platform could find the person, in percent."""

    email_pct = fields.Float(required=True, allow_none=True, metadata={"description": _PERCENT})
    phone_pct = fields.Float(required=True, allow_none=True, metadata={"description": _PERCENT})
    click_id_pct = fields.Float(required=True, allow_none=True, metadata={"description": _PERCENT})
    ad_id_pct = fields.Float(
        required=True,
        allow_none=True,
        metadata={"description": "Those whose last touch names an ad that is synced; null without conversions."},
    )


class DataSource(Schema):
    """One source: what it lately sent, and what stands in the way of exporting it."""

    source = fields.String(
        required=True,
        metadata={
            "enum": list(sources.SOURCES),
            "description": "What sends conversions; ad_platform sends the delivery of their ads.",
        },
    )
    status = fields.String(
        required=True,
        metadata={
            "enum": ["ready", "degraded", "not_ready"],
            "description": "degraded: of use, with something to mend; not_ready: of no use until it is mended.",
        },
    )
    reason_code = fields.String(
        required=True,
        allow_none=True,
        metadata={"enum": [*sources.REASONS, None], "description": "What stands in the way; null where it is ready."},
    )
    connection_id = fields.UUID(
        required=True,
        allow_none=True,
        metadata={"description": "Of several the one that waits for somebody; null without any."},
    )
    last_event_at = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={"description": "When it last sent something, or an ad account was last read; null before."},
    )
    events_24h = fields.Integer(required=True, metadata={"description": _EVENTS})
    events_7d = fields.Integer(required=True, metadata={"description": "The same of seven days."})
    match_keys = fields.Nested(MatchKeys, required=True)


@bp.route("/conversion-sync/data-sources")
@guarded(scope=Scope.EXPORTS_READ)
@bp.response(200, DataSource(many=True))
def data_sources() -> list[dict[str, Any]]:
    """Whether each source is ready to be exported from

    Always the same nine, in this order. Conversions are those of the published snapshot; events of servers and of
    browsers, and files, are counted as they came in.
    """
    at, profile_id = db.now(), auth.current().profile.id
    with snapshots(context.settings()).reader() as reader:
        facts = profile_facts(reader, profile_id) if reader else None
        seen = sources.told(reader, facts, at) if reader and facts else {}
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        profile = reading.get_one(Profile, profile_id)
        seen = sources.kept(reading, profile, seen, at)
        return sources.rows(reading, profile, gates.situation(reading, profile, at), seen)
