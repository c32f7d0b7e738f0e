"""The words of the leaderboard that its queries, its schemas and the shared page agree on."""

from __future__ import annotations

SCORE_WINDOWS = ("7d", "14d", "28d", "lifetime")
OBJECTIVES = ("messaging", "sales", "leads", "traffic", "awareness")
MATURITY_STAGES = ("cold", "early", "mature", "calibrated")
# stages whose place in the ranking is worth acting on
SETTLED = ("mature", "calibrated")
TRUTH_GRADES = ("predicted", "attributed", "lift")
OUTCOME_KINDS = ("cash", "pipeline", "messaging", "platform", "none")
POLARITIES = ("strength", "weakness")
CONFIDENCES = ("low", "medium", "high")
LIKELIHOOD = "top_performer_likelihood"
TIER = "fatigue_risk_tier"
LIFESPAN = "expected_lifespan_days"
FATIGUE = ("hazard_30d_degradation", "hazard_30d_pause", TIER, LIFESPAN)
TIERS = ("low", "medium", "high", "critical")
STATUSES = ("served", "withheld", "not_applicable")
SCORE_SOURCES = ("model", "rules")

# whoever leads, or has a score elsewhere than on the leaderboard, does so over this window
LED_OVER = "28d"
LEADS_FROM = 75
LAGS_TO = 25

MOST_ROWS = 50
MOST_PROFILES = 50
MOST_FORMATS = 20
