"""What the leaderboard's reads accept and what they answer, field by field."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields

from api.envelopes import DATA_AS_OF, Meta
from api.fields import Choice, ChoiceList, Flag, Int, Num, TokenList, UuidList
from api.served import LAYERS
from api.v1.top_performers.terms import (
    CONFIDENCES,
    MATURITY_STAGES,
    MOST_FORMATS,
    MOST_PROFILES,
    MOST_ROWS,
    OBJECTIVES,
    OUTCOME_KINDS,
    POLARITIES,
    SCORE_SOURCES,
    SCORE_WINDOWS,
    STATUSES,
    TIERS,
    TRUTH_GRADES,
)

_TEXT: dict[str, Any] = {"required": True, "allow_none": True}
WINDOW = {"description": "Days that the score covers, up to the last that every ad account has delivered."}
_STATUS = (
    "served: read value. withheld: a model exists, and has not proven itself or did not score the ad."
    " not_applicable: there is no model."
)
_LIKELY = "value is null unless status is served, and then never a return or a lift."


class WindowQuery(Schema):
    window = Choice(SCORE_WINDOWS, load_default="28d", metadata=WINDOW)


class TopPerformersQuery(WindowQuery):
    limit = Int(1, MOST_ROWS, load_default=10, metadata={"description": "Ads at most."})
    min_spend = Num(
        {
            "description": "Only ads that spent at least this in the window, in the currency that meta tells:"
            " up to 6 digits after the point."
        },
        load_default=None,
    )
    objectives = ChoiceList(OBJECTIVES, {"description": "Only ads of these objectives."}, load_default=None)
    truth_grades = ChoiceList(TRUTH_GRADES, {"description": "Only ads of these grades."}, load_default=None)
    outcome_kinds = ChoiceList(OUTCOME_KINDS, {"description": "Only ads of these kinds."}, load_default=None)
    formats = TokenList(
        MOST_FORMATS,
        {"description": "Only these creative formats or media types: ugc_video, static, carousel and others."},
        load_default=None,
    )
    has_video = Flag(
        load_default=None,
        metadata={"description": "true: only video creatives; false: only static. Without a synced creative: neither."},
    )


class _ProfileIds(Schema):
    profile_ids = UuidList(
        MOST_PROFILES, load_default=None, metadata={"description": "Only these profiles, comma-separated."}
    )


class WorkspaceTopPerformersQuery(TopPerformersQuery, _ProfileIds):
    """The same, over several profiles."""


class BriefQuery(WindowQuery, _ProfileIds):
    """Which ads are counted."""


class TopPerformersMeta(Meta):
    score_window = fields.String(required=True, metadata={"enum": list(SCORE_WINDOWS)})
    score_date = fields.Date(
        **_TEXT, metadata={"description": "Last day of the window; null where no ad delivered in it."}
    )
    config_version = fields.Integer(
        **_TEXT, metadata={"description": "Version of the weights behind the scores; null where nothing is scored."}
    )
    currency = fields.String(required=True, metadata={"description": "Of every figure of money, ISO 4217."})
    snapshot_id = fields.String(**_TEXT, metadata={"description": "The published version; null before the first."})
    data_as_of = fields.DateTime(**_TEXT, metadata=DATA_AS_OF)


class WorkspaceTopPerformersMeta(TopPerformersMeta):
    workspace_id = fields.UUID(required=True)
    profiles_included = fields.Integer(required=True, metadata={"description": "Profiles with scored ads."})
    rates_as_of = fields.Date(
        **_TEXT, metadata={"description": "Day of the oldest rate that money was converted at; null if at none."}
    )


class Likelihood(Schema):
    """A measure that is shown only once it was proven."""

    value = fields.Float(
        **_TEXT,
        metadata={
            "description": "A chance from 0 to 1, or days for expected_lifespan_days; null unless status is served."
        },
    )
    status = fields.String(required=True, metadata={"enum": list(STATUSES), "description": _STATUS})
    reason = fields.String(required=True, metadata={"description": "Why it has that status."})


class RiskTier(Schema):
    """The same for a word in place of a number."""

    value = fields.String(
        **_TEXT,
        metadata={
            "enum": [*TIERS, None],
            "description": "How soon the ad may wear out, from low to critical; null unless status is served.",
        },
    )
    status = fields.String(required=True, metadata={"enum": list(STATUSES), "description": _STATUS})
    reason = fields.String(required=True, metadata={"description": "Why it has that status."})


class ReasonCode(Schema):
    """A layer of the funnel in which the ad stands out."""

    layer = fields.String(
        required=True,
        metadata={"enum": list(LAYERS), "description": "Step of the funnel, from delivery to attributed_revenue."},
    )
    polarity = fields.String(
        required=True,
        metadata={"enum": list(POLARITIES), "description": "strength above the middle of the cohort, else weakness."},
    )
    percentile = fields.Integer(required=True, metadata={"description": "Expected place in its cohort, 0 to 100."})
    sample_confidence = fields.String(
        required=True,
        metadata={"enum": list(CONFIDENCES), "description": "How far the ad's data of this layer can be relied on."},
    )


class AdScore(Schema):
    """How an ad stands among comparable ads; score, likelihood and credited outcomes are never merged."""

    score_window = fields.String(required=True, metadata={"enum": list(SCORE_WINDOWS)})
    composite_score = fields.Float(**_TEXT, metadata={"description": "0 to 100; null until the ad is scored."})
    top_performer_likelihood = fields.Nested(Likelihood, required=True, metadata={"description": _LIKELY})
    model_version = fields.Integer(
        **_TEXT,
        metadata={
            "description": "The ranker that scored the ad; null where score_source is rules, or it did not score it."
        },
    )
    score_source = fields.String(
        required=True,
        metadata={
            "enum": list(SCORE_SOURCES),
            "description": "model: a model answers in top_performer_likelihood, which may be withheld; rules:"
            " none was fitted for such ads.",
        },
    )
    maturity_stage = fields.String(
        required=True, metadata={"enum": list(MATURITY_STAGES), "description": "cold and early are provisional."}
    )
    truth_grade = fields.String(required=True, metadata={"enum": list(TRUTH_GRADES)})
    primary_outcome_kind = fields.String(
        required=True, metadata={"enum": list(OUTCOME_KINDS), "description": "Which outcome to headline."}
    )
    cohort_key = fields.String(
        required=True, metadata={"description": "channel|format|objective|warmth|geo|placement."}
    )  # fmt: skip
    cohort_objective = fields.String(
        required=True,
        metadata={"description": "What its campaign is for: messaging, sales, leads, traffic, awareness or unknown."},
    )
    cohort_format = fields.String(
        required=True,
        metadata={"description": "Media type of its creative: video, image, carousel, collection or unknown."},
    )
    cohort_audience_warmth = fields.String(
        required=True,
        metadata={"description": "How well its audience knows the advertiser: hot, warm, cold, mixed or unknown."},
    )
    cohort_n_ads = fields.Integer(required=True, metadata={"description": "Ads of the same cohort."})
    hook_type = fields.String(**_TEXT)
    creative_format = fields.String(**_TEXT)
    cta_type = fields.String(**_TEXT)
    primary_angle = fields.String(**_TEXT)
    offers = fields.List(fields.String(), required=True)
    spend = fields.Float(**_TEXT, metadata={"description": "Null where no rate into the currency is known."})
    impressions = fields.Integer(required=True)
    ctr = fields.Float(**_TEXT, metadata={"description": "Clicks per 100 impressions; null without impressions."})
    cpc = fields.Float(
        **_TEXT, metadata={"description": "Spend per click; null without clicks, or without a rate into the currency."}
    )
    attributed_cash_outcomes = fields.Integer(
        required=True, metadata={"description": "Payments with credit on the ad under last_touch; 0 when none."}
    )
    attributed_revenue = fields.Float(
        **_TEXT,
        metadata={
            "description": "Net cash credited to the ad under last_touch; null where no rate into the currency"
            " is known."
        },
    )
    roas = fields.Float(**_TEXT, metadata={"description": "attributed_revenue / spend; null without spend."})
    cac = fields.Float(**_TEXT, metadata={"description": "Spend per payment; null without payments."})
    attributed_outcomes_total = fields.Integer(required=True, metadata={"description": "Of every type."})
    attributed_pipeline_outcomes = fields.Integer(
        required=True,
        metadata={"description": "Leads, appointments, quotes, deals won and the profile's own goals of pipeline."},
    )
    attributed_pipeline_value = fields.Float(
        **_TEXT, metadata={"description": "Projected, not cash; null where no rate into the currency is known."}
    )
    platform_reported_conversions = fields.Float(
        **_TEXT, metadata={"description": "The platform's own claim; null when it made none."}
    )
    platform_reported_conversion_value = fields.Float(
        **_TEXT,
        metadata={
            "description": "The platform's own value of them; null when it told none, or in a currency without a rate."
        },
    )
    cost_per_conversation = fields.Float(
        **_TEXT, metadata={"description": "Spend per conversation started; null when none was started or measured."}
    )
    messaging_conversations_started = fields.Integer(
        **_TEXT, metadata={"description": "As the platform reports; null when it reported none."}
    )
    first_reply_rate = fields.Float(
        **_TEXT,
        metadata={
            "description": "First replies per conversation started, above 1 where the platform counts more; null where"
            " either was not measured, or none was started."
        },
    )
    avg_engagement_score = fields.Float(
        **_TEXT,
        metadata={"description": "Percentile of the engagement layer in its cohort, 0 to 100; null without the layer."},
    )
    hazard_30d_degradation = fields.Nested(Likelihood, required=True)
    hazard_30d_pause = fields.Nested(Likelihood, required=True)
    fatigue_risk_tier = fields.Nested(RiskTier, required=True)
    expected_lifespan_days = fields.Nested(Likelihood, required=True)
    reason_codes = fields.List(fields.Nested(ReasonCode), required=True, metadata={"description": "At most three."})


class _NamedAd(Schema):
    ad_id = fields.String(required=True, metadata={"format": "uuid"})
    platform = fields.String(required=True)
    ad_external_id = fields.String(required=True, metadata={"description": "The platform's id."})
    ad_name = fields.String(
        **_TEXT, metadata={"description": "The ad's name at its platform, or its id there; never null."}
    )
    campaign_name = fields.String(
        **_TEXT, metadata={"description": "The campaign's name at its platform; null where none is known."}
    )
    ad_set_name = fields.String(
        **_TEXT, metadata={"description": "The ad set's name at its platform; null where none is known."}
    )
    creative_thumbnail_url = fields.String(
        **_TEXT, metadata={"description": "A small picture of the creative, at the platform; null where none is told."}
    )
    video_id = fields.String(**_TEXT)


class TopPerformer(AdScore, _NamedAd):
    """One ranked ad."""

    meta_schema = TopPerformersMeta


class WorkspaceTopPerformer(TopPerformer):
    """One ranked ad and whose it is."""

    meta_schema = WorkspaceTopPerformersMeta

    profile_id = fields.UUID(required=True)
    profile_name = fields.String(required=True)


class Brief(Schema):
    """Six counters over the ads that delivered in the window."""

    COUNTERS = ("scored", "mature_or_better", "leaders", "laggards", "fatigue_high", "attributed_or_better")

    score_window = fields.String(required=True, metadata={"enum": list(SCORE_WINDOWS)})
    scored = fields.Integer(required=True, metadata={"description": "Ads with a composite_score."})
    mature_or_better = fields.Integer(required=True, metadata={"description": "Scored, and mature or calibrated."})
    leaders = fields.Integer(required=True, metadata={"description": "Of these, with a score of 75 and more."})
    laggards = fields.Integer(required=True, metadata={"description": "Of these, with a score of 25 and less."})
    fatigue_high = fields.Integer(required=True, metadata={"description": "With a served tier of high or critical."})
    attributed_or_better = fields.Integer(required=True, metadata={"description": "With the grade attributed or lift."})
