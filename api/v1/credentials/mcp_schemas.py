"""What the routes about agents accept and answer."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from api.actors import ActorShape
from api.bodies import NeedsOne
from api.body_fields import Flag
from api.fields import Choice
from api.models.writeback import OUTCOMES
from api.op_lists import ListQuery

PII_MODES = ("masked_default", "full_default")
_UUID = {"format": "uuid"}


class AgentSettings(Schema):
    """What agents may do with the data of one workspace."""

    pii_mode = fields.String(
        required=True,
        metadata={"enum": list(PII_MODES), "description": "full_default: whole addresses and phones may be asked for."},
    )
    mcp_writeback_enabled = fields.Boolean(
        required=True, metadata={"description": "Whether user tokens may change ad platforms."}
    )
    updated_at = fields.DateTime(required=True, allow_none=True)
    updated_by = fields.Nested(ActorShape, required=True, allow_none=True)


class AgentSettingsBody(NeedsOne):
    pii_mode = fields.String(validate=validate.OneOf(PII_MODES, error=f"must be one of {', '.join(PII_MODES)}"))
    mcp_writeback_enabled = Flag()


class WritebackQuery(ListQuery):
    outcome = Choice(OUTCOMES, load_default=None, metadata={"description": "Only those that ended so."})


class WritebackTarget(Schema):
    kind = fields.String(required=True)
    platform_id = fields.String(required=True, allow_none=True)
    name = fields.String(required=True, allow_none=True)


class WritebackRow(Schema):
    """One change that an agent asked an ad platform for."""

    is_paged = True

    audit_id = fields.String(required=True, metadata=_UUID)
    at = fields.DateTime(required=True)
    user_id = fields.String(required=True, metadata=_UUID)
    token_prefix = fields.String(required=True)
    profile_id = fields.String(required=True, metadata=_UUID)
    operation = fields.String(required=True, metadata={"description": "noun.verb, for example campaign.pause."})
    target = fields.Nested(WritebackTarget, required=True)
    dry_run = fields.Boolean(required=True)
    request = fields.Dict(required=True, metadata={"description": "Numbers and ids that were sent."})
    outcome = fields.String(required=True, metadata={"enum": list(OUTCOMES)})
    error_code = fields.String(required=True, allow_none=True)
    idempotency_key = fields.String(required=True, allow_none=True)
    request_id = fields.String(required=True, allow_none=True)
