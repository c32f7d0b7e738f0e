"""What the pattern reads accept and answer, field by field."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields

from api.fields import Choice, Int, UuidList
from api.v1.creative_patterns.queries import DIMENSIONS
from api.v1.creative_patterns.statistics import VERDICTS
from api.v1.top_performers.terms import MOST_PROFILES, SCORE_WINDOWS

_PROFILES = "Profiles that the ads ran in."
_RATE_OR_NULL: dict[str, Any] = {"required": True, "allow_none": True}


class WindowQuery(Schema):
    window = Choice(
        SCORE_WINDOWS,
        load_default="28d",
        metadata={"description": "Days that the scores are of, up to the last full one."},
    )
    profile_ids = UuidList(
        MOST_PROFILES, load_default=None, metadata={"description": "Only these profiles, comma-separated."}
    )


class PatternsQuery(WindowQuery):
    min_cluster_size = Int(2, 500, load_default=8, metadata={"description": "Ads that a pattern has at least."})


class Rates(Schema):
    win_rate = fields.Float(
        required=True, metadata={"description": "Share of wins, drawn to the baseline as by twenty ads of that rate."}
    )
    raw_win_rate = fields.Float(
        **_RATE_OR_NULL, metadata={"description": "Wins / ads; never null, since a row has ads."}
    )
    workspace_baseline_win_rate = fields.Float(
        **_RATE_OR_NULL,
        metadata={
            "description": "Wins its ads would have at the shares of the very profiles they ran in, per ad; never null."
        },
    )
    lift_vs_workspace = fields.Float(
        **_RATE_OR_NULL, metadata={"description": "win_rate / workspace_baseline_win_rate - 1; null without any win."}
    )
    confidence_interval_low = fields.Float(**_RATE_OR_NULL, metadata={"description": "Of win_rate, 90 %; never null."})
    confidence_interval_high = fields.Float(**_RATE_OR_NULL, metadata={"description": "Of win_rate, 90 %; never null."})
    verdict = fields.String(
        required=True,
        metadata={
            "enum": list(VERDICTS),
            "description": "leading: probably above the baseline; confirmed: also if the number of rows is reckoned "
            "with, so that of ten confirmed ones about one is chance at most.",
        },
    )
    exemplar_ad_external_ids = fields.List(
        fields.String(), required=True, metadata={"description": "At most five of its winners, the best first."}
    )


class Archetype(Rates):
    archetype_key = fields.String(required=True, metadata={"description": "hook|format|angle"})
    hook_type = fields.String(required=True, metadata={"description": "How its ads open."})
    creative_format = fields.String(required=True, metadata={"description": "What kind of picture or video they are."})
    primary_angle = fields.String(required=True, metadata={"description": "What they argue by."})
    label = fields.String(required=True, metadata={"description": "The three words for people, with commas between."})
    n_ads = fields.Integer(required=True, metadata={"description": "Ads with a mature or calibrated score."})
    n_winners = fields.Integer(required=True, metadata={"description": "Those of 75 or more."})
    n_profiles = fields.Integer(required=True, metadata={"description": _PROFILES})


class Counted(Rates):
    sample_n = fields.Integer(required=True, metadata={"description": "Ads with a mature or calibrated score."})
    winner_n = fields.Integer(required=True, metadata={"description": "Those of 75 or more."})
    n_profiles = fields.Integer(required=True, metadata={"description": _PROFILES})


class Pattern(Counted):
    pattern_dim = fields.String(required=True, metadata={"description": "Two dimensions: hook_type×cta_type."})
    pattern_value = fields.String(required=True, metadata={"description": "One value of each: question|shop_now."})
    pattern_label = fields.String(
        required=True, metadata={"description": "The two values for people, as `question + shop now`."}
    )


class Value(Counted):
    value = fields.String(
        required=True, metadata={"description": "One word of the dimension, as `question` of hook_type."}
    )


class Dimension(Schema):
    dimension = fields.String(
        required=True,
        metadata={"enum": list(DIMENSIONS), "description": "What of the creative or its campaign the values are of."},
    )
    values = fields.List(
        fields.Nested(Value),
        required=True,
        metadata={"description": "Values of at least five ads, the surest winners first."},
    )


class Archetypes(Schema):
    """How often each archetype wins."""

    score_window = fields.String(required=True, metadata={"enum": list(SCORE_WINDOWS)})
    archetypes = fields.List(
        fields.Nested(Archetype), required=True, metadata={"description": "The surest winners first."}
    )


class Patterns(Schema):
    """How often two traits together win."""

    score_window = fields.String(required=True, metadata={"enum": list(SCORE_WINDOWS)})
    min_cluster_size = fields.Integer(
        required=True, metadata={"description": "The least number of ads of a pattern, as asked."}
    )
    patterns = fields.List(fields.Nested(Pattern), required=True, metadata={"description": "The surest winners first."})


class Dimensions(Schema):
    """How often each value of a dimension wins."""

    score_window = fields.String(required=True, metadata={"enum": list(SCORE_WINDOWS)})
    dimensions = fields.List(
        fields.Nested(Dimension), required=True, metadata={"description": "Every dimension, always in the same order."}
    )
