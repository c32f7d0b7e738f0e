"""The golden cases: every figure of tests/golden/credit/cases.csv comes out of the warehouse."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dbt_project import credit_cases
from tests.dbt_project.credit_cases import CAMPAIGNS, MODELS, PROFILE, Expected
from tests.dbt_project.credit_reference import public_id
from tests.dbt_project.project import Project

NAMES = {"direct": "direct", "other_channel": "other", "paid_without_ad": "paid", "unknown_ad": "unknown"}
BITS = {"last_touch": 1, "first_touch": 2, "last_non_direct": 4}
CASES = credit_cases.read().expected

_SHARES = """
select
    c.conversion_id, coalesce(e.platform_id, d.reason), r.k / p.n, r.w_dec / p.s_dec, r.flags,
    (select cents from intermediate.int_credit_cents as m where m.conversion_key = c.conversion_key
        and m.destination_key = r.destination_key and m.model = 'linear')
from intermediate.int_conversions as c
join intermediate.int_paths as p on c.path_conversion_key = p.conversion_key
join intermediate.int_credits as r on c.path_conversion_key = r.conversion_key
join intermediate.int_destinations as d on r.destination_key = d.destination_key
left join intermediate.int_entities as e on coalesce(d.ad_key, d.ad_set_key, d.campaign_key) = e.entity_key
"""


@pytest.fixture(scope="module")
def shares(credited: Project) -> dict[str, list[tuple[Any, ...]]]:
    return shares_of(credited)


def shares_of(credited: Project) -> dict[str, list[tuple[Any, ...]]]:
    """Per conversion id: (destination, linear share, decay share, flags, linear cents)."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    for conversion_id, name, *figures in credited.rows(_SHARES):
        # the ad `adA` is the only ad of campaign A
        found.setdefault(conversion_id, []).append((NAMES.get(name, name.removeprefix("ad")), *figures))
    return found


def _share(model: str, linear: float, decay: float, flags: int) -> float:
    return {"linear": linear, "time_decay": decay}.get(model, 1.0 if flags & BITS.get(model, 0) else 0.0)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_case_gives_the_shares_that_were_worked_out_by_hand(
    case: Expected, shares: dict[str, list[tuple[Any, ...]]], credited: Project
) -> None:
    ids = [public_id(PROFILE, "conversion", ref) for ref in case.outcome_refs]
    known = credited.rows(f"select count(*) from intermediate.int_conversions where conversion_id in {tuple(ids)}")
    assert known == [(1,)]
    rows = next((shares[key] for key in ids if key in shares), [])
    for model in MODELS:
        if (expected := case.shares[model]) is not None:
            got = {name: _share(model, *figures[:3]) for name, *figures in rows}
            assert {name: share for name, share in got.items() if share} == pytest.approx(expected, abs=6e-7)
    if case.linear_cents is not None:
        assert {name: figures[3] for name, *figures in rows} == case.linear_cents


def test_every_campaign_of_the_cases_is_used() -> None:
    named = {name for case in CASES for names in case.shares.values() for name in names or {}}
    assert named == {*CAMPAIGNS, *NAMES.values()}
