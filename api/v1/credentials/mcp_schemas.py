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
    updated_at = fields.DateTime(
        required=True, allow_none=True, metadata={"description": "When they were last changed; null before."}
    )
    updated_by = fields.Nested(
        ActorShape, required=True, allow_none=True, metadata={"description": "Who changed them last; null before."}
    )


class AgentSettingsBody(NeedsOne):
    pii_mode = fields.String(
        validate=validate.OneOf(PII_MODES, error=f"must be one of {', '.join(PII_MODES)}"),
        metadata={"description": "full_default is refused for a healthcare agency."},
    )
    mcp_writeback_enabled = Flag(
        metadata={"description": "Whether user tokens may change ad platforms; also in force for those that exist."}
    )


class WritebackQuery(ListQuery):
    outcome = Choice(OUTCOMES, load_default=None, metadata={"description": "Only those that ended so."})


class WritebackTarget(Schema):
    kind = fields.String(required=True, metadata={"description": "campaign, ad_set, ad, account or recommendation."})
    platform_id = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "Its id at the platform, of a recommendation that of its ad; null of what has none there."
        },
    )
    name = fields.String(
        required=True, allow_none=True, metadata={"description": "Its name at the platform; null where none was read."}
    )


class WritebackRow(Schema):
    """One change that an agent asked an ad platform for."""

    is_paged = True

    audit_id = fields.String(required=True, metadata={**_UUID, "description": "The entry."})
    at = fields.DateTime(required=True, metadata={"description": "When it was asked for, before the platform was."})
    user_id = fields.String(required=True, metadata=_UUID)
    token_prefix = fields.String(required=True, metadata={"description": "How the user token begins."})
    profile_id = fields.String(required=True, metadata=_UUID)
    operation = fields.String(required=True, metadata={"description": "noun.verb, for example campaign.pause."})
    target = fields.Nested(WritebackTarget, required=True)
    dry_run = fields.Boolean(required=True)
    request = fields.Dict(required=True, metadata={"description": "Numbers and ids that were sent."})
    outcome = fields.String(
        required=True,
        metadata={
            "enum": list(OUTCOMES),
            "description": "pending: not known yet; refused: not allowed; failed: an error of ours or the platform's.",
        },
    )
    error_code = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Code of the error that it was refused or failed with; null otherwise."},
    )
    idempotency_key = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The Idempotency-Key that came with it; null without one."},
    )
    request_id = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The request, as `X-Request-Id` told it; null where it was not kept."},
    )
