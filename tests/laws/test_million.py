"""The judge of `make laws` on a few thousand outcomes: right ones pass, and one cent moved is seen."""

from __future__ import annotations

import duckdb
import pytest

from tests.dbt_project.project import Project
from tests.laws.journeys import Expected
from tests.laws.million import built, judge

SPOILS = {
    "update intermediate.int_credit_shares set linear = linear + 1 where rowid = 0": {
        "cents of an outcome and model add up to it": 1,
        "the five models' totals are equal": 1,
    },
    "update marts.unattributed_daily set cash_minor = cash_minor - 1 where rowid = 0": {
        "rows + unattributed = all cash, per day, model and level": 1,
    },
    "delete from intermediate.int_credits where rowid = 0": {"weights of a path add up to one": 1},
    "update marts.outcomes_daily set lead_created = lead_created + 1, cash_minor = cash_minor + 1 where rowid = 0": {
        "rows + unattributed = all cash, per day, model and level": 15,
        "rows + unattributed = all outcomes, under single-touch models": 9,
        "as many outcomes as were generated": 1,
        "net cash is what the generated integers say": 1,
    },
}


@pytest.fixture(scope="module")
def thousands(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, dict[str, Expected]]:
    return built(tmp_path_factory.mktemp("million"), conversions=4_000, seed=7)


def test_no_law_is_broken_over_thousands_of_generated_outcomes(thousands: tuple[Project, dict[str, Expected]]) -> None:
    assert {finding.law: finding.off for finding in judge(*thousands) if finding.off} == {}


@pytest.mark.parametrize("spoil", SPOILS)
def test_one_cent_or_one_outcome_too_many_is_seen(spoil: str, thousands: tuple[Project, dict[str, Expected]]) -> None:
    project, expected = thousands
    kept = project.settings.warehouse.read_bytes()
    try:
        with duckdb.connect(str(project.settings.warehouse)) as connection:
            connection.execute(spoil)
        assert {finding.law: finding.off for finding in judge(project, expected) if finding.off} == SPOILS[spoil]
    finally:
        project.settings.warehouse.write_bytes(kept)
