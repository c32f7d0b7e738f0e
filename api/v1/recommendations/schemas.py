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
    level = fields.String(required=True, metadata={"enum": ["ad"]})
    id = fields.String(required=True, metadata={"format": "uuid"})
    external_id = fields.String(required=True, metadata={"description": "The platform's id."})
    name = fields.String(required=True, allow_none=True)
    platform = fields.String(required=True)


class Evidence(Schema):
    """What the rule looked at: figures, and words of ours."""

    composite_score = fields.Float(required=True, allow_none=True)
    maturity_stage = fields.String(required=True)
    primary_layer = fields.String(
        required=True, allow_none=True, metadata={"description": "The layer that the ad's objective is paid for."}
    )
    primary_percentile = fields.Integer(required=True, allow_none=True)
    primary_confidence = fields.String(required=True, allow_none=True)
    attention_percentile = fields.Integer(required=True, allow_none=True)
    click_intent_percentile = fields.Integer(required=True, allow_none=True)
    spend = fields.Float(required=True, metadata={"description": "In the profile's currency."})
    spend_share = fields.Float(
        required=True, allow_none=True, metadata={"description": "Of the spend on its channel and objective."}
    )
    fair_share = fields.Float(
        required=True, allow_none=True, metadata={"description": "One over the ads that spent there."}
    )
    fatigue_risk_tier = fields.String(required=True, allow_none=True)
    response_index = fields.Float(
        required=True, allow_none=True, metadata={"description": "Clicks per spend of the last week / its usual."}
    )
    delivery_days = fields.Integer(required=True)


class Action(Schema):
    """What applying does; budgets in minor units of the ad account's currency."""

    type = fields.String(required=True, metadata={"enum": list(ACTIONS)})
    from_minor = fields.Integer(required=True, allow_none=True)
    to_minor = fields.Integer(required=True, allow_none=True)
    currency = fields.String(required=True, allow_none=True)


class RecommendationRow(Schema):
    """One suggestion about one ad."""

    is_paged = True

    recommendation_id = fields.String(required=True, metadata={"format": "uuid"})
    profile_id = fields.String(required=True, metadata={"format": "uuid"})
    kind = fields.String(required=True, metadata={"enum": list(KINDS)})
    status = fields.String(required=True, metadata={"enum": list(STATUSES)})
    entity = fields.Nested(Entity, required=True)
    score_window = fields.String(required=True, metadata={"enum": list(SCORE_WINDOWS)})
    evidence = fields.Nested(Evidence, required=True)
    suggested_action = fields.Nested(Action, required=True)
    created_at = fields.DateTime(required=True)
    expires_at = fields.DateTime(required=True, metadata={"description": "Moves on while new figures confirm it."})
    decided_at = fields.DateTime(required=True, allow_none=True)
    decided_by = fields.Nested(ActorShape, required=True, allow_none=True)


class PlatformChange(Change):
    """A pause or another budget: the members of `StatusChange` or of `BudgetChange`."""

    action = fields.String(required=True, metadata={"enum": ["pause", "budget"]})
    outcome = fields.String(
        required=True,
        metadata={"enum": ["paused", "would_pause", "changed", "would_change", "no_change"]},
    )
    status_before = fields.String()
    status_after = fields.String(allow_none=True)
    budget_type = fields.String(metadata={"enum": list(BUDGET_TYPES)})
    budget_before_minor = fields.Integer()
    budget_after_minor = fields.Integer(allow_none=True)
    currency = fields.String()
    allowed_min_minor = fields.Integer()
    allowed_max_minor = fields.Integer()


class Decided(RecommendationRow):
    change = fields.Nested(
        PlatformChange,
        required=True,
        allow_none=True,
        metadata={"description": "What became of it at the platform, as the routes that pause and re-budget tell."},
    )
