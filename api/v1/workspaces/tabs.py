"""GET W/tab-counts and POST W/tab-counts/seen: what is new for a person since they last looked."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from marshmallow import Schema, fields, validate
from sqlalchemy.orm import Session

from api import auth, context, db, newcomers
from api.bodies import Instant
from api.exports import destinations
from api.guard import workspace_guarded
from api.http import Blueprint
from api.models import (
    Connection,
    FinishedStudy,
    Leader,
    Membership,
    Profile,
    Recommendation,
    Report,
    TabSeen,
    User,
)
from api.reading_across import openable
from api.scopes import Scope
from api.writing import idempotent, session

bp = Blueprint("tab_counts", __name__, description="What is new on each tab of the console.")

TABS = ("top_performers", "recommendations", "experiments", "reports", "connections", "exports")
BROKEN = ("needs_action", "reconnect_required")


class SinceQuery(Schema):
    since = Instant(load_default=None, metadata={"description": "Instead of what the person has seen of each tab."})


class Tabs(Schema):
    """A count for each tab of `TABS`."""

    top_performers = fields.Integer(required=True, metadata={"description": "New leaders."})
    recommendations = fields.Integer(required=True, metadata={"description": "Open ones."})
    experiments = fields.Integer(required=True, metadata={"description": "Finished studies."})
    reports = fields.Integer(required=True, metadata={"description": "Ready ones."})
    connections = fields.Integer(required=True, metadata={"description": "Those that need somebody."})
    exports = fields.Integer(required=True, metadata={"description": "Failed ones."})


class TabCounts(Schema):
    """How much is new on each tab."""

    since = fields.Dict(
        keys=fields.String(),
        values=fields.DateTime(),
        required=True,
        metadata={"description": "By tab, from when on its count is."},
    )
    tabs = fields.Nested(Tabs, required=True)


class SeenBody(Schema):
    tab = fields.String(
        required=True, validate=validate.OneOf(TABS, error=f"must be one of {', '.join(TABS)}")
    , metadata={"description": "The tab that the person has looked at."})  # fmt: skip


class Seen(Schema):
    tab = fields.String(required=True, metadata={"enum": list(TABS), "description": "The tab, as sent."})
    seen_at = fields.DateTime(required=True, metadata={"description": "From when on its count is now."})


@bp.route("/workspaces/<workspace_id>/tab-counts")
@workspace_guarded()
@bp.arguments(SinceQuery, location="query")
@bp.response(200, TabCounts)
def tab_counts(query: dict[str, Any], workspace_id: str) -> dict[str, Any]:
    """What is new on each tab since the person last looked at it

    Before the first look: since they joined the workspace. Connections that need somebody count until they are well.
    """
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        since = dict.fromkeys(TABS, query["since"]) if query["since"] else _marks(reading, workspace_id)
        counts = {**dict.fromkeys(TABS, 0), "connections": _broken_connections(reading, workspace_id)}
        for tab, kept in (("top_performers", Leader.ad_id), ("experiments", FinishedStudy.experiment_id)):
            counts[tab] = newcomers.kept_since(reading, kept, _opened(workspace_id), since[tab])
        counts["recommendations"] = _opened_since(reading, workspace_id, since["recommendations"])
        counts["reports"] = _ready_since(reading, workspace_id, since["reports"])
        counts["exports"] = destinations.failed_since(reading, _opened(workspace_id), since["exports"])
    return {"since": since, "tabs": counts}


@bp.route("/workspaces/<workspace_id>/tab-counts/seen", methods=["POST"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE)
@bp.arguments(SeenBody)
@idempotent()
@bp.response(200, Seen)
def mark_tab_seen(body: dict[str, Any], workspace_id: str) -> dict[str, Any]:
    """Say that the person has looked at a tab

    The tab's count is 0 from now on and grows with what comes after, for this person in this workspace alone. Broken
    connections are counted until they are well, seen or not. Sent again it moves the mark to now.
    """
    person, at = auth.current().person, db.now()
    # two looks at once: one after the other
    session().scalar(sa.select(User.id).where(User.id == person).with_for_update(key_share=True))
    session().merge(TabSeen(workspace_id=workspace_id, user_id=person, tab=body["tab"], seen_at=at))
    return {"tab": body["tab"], "seen_at": at}


def _marks(reading: Session, workspace_id: str) -> dict[str, datetime]:
    person = auth.current().person
    of_person = (TabSeen.workspace_id == workspace_id, TabSeen.user_id == person)
    seen = {mark.tab: mark.seen_at for mark in reading.scalars(sa.select(TabSeen).where(*of_person))}
    joined = sa.select(Membership).where(Membership.workspace_id == workspace_id, Membership.user_id == person)
    return dict.fromkeys(TABS, reading.scalars(joined).one().created_at) | seen


def _opened(workspace_id: str) -> sa.Select[str]:
    return openable(workspace_id).with_only_columns(Profile.id)


def _opened_since(reading: Session, workspace_id: str, since: datetime) -> int:
    standing = (Recommendation.status == "open", Recommendation.created_at > since)
    of_mine = Recommendation.profile_id.in_(_opened(workspace_id))
    return reading.scalar(sa.select(sa.func.count()).where(of_mine, *standing)) or 0


def _ready_since(reading: Session, workspace_id: str, since: datetime) -> int:
    of_mine = Report.profile_id.in_(_opened(workspace_id))
    return reading.scalar(sa.select(sa.func.count()).where(of_mine, Report.ready_at > since)) or 0


def _broken_connections(reading: Session, workspace_id: str) -> int:
    ids = _opened(workspace_id)
    broken = sa.select(sa.func.count()).where(Connection.profile_id.in_(ids), Connection.status.in_(BROKEN))
    return reading.scalar(broken) or 0
