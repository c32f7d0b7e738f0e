"""SQL behind the patterns: how often each kind of creative was tried and won, per profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.served import Reader
from api.v1.creative_patterns.statistics import Stratum, Tally
from api.v1.top_performers.terms import LEADS_FROM, SETTLED

DIMENSIONS = (
    "hook_type", "creative_format", "cta_type", "primary_angle", "offer", "format", "has_video", "objective",
)  # fmt: skip
MOST_EXEMPLARS = 5
# one says the other
RESTATED = ("format", "has_video")

_TRIALS = f"""
trials as (
    select s.profile_key, s.entity_key, e.platform_id, s.composite_score,
        s.composite_score >= {LEADS_FROM} as is_win, c.hook_type, c.creative_format, c.cta_type, c.primary_angle,
        c.format, c.offers,
        case when c.format is not null then cast(c.video_id is not null as varchar) end as has_video,
        nullif(s.cohort_objective, 'unknown') as objective
    from ad_scores as s
    join entities as e on e.profile_key = s.profile_key and e.entity_key = s.entity_key and e.level = 'ad'
    left join ad_creatives as c on c.profile_key = s.profile_key and c.entity_key = s.entity_key
    where s.profile_key = any($keys) and s.score_window = $window and s.composite_score is not null
        and s.maturity_stage in {SETTLED}
)
"""  # noqa: S608 - a constant

_TAGGED = f"""
tagged as (
    select profile_key, entity_key, platform_id, composite_score, is_win, tag.place, tag.dimension, tag.value
    from (
        select *, unnest([
            {
    ", ".join(
        f"{{place: {n}, dimension: '{name}', value: {name}}}" for n, name in enumerate(DIMENSIONS) if name != "offer"
    )
}
        ]) as tag
        from trials
    )
    where tag.value is not null
    union all
    select profile_key, entity_key, platform_id, composite_score, is_win, {DIMENSIONS.index("offer")}, 'offer', offer
    from (select *, unnest(list_distinct(from_json(offers, '["VARCHAR"]'))) as offer from trials)
)
"""  # noqa: S608 - only names of this module are set in

_COUNTED = f"""
count(*) as n, count(*) filter (is_win) as wins,
list_slice(
    list({{score: composite_score, id: platform_id}} order by composite_score desc, platform_id) filter (is_win),
    1, {MOST_EXEMPLARS}
) as best
"""

_SHARES = f"with {_TRIALS} select profile_key, count(*), count(*) filter (is_win) from trials group by profile_key"  # noqa: S608

_SINGLES = f"""
with {_TRIALS}, {_TAGGED}
select profile_key, dimension, value, {_COUNTED} from tagged group by profile_key, dimension, value
"""  # noqa: S608

_PAIRS = f"""
with {_TRIALS}, {_TAGGED}, pairs as (
    select a.profile_key, a.platform_id, a.composite_score, a.is_win,
        a.dimension || '×' || b.dimension as dimension, a.value as first, b.value as second
    from tagged as a
    join tagged as b on a.profile_key = b.profile_key and a.entity_key = b.entity_key and a.place < b.place
    where not (a.dimension = '{RESTATED[0]}' and b.dimension = '{RESTATED[1]}')
)
select profile_key, dimension, first, second, {_COUNTED} from pairs group by profile_key, dimension, first, second
"""  # noqa: S608

_ARCHETYPES = f"""
with {_TRIALS}
select profile_key, hook_type, creative_format, primary_angle, {_COUNTED}
from trials
where hook_type is not null and creative_format is not null and primary_angle is not null
group by profile_key, hook_type, creative_format, primary_angle
"""  # noqa: S608

_NAMED = {
    "dimensions": (_SINGLES, ("dimension", "value")),
    "patterns": (_PAIRS, ("dimension", "first", "second")),
    "archetypes": (_ARCHETYPES, ("hook_type", "creative_format", "primary_angle")),
}


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of creative by its name's parts, what became of it, and the best winners among its ads."""

    name: tuple[str, ...]
    tally: Tally
    exemplars: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Counted:
    """The kinds found, and how many profiles had any trial."""

    kinds: Sequence[Kind]
    included: int


def counted(reader: Reader, keys: Sequence[int], window: str, what: str) -> Counted:
    """The kinds of `what`: dimensions, patterns (pairs of them) or archetypes."""
    bound: Mapping[str, Any] = {"keys": list(keys), "window": window}
    shares = {key: (n, wins) for key, n, wins in reader.rows(_SHARES, bound)}
    sql, names = _NAMED[what]
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in reader.dicts(sql, bound):
        found.setdefault(tuple(row[name] for name in names), []).append(row)
    return Counted([_kind(name, rows, shares) for name, rows in found.items()], included=len(shares))


def _kind(name: tuple[str, ...], rows: Sequence[dict[str, Any]], shares: Mapping[int, tuple[int, int]]) -> Kind:
    strata = [Stratum(row["n"], row["wins"], *shares[row["profile_key"]]) for row in rows]
    best = [(-one["score"], one["id"]) for row in rows for one in row["best"] or ()]
    return Kind(name, Tally(strata), tuple(id_ for _, id_ in sorted(best)[:MOST_EXEMPLARS]))
