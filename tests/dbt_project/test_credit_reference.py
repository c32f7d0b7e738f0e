"""The marts equal a naive second computation, to the count and the cent, over random worlds."""

from __future__ import annotations

import pytest

from tests.dbt_project import credit_worlds
from tests.dbt_project.credit_reference import Figures, figures
from tests.dbt_project.project import Project

_COUNT = (
    "appointment_attended + appointment_booked + closed_won + dm_started + lead_created + payment_received"
    " + quote_presented"
)
_MARTS = f"""
select p.profile_id, model, c.level, day, c.level || ':' || e.platform || ':' || e.platform_id,
    {_COUNT}, cash_minor, pipeline_minor
from marts.credit_daily as c join marts.profiles as p using (profile_key) join marts.entities as e using (entity_key)
union all
select profile_id, model, level, day, reason, {_COUNT}, cash_minor, 0
from marts.unattributed_daily join marts.profiles using (profile_key)
"""
_TOTALS = f"""
select profile_id, day, {_COUNT}, cash_minor from marts.outcomes_daily join marts.profiles using (profile_key)
"""


@pytest.fixture(scope="module")
def marts(credited: Project) -> dict[str, Figures]:
    return told_by(credited)


def told_by(credited: Project) -> dict[str, Figures]:
    """Per profile what the marts tell, in the form of the reference."""
    told: dict[str, Figures] = {}
    for profile_id, *cell in credited.rows(_MARTS):
        told.setdefault(profile_id, {})[tuple(cell[:4])] = cell[4:]
    for profile_id, day, count, cash in credited.rows(_TOTALS):
        told.setdefault(profile_id, {})[("all", day)] = [count, cash]
    return told


def something(told: Figures) -> Figures:
    """The cells that are not all zero; of a day's totals the outcomes and the cash."""
    cut = {cell: values[:2] if cell[0] == "all" else values for cell, values in told.items()}
    return {cell: list(values) for cell, values in cut.items() if any(values)}


@pytest.mark.parametrize("seed", credit_worlds.SEEDS)
def test_a_random_world_gives_what_the_naive_computation_gives(seed: int, marts: dict[str, Figures]) -> None:
    profile = credit_worlds.world(seed)
    assert something(marts[profile.id]) == something(figures(profile))


def test_the_worlds_contain_what_they_are_for(credited: Project) -> None:
    assert credited.rows("select count(*) > 0 from intermediate.int_paths where is_capped") == [(True,)]
    cells = [cell for seed in credit_worlds.SEEDS for cell in something(figures(credit_worlds.world(seed)))]
    assert {cell[3] for cell in cells if len(cell) == 4} >= {
        "paid_without_ad", "unknown_ad", "parent_only", "other_channel", "direct", "no_touch",
    }  # fmt: skip
