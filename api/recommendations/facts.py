"""SQL behind the rules: what a snapshot says of a profile's running ads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from api import score_layers
from api.recommendations.rules import Ad, Budget, Layer
from api.served import ProfileFacts, Reader

WINDOW = "28d"
# what has not run for a week, or is switched off itself or by a parent, needs no decision
RUNNING_DAYS = 7
ENDED = ["PAUSED", "ARCHIVED", "DELETED", "REMOVED", "DISABLE", "DISABLED"]
# the response index is defined from so many expected responses on; its baseline is days 4 to 10 with impressions, and
# its trailing week comes after them
EXPECTED_RESPONSES = 20
BASELINE = (4, 10)
PSEUDO_RESPONSES = 5

_ADS = f"""
with running as (
    select entity_key
    from delivery_daily
    join ad_scores as s using (profile_key, entity_key)
    where profile_key = $profile_key and level = 'ad' and s.score_window = $window
        and day > s.score_date - {RUNNING_DAYS} and day <= s.score_date and delivery_daily.impressions > 0
    group by entity_key
)
select s.entity_key, e.entity_id, e.platform_id, e.name, e.platform, s.composite_score, s.maturity_stage,
    s.cohort_objective, s.delivery_days, s.spend_minor,
    s.spend_minor / nullif(sum(s.spend_minor) over root, 0) as share,
    1.0 / nullif(count(*) filter (where s.spend_minor > 0) over root, 0) as fair_share,
    coalesce(ad_sets.daily_budget_minor, campaigns.daily_budget_minor) as budget_minor,
    case when ad_sets.daily_budget_minor is not null then 'ad_set' else 'campaign' end as budget_level,
    case when ad_sets.daily_budget_minor is not null then ad_sets.entity_id else campaigns.entity_id end as budget_id,
    case when ad_sets.daily_budget_minor is not null then ad_sets.budget_currency else campaigns.budget_currency end
        as budget_currency,
    running.entity_key is not null
        and not list_has_any([upper(e.status), upper(ad_sets.status), upper(campaigns.status)], {ENDED!r}) as is_running
from ad_scores as s
join entities as e on e.profile_key = s.profile_key and e.entity_key = s.entity_key and e.level = 'ad'
left join running on running.entity_key = s.entity_key
left join entities as ad_sets on ad_sets.profile_key = e.profile_key and ad_sets.entity_key = e.ad_set_key
left join entities as campaigns on campaigns.profile_key = e.profile_key and campaigns.entity_key = e.campaign_key
where s.profile_key = $profile_key and s.score_window = $window
window root as (partition by s.cohort_channel, s.cohort_objective)
order by e.entity_id
"""  # noqa: S608 - only constants are set in

_LAYERS = f"""
select entity_key, layer, percentile, sample_confidence
from ({score_layers.of_ads("profile_key = $profile_key and score_window = $window")})
"""  # noqa: S608 - a constant is set in; values are bound

_TIERS = """
select entity_key, label
from ad_likelihoods
where profile_key = $profile_key and score_window = $window and measure = 'fatigue_risk_tier' and status = 'served'
"""

_INDEXES = f"""
with days as (
    select s.entity_key, s.cohort_channel, s.cohort_objective, s.score_date, d.day, d.spend_minor as spend, d.clicks,
        d.impressions > 0 as is_shown,
        count(*) filter (d.impressions > 0) over (partition by s.entity_key order by d.day) as age
    from ad_scores as s
    join delivery_daily as d on d.profile_key = s.profile_key and d.entity_key = s.entity_key and d.level = 'ad'
    where s.profile_key = $profile_key and s.score_window = $window and d.day <= s.score_date
), roots as (
    select cohort_channel, cohort_objective, sum(clicks) / nullif(sum(spend), 0) as rate
    from days group by cohort_channel, cohort_objective
), ads as (
    select entity_key, cohort_channel, cohort_objective, max(age) as age,
        sum(clicks) filter (where is_shown and age between {BASELINE[0]} and {BASELINE[1]}) as early_clicks,
        sum(spend) filter (where is_shown and age between {BASELINE[0]} and {BASELINE[1]}) as early_spend,
        sum(clicks) filter (where day > score_date - 7) as clicks,
        sum(spend) filter (where day > score_date - 7) as spend
    from days group by entity_key, cohort_channel, cohort_objective
), expected as (
    select entity_key, clicks,
        spend * (early_clicks + {PSEUDO_RESPONSES}) / (early_spend + {PSEUDO_RESPONSES} / rate) as usual
    from ads join roots using (cohort_channel, cohort_objective)
    where age >= {BASELINE[1] + 7} and rate > 0 and early_spend > 0
)
select entity_key, (clicks + {PSEUDO_RESPONSES}) / (usual + {PSEUDO_RESPONSES})
from expected where usual >= {EXPECTED_RESPONSES}
"""  # noqa: S608 - only constants are set in


def running_ads(reader: Reader, profile: ProfileFacts) -> list[Ad]:
    """The ads that ran in the last week of the window and are not switched off, in the order of their ids."""
    bound = {"profile_key": profile.profile_key, "window": WINDOW}
    tiers: Mapping[int, str] = dict(reader.rows(_TIERS, bound))
    indexes: Mapping[int, float] = dict(reader.rows(_INDEXES, bound))
    layers: dict[int, dict[str, Layer]] = {}
    for key, layer, percentile, confidence in reader.rows(_LAYERS, bound):
        layers.setdefault(key, {})[layer] = Layer(percentile, confidence)
    return list(_ads(reader.dicts(_ADS, bound), tiers, indexes, layers))


def _ads(
    rows: Iterable[dict[str, Any]],
    tiers: Mapping[int, str],
    indexes: Mapping[int, float],
    layers: Mapping[int, Mapping[str, Layer]],
) -> Iterable[Ad]:
    for row in rows:
        if not row["is_running"]:
            continue
        key = row["entity_key"]
        yield Ad(
            entity_id=row["entity_id"],
            external_id=row["platform_id"],
            name=row["name"],
            platform=row["platform"],
            composite=row["composite_score"],
            stage=row["maturity_stage"],
            objective=row["cohort_objective"],
            delivery_days=row["delivery_days"],
            spend_minor=row["spend_minor"],
            share=None if row["share"] is None else float(row["share"]),
            fair_share=None if row["fair_share"] is None else float(row["fair_share"]),
            fatigue_tier=tiers.get(key),
            response_index=indexes.get(key),
            layers=layers.get(key, {}),
            budget=_budget(row),
        )


def _budget(row: Mapping[str, Any]) -> Budget | None:
    if row["budget_minor"] is None or row["budget_currency"] is None:
        return None
    return Budget(row["budget_level"], row["budget_id"], row["budget_minor"], row["budget_currency"])
