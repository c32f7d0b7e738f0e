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
    plan = fields.String(
        required=True,
        validate=_one_of(SOLD),
        metadata={
            "description": "The plan to buy; refused where the workspace has it or a larger one, but for a trial."
        },
    )
    interval = fields.String(
        load_default="month",
        validate=_one_of(INTERVALS),
        metadata={"description": "How often it is paid; month if left out."},
    )


class PortalBody(Schema):
    return_url = HttpsUrl(
        load_default=None,
        metadata={"description": "Where the portal leads back to; this deployment's start page if left out."},
    )


class PlanSelectionBody(Schema):
    plan = fields.String(
        required=True,
        validate=_one_of(CHOICES),
        metadata={"description": "starter is in force at once, the others when the merchant confirms."},
    )


class OpenedHandoff(Schema):
    """A page to send a person to."""

    id = fields.UUID(required=True, metadata={"description": "Poll GET /handoffs/{id} with it."})
    url = fields.Url(required=True, require_tld=False, metadata={"description": "Address of the page."})
    expires_at = fields.DateTime(required=True, metadata={"description": "When the page ends."})


class CheckoutSession(OpenedHandoff):
    """The payment processor's page for one plan."""

    plan = fields.String(required=True, metadata={"enum": list(SOLD), "description": "The plan that is sold there."})


class PortalSession(Schema):
    """The processor's page where cards, invoices and the plan itself are managed."""

    url = fields.Url(required=True, require_tld=False, metadata={"description": "Where to send whoever pays."})
    expires_at = fields.DateTime(required=True, metadata={"description": "Open it before."})


class PlanSelection(Schema):
    """The chosen plan; without a hand-off it is in force already."""

    plan = fields.String(required=True, metadata={"enum": list(CHOICES), "description": "The plan, as chosen."})
    handoff = fields.Nested(
        OpenedHandoff,
        required=True,
        allow_none=True,
        metadata={"description": "Where the merchant confirms it; null for starter."},
    )


_NO_LIMIT = {"description": "Null: no limit."}


class PlanAllowances(Schema):
    """What the plan allows."""

    active_profiles = fields.Integer(required=True, allow_none=True, metadata=_NO_LIMIT)
    members = fields.Integer(required=True, allow_none=True, metadata=_NO_LIMIT)
    guests = fields.Integer(required=True, allow_none=True, metadata=_NO_LIMIT)
    api_keys = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "Of each profile, without those of apps; null: no limit."},
    )
    webhook_subscriptions = fields.Integer(required=True, allow_none=True, metadata=_NO_LIMIT)
    snapshot_links = fields.Integer(required=True, allow_none=True, metadata=_NO_LIMIT)
    sender_domain = fields.Boolean(
        required=True, metadata={"description": "Whether reports may be sent under a domain of the workspace's own."}
    )
    bulk_reports = fields.Boolean(
        required=True,
        metadata={"description": "Whether reports may be scheduled, or made of several profiles at once."},
    )


class PlanUsage(Schema):
    """How much of it is in use."""

    active_profiles = fields.Integer(required=True, metadata={"description": "Live profiles, a demo among them."})
    members = fields.Integer(required=True, metadata={"description": "People who are no guests."})
    guests = fields.Integer(required=True, metadata={"description": "People who open single profiles only."})
    webhook_subscriptions = fields.Integer(
        required=True, metadata={"description": "Subscriptions, paused and failed ones too."}
    )
    snapshot_links = fields.Integer(required=True, metadata={"description": "Links that still open."})


class SubscriptionShape(Schema):
    """The plan of a workspace as it is now, and what it rests on."""

    plan = fields.String(required=True, metadata={"enum": list(PLANS), "description": "The plan that holds now."})
    status = fields.String(
        required=True,
        metadata={
            "enum": ["none", "trialing", "active", "past_due", "canceled"],
            "description": "none: starter, and no trial; past_due keeps the plan for 14 days; canceled: starter.",
        },
    )
    billing = fields.String(
        required=True,
        metadata={
            "enum": ["card", "storefront", "none"],
            "description": "Who takes the money; none: nobody pays, also on a trial or a granted plan.",
        },
    )
    current_period_start = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={"description": "Of what is paid for, else of the trial; null without either."},
    )
    current_period_end = fields.DateTime(
        required=True, allow_none=True, metadata={"description": "Its end; null without either."}
    )
    trial_end = fields.DateTime(
        required=True, allow_none=True, metadata={"description": "When the trial ends, or ended; null without one."}
    )
    cancel_at_period_end = fields.Boolean(
        required=True,
        metadata={"description": "true: it was cancelled, and falls to starter when the paid period ends."},
    )
    allowances = fields.Nested(PlanAllowances, required=True)
    usage = fields.Nested(PlanUsage, required=True)


class HandoffResult(Schema):
    """`plan` of a checkout or of a choice of plan; the other two of a connect."""

    plan = fields.String(metadata={"enum": list(PLANS), "description": "The plan that was bought or chosen."})
    connection_id = fields.UUID()
    accounts_found = fields.Integer(metadata={"description": "Accounts to choose from."})


class HandoffShape(Schema):
    """A page that a person was sent to, and what became of it."""

    id = fields.UUID(required=True, metadata={"description": "The hand-off."})
    kind = fields.String(
        required=True,
        metadata={
            "enum": ["checkout", "plan_selection", "connect"],
            "description": "What the page is for: to pay, to confirm a plan, or to connect an account.",
        },
    )
    status = fields.String(
        required=True,
        metadata={
            "enum": ["pending", "completed", "failed", "expired", "canceled"],
            "description": "pending until somebody finished it, or its time is over, or another took its place.",
        },
    )
    url = fields.Url(
        required=True, allow_none=True, require_tld=False, metadata={"description": "While pending; null afterwards."}
    )
    reason = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "enum": ["payment_refused", "account_connected_elsewhere", "provider_denied", "abandoned", None],
            "description": "Why it failed or expired; abandoned: not finished in time. Null in every other status.",
        },
    )
    created_at = fields.DateTime(required=True)
    expires_at = fields.DateTime(required=True, metadata={"description": "When a pending one expires."})
    completed_at = fields.DateTime(required=True, allow_none=True)
    result = fields.Nested(
        HandoffResult,
        required=True,
        allow_none=True,
        metadata={
            "description": "Null until completed: plan of a checkout; connection_id and accounts_found of a connect."
        },
    )
