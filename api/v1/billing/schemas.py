"""What the billing routes accept and answer, field by field."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from api.plans import PLANS
from api.v1.branding.schemas import HttpsUrl

SOLD = ("growth", "agency")
INTERVALS = ("month", "year")
CHOICES = ("starter", *SOLD)


def _one_of(words: tuple[str, ...]) -> validate.OneOf:
    return validate.OneOf(words, error=f"must be one of {', '.join(words)}")


class CheckoutBody(Schema):
    plan = fields.String(required=True, validate=_one_of(SOLD))
    interval = fields.String(load_default="month", validate=_one_of(INTERVALS))


class PortalBody(Schema):
    return_url = HttpsUrl(load_default=None)


class PlanSelectionBody(Schema):
    plan = fields.String(required=True, validate=_one_of(CHOICES))


class OpenedHandoff(Schema):
    """A page to send a person to."""

    id = fields.UUID(required=True, metadata={"description": "Poll GET /handoffs/{id} with it."})
    url = fields.Url(required=True, require_tld=False)
    expires_at = fields.DateTime(required=True)


class CheckoutSession(OpenedHandoff):
    """The payment processor's page for one plan."""

    plan = fields.String(required=True, metadata={"enum": list(SOLD)})


class PortalSession(Schema):
    """The processor's page where cards, invoices and the plan itself are managed."""

    url = fields.Url(required=True, require_tld=False)
    expires_at = fields.DateTime(required=True, metadata={"description": "Open it before."})


class PlanSelection(Schema):
    """The chosen plan; without a hand-off it is in force already."""

    plan = fields.String(required=True, metadata={"enum": list(CHOICES)})
    handoff = fields.Nested(OpenedHandoff, required=True, allow_none=True)


_NO_LIMIT = {"description": "Null: no limit."}


class PlanAllowances(Schema):
    """What the plan allows."""

    active_profiles = fields.Integer(required=True, allow_none=True, metadata=_NO_LIMIT)
    members = fields.Integer(required=True, allow_none=True, metadata=_NO_LIMIT)
    guests = fields.Integer(required=True, allow_none=True, metadata=_NO_LIMIT)
    api_keys = fields.Integer(required=True, allow_none=True, metadata={"description": "Of each profile."})
    webhook_subscriptions = fields.Integer(required=True, allow_none=True, metadata=_NO_LIMIT)
    snapshot_links = fields.Integer(required=True, allow_none=True, metadata=_NO_LIMIT)
    sender_domain = fields.Boolean(required=True)
    bulk_reports = fields.Boolean(required=True)


class PlanUsage(Schema):
    """How much of it is in use."""

    active_profiles = fields.Integer(required=True)
    members = fields.Integer(required=True)
    guests = fields.Integer(required=True)
    webhook_subscriptions = fields.Integer(required=True)
    snapshot_links = fields.Integer(required=True)


class SubscriptionShape(Schema):
    """The plan of a workspace as it is now, and what it rests on."""

    plan = fields.String(required=True, metadata={"enum": list(PLANS)})
    status = fields.String(
        required=True, metadata={"enum": ["none", "trialing", "active", "past_due", "canceled"]}
    )  # fmt: skip
    billing = fields.String(required=True, metadata={"enum": ["card", "storefront", "none"]})
    current_period_start = fields.DateTime(required=True, allow_none=True)
    current_period_end = fields.DateTime(required=True, allow_none=True)
    trial_end = fields.DateTime(required=True, allow_none=True)
    cancel_at_period_end = fields.Boolean(required=True)
    allowances = fields.Nested(PlanAllowances, required=True)
    usage = fields.Nested(PlanUsage, required=True)


class HandoffResult(Schema):
    """`plan` of a checkout or of a choice of plan; the other two of a connect."""

    plan = fields.String(metadata={"enum": list(PLANS)})
    connection_id = fields.UUID()
    accounts_found = fields.Integer(metadata={"description": "Accounts to choose from."})


class HandoffShape(Schema):
    """A page that a person was sent to, and what became of it."""

    id = fields.UUID(required=True)
    kind = fields.String(required=True, metadata={"enum": ["checkout", "plan_selection", "connect"]})
    status = fields.String(
        required=True, metadata={"enum": ["pending", "completed", "failed", "expired", "canceled"]}
    )  # fmt: skip
    url = fields.Url(required=True, allow_none=True, require_tld=False, metadata={"description": "While pending."})
    reason = fields.String(
        required=True,
        allow_none=True,
        metadata={"enum": ["payment_refused", "account_connected_elsewhere", "provider_denied", "abandoned", None]},
    )
    created_at = fields.DateTime(required=True)
    expires_at = fields.DateTime(required=True)
    completed_at = fields.DateTime(required=True, allow_none=True)
    result = fields.Nested(
        HandoffResult,
        required=True,
        allow_none=True,
        metadata={"description": "Once completed: plan of a checkout; connection_id and accounts_found of a connect."},
    )
