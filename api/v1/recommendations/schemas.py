"""What the recommendation routes accept and answer, field by field."""

from __future__ import annotations

from marshmallow import Schema, fields

from api.actors import ActorShape
from api.bodies import Text
from api.fields import Choice, ChoiceList, UuidList
from api.op_lists import ListQuery
from api.recommendations.rules import KINDS
from api.v1.campaigns.change_schemas import BUDGET_TYPES, Change, ChangeBody
from api.v1.top_performers.terms import MOST_PROFILES, SCORE_WINDOWS

STATUSES = ("open", "applied", "dismissed", "expired", "superseded")
ACTIONS = ("change_budget", "pause", "none")


class RecommendationsQuery(ListQuery):
    status = Choice((*STATUSES, "all"), load_default="open", metadata={"description": "Only those that stand so."})
    kinds = ChoiceList(KINDS, {"description": "Only recommendations of these kinds."}, load_default=None)
    window = Choice(SCORE_WINDOWS, load_default="28d", metadata={"description": "Of the scores they rest on."})
    profile_ids = UuidList(
        MOST_PROFILES, load_default=None, metadata={"description": "Only these profiles, comma-separated."}
    )


class DismissBody(Schema):
    reason = Text(500, load_default=None, metadata={"description": "Why, for the audit trail."})


class ApplyBody(ChangeBody):
    """As for changes at a platform."""


class Entity(Schema):
    level = fields.String(required=True, metadata={"enum": ["ad"], "description": "Always ad."})
    id = fields.String(required=True, metadata={"format": "uuid", "description": "The ad, by our id."})
    external_id = fields.String(required=True, metadata={"description": "The platform's id."})
    name = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The ad's name at its platform, or its id there where no name was read; never null."},
    )
    platform = fields.String(required=True)


class Evidence(Schema):
    """What the rule looked at: figures, and words of ours."""

    composite_score = fields.Float(
        required=True,
        allow_none=True,
        metadata={"description": "0 to 100 among comparable ads; null while the ad has no score."},
    )
    maturity_stage = fields.String(
        required=True, metadata={"description": "cold, early, mature or calibrated: how much data the score rests on."}
    )
    primary_layer = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The layer that the ad's objective is paid for; null where there is none."},
    )
    primary_percentile = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "Place among comparable ads in that layer, 0 to 100; null where there is none."},
    )
    primary_confidence = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "low, medium or high: how sure that place is; null without one."},
    )
    attention_percentile = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "Place in the layer attention, 0 to 100; null where there is none."},
    )
    click_intent_percentile = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "Place in the layer click_intent, 0 to 100; null where there is none."},
    )
    spend = fields.Float(required=True, metadata={"description": "In the profile's currency."})
    spend_share = fields.Float(
        required=True,
        allow_none=True,
        metadata={"description": "Of the spend on its channel and objective; null where that is 0."},
    )
    fair_share = fields.Float(
        required=True,
        allow_none=True,
        metadata={"description": "One over the ads that spent there; null where none did."},
    )
    fatigue_risk_tier = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "low, medium, high or critical: how worn the ad is; null while that is not shown."},
    )
    response_index = fields.Float(
        required=True,
        allow_none=True,
        metadata={"description": "Clicks per spend of the last week / its usual; null on too few clicks or days."},
    )
    delivery_days = fields.Integer(
        required=True,
        metadata={"description": "Days with impressions over the ad's life, through the day that was scored."},
    )


class Action(Schema):
    """What applying does; budgets in minor units of the ad account's currency."""

    type = fields.String(
        required=True,
        metadata={
            "enum": list(ACTIONS),
            "description": "none: nothing is done at the platform, the recommendation is only marked.",
        },
    )
    from_minor = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "The daily budget when it was suggested; null unless change_budget."},
    )
    to_minor = fields.Integer(
        required=True,
        allow_none=True,
        metadata={
            "description": "The daily budget that applying sets, where the live one is smaller; null unless"
            " change_budget."
        },
    )
    currency = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "ISO 4217 code of the ad account's currency; null unless change_budget."},
    )


class RecommendationRow(Schema):
    """One suggestion about one ad."""

    is_paged = True

    recommendation_id = fields.String(required=True, metadata={"format": "uuid"})
    profile_id = fields.String(required=True, metadata={"format": "uuid"})
    kind = fields.String(
        required=True,
        metadata={"enum": list(KINDS), "description": "What is suggested; docs/recommendations.md says when each is."},
    )
    status = fields.String(
        required=True,
        metadata={
            "enum": list(STATUSES),
            "description": "expired: the figures call for it no more; superseded: a stronger one took its place.",
        },
    )
    entity = fields.Nested(Entity, required=True)
    score_window = fields.String(required=True, metadata={"enum": list(SCORE_WINDOWS)})
    evidence = fields.Nested(Evidence, required=True)
    suggested_action = fields.Nested(Action, required=True)
    created_at = fields.DateTime(required=True)
    expires_at = fields.DateTime(required=True, metadata={"description": "Moves on while new figures confirm it."})
    decided_at = fields.DateTime(required=True, allow_none=True)
    decided_by = fields.Nested(
        ActorShape,
        required=True,
        allow_none=True,
        metadata={"description": "Who applied or dismissed it; null before."},
    )


class PlatformChange(Change):
    """A pause or another budget: the members of `StatusChange` or of `BudgetChange`."""

    action = fields.String(
        required=True, metadata={"enum": ["pause", "budget"], "description": "What the platform was asked for."}
    )
    outcome = fields.String(
        required=True,
        metadata={
            "enum": ["paused", "would_pause", "changed", "would_change", "no_change"],
            "description": "would_…: dry_run, nothing was changed; no_change: it stood so already.",
        },
    )
    status_before = fields.String(metadata={"description": "At the platform before, as it spells it; only of a pause."})
    status_after = fields.String(
        allow_none=True,
        metadata={
            "description": "Read after the call; null when it was confirmed and could not be read. Only of a pause."
        },
    )
    budget_type = fields.String(metadata={"enum": list(BUDGET_TYPES), "description": "Which budget; only of a budget."})
    budget_before_minor = fields.Integer(
        metadata={"description": "At the platform before, in minor units of `currency`; only of a budget."}
    )
    budget_after_minor = fields.Integer(
        allow_none=True,
        metadata={
            "description": "Read after the call; null when it was confirmed and could not be read. Only of a budget."
        },
    )
    currency = fields.String(metadata={"description": "The ad account's, ISO 4217; only of a budget."})
    allowed_min_minor = fields.Integer(
        metadata={"description": "Least that one step from the budget before may lead to; only of a budget."}
    )
    allowed_max_minor = fields.Integer(metadata={"description": "Most, likewise."})


class Decided(RecommendationRow):
    change = fields.Nested(
        PlatformChange,
        required=True,
        allow_none=True,
        metadata={
            "description": "What the routes that pause and re-budget tell of it; null where no platform was asked."
        },
    )
