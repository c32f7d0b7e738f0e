"""What the routes that change something at an ad platform accept and answer, field by field."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from api.bodies import Text
from api.body_fields import Flag, Uuid
from connectors.ad_platform import BudgetType

BUDGET_TYPES: tuple[BudgetType, ...] = ("daily", "lifetime")
LARGEST = 10**15
_READ_BACK = "Read from the platform after the call; null when it confirmed the change and could not be read again."


class ChangeBody(Schema):
    dry_run = Flag(load_default=False, metadata={"description": "Only say what would be done."})
    note = Text(500, load_default=None, metadata={"description": "Why, for the audit trail."})
    applied_by = Uuid(load_default=None)


class BudgetBody(ChangeBody):
    budget_type = fields.String(
        load_default="daily",
        validate=validate.OneOf(BUDGET_TYPES),
        metadata={"description": "Which budget; one that it does not have cannot be set."},
    )
    amount_minor = fields.Integer(
        required=True,
        strict=True,
        validate=validate.Range(1, LARGEST),
        metadata={"description": "The new budget, in minor units of the ad account's currency."},
    )


class Change(Schema):
    """What was done, and what stands now."""

    platform_id = fields.String(
        required=True, metadata={"description": "What was to be changed, by its platform's id."}
    )
    level = fields.String(
        required=True,
        metadata={
            "enum": ["campaign", "ad_set", "ad"],
            "description": "What was to be changed: campaign, ad_set or ad.",
        },
    )
    audit_id = fields.UUID(required=True, metadata={"description": "Of the entry in the workspace's audit trail."})
    dry_run = fields.Boolean(required=True)


class StatusChange(Change):
    action = fields.String(required=True, metadata={"enum": ["pause", "resume"], "description": "What was asked for."})
    outcome = fields.String(
        required=True,
        metadata={
            "enum": ["paused", "resumed", "no_change", "would_pause", "would_resume"],
            "description": "no_change: it stood so already; would_…: what a dry run would have done.",
        },
    )
    status_before = fields.String(
        required=True, metadata={"description": "What it was before the call, as the platform spells it."}
    )
    status_after = fields.String(required=True, allow_none=True, metadata={"description": _READ_BACK})


class BudgetChange(Change):
    action = fields.String(required=True, metadata={"enum": ["budget"], "description": "Always budget."})
    outcome = fields.String(
        required=True,
        metadata={
            "enum": ["changed", "no_change", "would_change"],
            "description": "no_change: it was this already; would_change: a dry run of what would be done.",
        },
    )
    budget_type = fields.String(required=True, metadata={"enum": list(BUDGET_TYPES), "description": "Which budget."})
    budget_before_minor = fields.Integer(
        required=True, metadata={"description": "What it was before the call, in minor units of currency."}
    )
    budget_after_minor = fields.Integer(required=True, allow_none=True, metadata={"description": _READ_BACK})
    currency = fields.String(required=True, metadata={"description": "The ad account's, ISO 4217."})
    allowed_min_minor = fields.Integer(
        required=True, metadata={"description": "Least that one step from the budget before may lead to."}
    )
    allowed_max_minor = fields.Integer(required=True, metadata={"description": "Most, likewise."})
