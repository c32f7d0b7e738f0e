"""What one build answered for each profile, under the worlds' own names instead of the warehouse's keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction

from tests.dbt_project.credit_reference import public_id
from tests.dbt_project.project import Project
from tests.laws.landing import profile_id
from tests.laws.worlds import PAYMENT, World

TYPES = (
    "appointment_attended", "appointment_booked", "closed_won", "dm_started", "lead_created", "payment_received",
    "quote_presented",
)  # fmt: skip
SINGLE = {"last_touch": 1, "first_touch": 2, "last_non_direct": 4}
MODELS = (*SINGLE, "linear", "time_decay")
LEVELS = ("campaign", "ad_set", "ad")

Cell = tuple[str, str, date, str]
Weights = dict[str, Fraction]


@dataclass
class Answers:
    """Per outcome its weights and cents by model and place; the marts by cell, as seven counts, cash and pipeline."""

    weights: dict[str, dict[str, Weights]] = field(default_factory=dict)
    ages: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    cents: dict[str, dict[str, dict[str, int]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(dict)))
    money: dict[str, int | None] = field(default_factory=dict)
    credit: dict[Cell, list[int]] = field(default_factory=dict)
    unattributed: dict[Cell, list[int]] = field(default_factory=dict)
    totals: dict[date, list[int]] = field(default_factory=dict)

    def count(self, cells: dict[Cell, list[int]], model: str, level: str) -> list[int]:
        """Seven counts and cash, summed over the cells of a model and level."""
        chosen = [values for (of, at, _, _), values in cells.items() if (of, at) == (model, level)]
        return [sum(values[n] for values in chosen) for n in range(8)]


_REF = "c.profile_key, c.conversion_id"
_PLACE = "coalesce(e.level || ':' || e.platform_id, d.reason)"
_CREDITS = f"""
select {_REF}, {_PLACE}, r.k, p.n, r.w_dec, p.s_dec, r.flags, t.ts
from intermediate.int_conversions as c
join intermediate.int_paths as p on c.path_conversion_key = p.conversion_key
join intermediate.int_credits as r on p.conversion_key = r.conversion_key
join intermediate.int_destinations as d using (destination_key)
left join intermediate.int_entities as e on d.reason is null and d.place = cast(e.entity_key as varchar)
left join (
    select person_key, destination_key, p.conversion_key, max(t.ts) as ts
    from intermediate.int_paths as p join intermediate.int_touches as t using (person_key)
    where pos_l between p_from and p_last group by all
) as t on t.conversion_key = p.conversion_key and t.destination_key = r.destination_key
"""
_CENTS = f"""
select {_REF}, r.model, {_PLACE}, r.cents
from intermediate.int_conversions as c join intermediate.int_credit_cents as r using (conversion_key)
join intermediate.int_destinations as d using (destination_key)
left join intermediate.int_entities as e on d.reason is null and d.place = cast(e.entity_key as varchar)
"""
_COUNTS = ", ".join(f"c.{name}" for name in TYPES)
_CREDIT = f"""
select c.profile_key, c.model, c.level, c.day, e.platform_id, {_COUNTS}, c.cash_minor, c.pipeline_minor
from marts.credit_daily as c join marts.entities as e using (entity_key)
"""
_UNATTRIBUTED = (
    f"select profile_key, model, level, day, reason, {_COUNTS}, cash_minor from marts.unattributed_daily as c"
)
_TOTALS = f"select profile_key, day, {_COUNTS}, cash_minor from marts.outcomes_daily as c"
_MONEY = f"select {_REF}, coalesce(c.cash_minor, c.pipeline_minor) from intermediate.int_conversions as c"


def read(project: Project, worlds: Sequence[World]) -> list[Answers]:
    """One Answers per world, in the worlds' order."""
    keys = {key: int(owner[-12:]) for key, owner in project.rows("select profile_key, profile_id from marts.profiles")}
    told = [Answers() for _ in worlds]
    refs = {number: _refs(number, world) for number, world in enumerate(worlds)}

    def name(text: str, number: int) -> str:
        return text.replace(worlds[number].prefix, "") if worlds[number].prefix else text

    for key, conversion, money in project.rows(_MONEY):
        told[keys[key]].money[refs[keys[key]][conversion]] = money
    for key, conversion, place, k, n, w, s, flags, ts in project.rows(_CREDITS):
        ref = refs[keys[key]][conversion]
        of = told[keys[key]].weights.setdefault(ref, {model: {} for model in MODELS})
        place = name(place, keys[key])
        of["linear"][place], of["time_decay"][place] = Fraction(k, n), Fraction(w, s)
        of |= {model: {place: Fraction(1)} for model, bit in SINGLE.items() if flags & bit}
        if k == 1:
            told[keys[key]].ages.setdefault(ref, []).append((ts, w))
    for key, conversion, model, place, cents in project.rows(_CENTS):
        told[keys[key]].cents[refs[keys[key]][conversion]][model][name(place, keys[key])] = cents
    for key, model, level, day, entity, *values in project.rows(_CREDIT):
        told[keys[key]].credit[model, level, day, name(entity, keys[key])] = values
    for key, model, level, day, reason, *values in project.rows(_UNATTRIBUTED):
        told[keys[key]].unattributed[model, level, day, reason] = values
    for key, day, *values in project.rows(_TOTALS):
        told[keys[key]].totals[day] = values
    return told


def _refs(number: int, world: World) -> dict[str, str]:
    owner = profile_id(number)
    natural = {
        outcome.key: f"x:{world.prefix}{outcome.key}" if outcome.type == PAYMENT else world.prefix + outcome.key
        for outcome in world.outcomes
    }
    return {public_id(owner, "conversion", key): ref for ref, key in natural.items()}
