"""SQL behind the leaderboard: ranked ads of one or several profiles, why they rank so, and what models say of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from api import score_layers
from api.money import Unit
from api.served import Reader
from api.v1.top_performers.terms import LAGS_TO, LEADS_FROM, LED_OVER, SETTLED, TIER

# no spend comes near it, and it fits a bigint
_BEYOND_ANY_SPEND = 2**62

_ASKED = """
with asked as (
    select
        unnest($keys) as profile_key, unnest($least::bigint[]) as least_minor, unnest($worth::double[]) as worth
)
"""

# the score is ranked as it is told, so that ads of one score go by what they spent
_RANKED = f"""
{_ASKED}
select
    scores.*, round_even(composite_score, 1) as score,
    ads.entity_id, ads.platform, ads.platform_id, ads.name,
    campaigns.name as campaign_name, ad_sets.name as ad_set_name,
    shown.thumbnail_url, shown.video_id, shown.title, shown.body, shown.landing_host, shown.hook_type,
    shown.creative_format, shown.cta_type, shown.primary_angle, shown.offers
from ad_scores as scores
join asked on asked.profile_key = scores.profile_key
join entities as ads on ads.profile_key = scores.profile_key and ads.entity_key = scores.entity_key
left join entities as campaigns
    on campaigns.profile_key = ads.profile_key and campaigns.entity_key = ads.campaign_key
left join entities as ad_sets on ad_sets.profile_key = ads.profile_key and ad_sets.entity_key = ads.ad_set_key
left join ad_creatives as shown
    on shown.profile_key = scores.profile_key and shown.entity_key = scores.entity_key
where scores.score_window = $score_window
    and scores.spend_minor >= asked.least_minor
    and ($objectives is null or scores.cohort_objective = any($objectives::varchar[]))
    and ($truth_grades is null or scores.truth_grade = any($truth_grades::varchar[]))
    and ($outcome_kinds is null or scores.primary_outcome_kind = any($outcome_kinds::varchar[]))
    and (
        $formats is null
        or shown.creative_format = any($formats::varchar[]) or scores.cohort_format = any($formats::varchar[])
    )
    -- of an ad without a creative nobody knows what it shows
    and ($has_video is null or (shown.format is not null and (shown.video_id is not null) = $has_video::boolean))
    and ($ad_external_ids is null or ads.platform_id = any($ad_external_ids::varchar[]))
    and ($entity_key is null or scores.entity_key = $entity_key)
order by score desc nulls last, scores.spend_minor * asked.worth desc nulls last, ads.platform_id, ads.entity_id
limit $most
"""  # noqa: S608 - a part of this file is set in; values are bound

_REASONS = f"""
select
    profile_key, entity_key, layer, percentile, sample_confidence,
    case when percentile > 50 then 'strength' else 'weakness' end as polarity
from ({score_layers.of_ads("score_window = $score_window and profile_key = any($keys) and entity_key = any($ads)")})
where reason_rank is not null
order by profile_key, entity_key, reason_rank, layer
"""  # noqa: S608 - a constant is set in; values are bound

_LIKELIHOODS = """
select profile_key, entity_key, measure, value, label, status, reason, model_version
from ad_likelihoods
where score_window = $score_window and profile_key = any($keys) and entity_key = any($ads)
"""

_STATE = """
select
    profile_key, max(score_date) as score_date, max(config_version) as config_version,
    count(composite_score) > 0 as has_scored
from ad_scores
where score_window = $score_window and profile_key = any($keys)
group by profile_key
"""

_BRIEF = f"""
select
    count(composite_score) as scored,
    count(*) filter (where settled) as mature_or_better,
    count(*) filter (where settled and composite_score >= {LEADS_FROM}) as leaders,
    count(*) filter (where settled and composite_score <= {LAGS_TO}) as laggards,
    count(*) filter (where worn.status = 'served' and worn.label in ('high', 'critical')) as fatigue_high,
    count(*) filter (where truth_grade in ('attributed', 'lift')) as attributed_or_better
