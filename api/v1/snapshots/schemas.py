"""What the routes of frozen leaderboards accept and answer, field by field."""

from __future__ import annotations

from marshmallow import Schema, fields

from api.actors import ActorShape
from api.bodies import Text
from api.body_fields import Flag, Whole
from api.fields import Choice
from api.op_lists import ListQuery
from api.shared_snapshots import STATUSES
from api.v1.top_performers.bodies import Chosen, SpendFilters
from api.v1.top_performers.terms import SCORE_WINDOWS

MOST_DAYS = 365
_TITLE = "Heading of the shared page; null: a general one."


class SnapshotsQuery(ListQuery):
    status = Choice(
        ("active", "revoked", "expired", "all"),
        load_default="all",
        metadata={"description": "Only those that stand so."},
    )


class SnapshotBody(Chosen):
    """What is frozen, and for how long its link opens."""

    title = Text(120, load_default=None, metadata={"description": _TITLE})
    filters = fields.Nested(SpendFilters, load_default=dict, metadata={"description": "As of GET /top-performers."})
    hide_money = Flag(load_default=False, metadata={"description": "Leave every figure of money out, for good."})
    expires_in_days = Whole(
        1, MOST_DAYS, load_default=30, metadata={"description": "Days for which the link opens; 30 if left out."}
    )


class SnapshotRow(Schema):
    """One frozen leaderboard and its link."""

    is_paged = True

    snapshot_id = fields.UUID(required=True)
    title = fields.String(required=True, allow_none=True, metadata={"description": _TITLE})
    status = fields.String(required=True, metadata={"enum": list(STATUSES), "description": "Only an active one opens."})
    token_prefix = fields.String(required=True, metadata={"description": "How its link begins."})
    score_window = fields.String(required=True, metadata={"enum": list(SCORE_WINDOWS)})
    filters = fields.Nested(SpendFilters, required=True)
    hide_money = fields.Boolean(
        required=True, metadata={"description": "Whether figures of money were left out, for good."}
    )
    profile_ids = fields.List(fields.UUID(), required=True, metadata={"description": "Profiles that it ranks."})
    row_count = fields.Integer(required=True, metadata={"description": "Ads that it ranks."})
    score_date = fields.Date(required=True, metadata={"description": "Last day that was scored at capture."})
    config_version = fields.Integer(required=True, metadata={"description": "Version of the weights at capture."})
    created_by = fields.Nested(ActorShape, required=True)
    created_at = fields.DateTime(required=True)
    expires_at = fields.DateTime(required=True, metadata={"description": "When its link ends by itself."})
    revoked_at = fields.DateTime(required=True, allow_none=True)
    view_count = fields.Integer(required=True, metadata={"description": "How often its link was opened."})
    last_viewed_at = fields.DateTime(
        required=True, allow_none=True, metadata={"description": "When its link was last opened; null before."}
    )


class CapturedSnapshot(SnapshotRow):
    """The same with its link, which no other answer holds."""

    url = fields.String(
        required=True, allow_none=True, metadata={"format": "uri", "description": "Shown this once; null in a replay."}
    )


class RevokedSnapshot(Schema):
    snapshot_id = fields.UUID(required=True)
    status = fields.String(required=True, metadata={"enum": ["revoked"], "description": "Always revoked."})
    revoked_at = fields.DateTime(required=True)