from (
    select *, maturity_stage in {SETTLED} and composite_score is not null as settled
    from ad_scores
    where score_window = $score_window and profile_key = any($keys)
) as scores
left join ad_likelihoods as worn
    on worn.profile_key = scores.profile_key and worn.score_window = scores.score_window
    and worn.entity_key = scores.entity_key and worn.measure = '{TIER}'
"""  # noqa: S608 - constants are set in; values are bound

_LEADERS = f"""
select profiles.profile_id, ads.entity_id
from ad_scores as scores
join profiles using (profile_key)
join entities as ads on ads.profile_key = scores.profile_key and ads.entity_key = scores.entity_key
where scores.score_window = '{LED_OVER}' and scores.maturity_stage in {SETTLED}
    and scores.composite_score >= {LEADS_FROM}
"""  # noqa: S608 - constants are set in

Row = dict[str, Any]
Ad = tuple[int, int]


@dataclass(frozen=True)
class Wanted:
    """Which ads a leaderboard is asked for; None lets all pass. `min_spend` is in the currency that is told."""

    score_window: str
    most: int
    min_spend: Decimal | None = None
    objectives: Sequence[str] | None = None
    truth_grades: Sequence[str] | None = None
    outcome_kinds: Sequence[str] | None = None
    formats: Sequence[str] | None = None
    has_video: bool | None = None
    ad_external_ids: Sequence[str] | None = None
    entity_key: int | None = None


@dataclass(frozen=True)
class Found:
    """One ranked ad with its reasons, strongest first, and what models say of it, by measure."""

    ad: Row
    reasons: Sequence[Row]
    likelihoods: Mapping[str, Row]


@dataclass(frozen=True)
class State:
    """How far a profile's scores reach, the version of the weights behind them, and whether any ad has one."""

    score_date: date
    config_version: int
    has_scored: bool


def ranked(reader: Reader, units: Mapping[int, Unit], wanted: Wanted) -> list[Found]:
    """The ads of these profiles (by key, each with how its money is told), best first.

    Where money cannot be told, an ad is left out as soon as any spend is asked for.
    """
    bound = {
        "keys": list(units),
        "least": [_least(unit, wanted.min_spend) for unit in units.values()],
        "worth": [unit.worth and float(unit.worth) for unit in units.values()],
        **{name: value for name, value in vars(wanted).items() if name != "min_spend"},
    }
    ads = reader.dicts(_RANKED, bound) if units else []
    which = {
        "score_window": wanted.score_window,
        "keys": sorted({ad["profile_key"] for ad in ads}),
        "ads": [ad["entity_key"] for ad in ads],
    }
    reasons: dict[Ad, list[Row]] = {}
    for row in reader.dicts(_REASONS, which):
        reasons.setdefault((row["profile_key"], row["entity_key"]), []).append(row)
    likelihoods: dict[Ad, dict[str, Row]] = {}
    for row in reader.dicts(_LIKELIHOODS, which):
        likelihoods.setdefault((row["profile_key"], row["entity_key"]), {})[row["measure"]] = row
    return [Found(ad, reasons.get(_ad(ad), []), likelihoods.get(_ad(ad), {})) for ad in ads]


def states(reader: Reader, keys: Sequence[int], score_window: str) -> dict[int, State]:
    """By profile key; a profile whose ads did not deliver in the window is absent."""
    found = reader.dicts(_STATE, {"keys": list(keys), "score_window": score_window})
    return {row.pop("profile_key"): State(**row) for row in found}


def brief(reader: Reader, keys: Sequence[int], score_window: str) -> Row:
    """The six counters over these profiles."""
    return reader.dicts(_BRIEF, {"keys": list(keys), "score_window": score_window})[0]


def leaders(reader: Reader) -> list[tuple[str, str]]:
    """(profile_id, ad_id) of every ad that leads over the default window, of all profiles."""
    return [(profile_id, ad_id) for profile_id, ad_id in reader.rows(_LEADERS)]


def _ad(row: Row) -> Ad:
    return row["profile_key"], row["entity_key"]


def _least(unit: Unit, min_spend: Decimal | None) -> int | None:
    if not min_spend:
        return 0
    least = unit.minor(min_spend)
    return None if least is None else min(least, _BEYOND_ANY_SPEND)
