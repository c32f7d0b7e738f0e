"""Ad studies of the sandbox as experiments: what Meta measured, what it only splits, and what it withholds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from connectors import meta_studies
from connectors.ad_platform import Row
from connectors.errors import Malformed
from connectors.meta_ads import MetaAds
from connectors.transport import Transport
from sandbox.faces import TOKENS
from tests.fixtures.sandbox import TODAY, RunningSandbox


def of(rows: list[Row], name: str) -> Row:
    return next(row for row in rows if row["name"] == name)


def arms_of(found: dict[str, list[Row]], study: Row) -> list[Row]:
    return [arm for arm in found["experiment_arms"] if arm["platform_study_id"] == study["platform_study_id"]]


@pytest.fixture
def more(sandbox: RunningSandbox) -> Iterator[tuple[str, ...]]:
    """Ids of forty campaigns that the first study holds beside its own."""
    holder, world = sandbox.holder, sandbox.world
    ids = tuple(str(5 * 10**15 + number) for number in range(40))
    first = world.studies[0]
    cell = replace(first.cells[0], campaigns=(*first.cells[0].campaigns, *ids))
    holder.world = replace(world, studies=(replace(first, cells=(cell,)), *world.studies[1:]))
    yield ids
    holder.world = world


def test_a_holdout_has_the_platforms_counts_of_both_arms_and_its_lift(
    sandbox: RunningSandbox, meta: MetaAds, transport: Transport
) -> None:
    found = meta.studies(TODAY).rows
    study = of(found["experiments"], "Prospecting holdout")
    true = sandbox.world.studies[0]
    assert true.measured is not None
    assert (study["kind"], study["status"], study["objective"]) == ("lift", "ACTIVE", "CONVERSIONS")
    assert (study["start_date"], study["end_date"]) == (true.first_day, true.last_day)
    arms = {arm["role"]: arm for arm in arms_of(found, study)}
    assert (arms["treatment"]["population"], arms["treatment"]["conversions"]) == (
        true.measured.test, true.measured.buyers_test,
    )  # fmt: skip
    assert (arms["control"]["population"], arms["control"]["conversions"]) == (
        true.measured.control, true.measured.buyers_control,
    )  # fmt: skip
    assert arms["treatment"]["entity_level"] == "campaign"
    assert arms["treatment"]["entity_ids"] == [sandbox.world.campaigns[0].id]
    assert study["platform_lift"] > 0
    assert study["platform_winner_arm_id"] == arms["treatment"]["arm_id"]
    assert transport.requests <= 3 + 4 * len(found["experiments"])


def test_a_splits_cells_are_counted_by_insights_over_its_days(sandbox: RunningSandbox, meta: MetaAds) -> None:
    found = meta.studies(TODAY).rows
    study = of(found["experiments"], "Broad or lookalike")
    arms = arms_of(found, study)
    assert [arm["role"] for arm in arms] == ["cell", "cell"]
    for arm in arms:
        (ad_set,) = arm["entity_ids"]
        window = (study["start_date"], study["end_date"])
        days = [row for row in sandbox.world.delivery_seen(None, *window) if row.ad_set_id == ad_set]
        assert arm["entity_level"] == "ad_set"
        assert arm["population"] == sandbox.world.reach("ad_set", ad_set, *window) > 0
        assert arm["spend"] * 100 == sum(row.spend_minor for row in days)
        assert arm["conversions"] == sum(row.claimed_purchases for row in days)
        assert arm["currency"] == "USD"


def test_a_cell_of_many_campaigns_is_read_whole(sandbox: RunningSandbox, meta: MetaAds, more: tuple[str, ...]) -> None:
    found = meta.studies(TODAY).rows
    arms = arms_of(found, of(found["experiments"], "Prospecting holdout"))
    assert {tuple(arm["entity_ids"]) for arm in arms} == {(sandbox.world.campaigns[0].id, *more)}


@pytest.mark.parametrize(("ends", "last"), [("T00:00:00-0500", 9), ("T00:00:01-0500", 10), ("T23:59:59-0500", 10)])
def test_a_study_that_ends_at_midnight_ends_with_the_day_before(ends: str, last: int) -> None:
    told = {"id": "1", "name": "n", "type": "LIFT", "start_time": "2026-11-01T00:00:00-0400"}
    told |= {"updated_time": "2026-11-01T00:00:00-0400", "end_time": f"2026-11-10{ends}"}
    account = meta_studies.Account("act_1", "USD", ZoneInfo("America/New_York"), TODAY)
    study = meta_studies._experiment(told, account)
    assert (study["start_date"].day, study["end_date"].day) == (1, last)


def test_a_study_called_off_says_so_and_one_to_come_has_no_counts(
    sandbox: RunningSandbox, meta: MetaAds, transport: Transport
) -> None:
    assert of(meta.studies(TODAY).rows["experiments"], "Viewed or basket")["status"] == "CANCELED"
    europe = MetaAds(f"{sandbox.url}/meta", TOKENS["meta"], sandbox.world.accounts[1].id, transport)
    found = europe.studies(TODAY).rows
    coming = of(found["experiments"], "Spain holdout, winter")
    assert coming["start_date"] > TODAY
    assert max(row["updated_at"].date() for row in (coming, *arms_of(found, coming))) <= TODAY
    assert coming.get("platform_lift") is None
    assert {arm["population"] for arm in arms_of(found, coming)} == {None}


def test_a_result_that_is_no_number_is_malformed() -> None:
    with pytest.raises(Malformed):
        meta_studies._figure({"population.test": "many"}, "population", "test")


@pytest.mark.parametrize("spelled", ["buyers.test", "buyers_test"])
def test_both_spellings_of_a_figure_are_read(spelled: str) -> None:
    assert meta_studies._figure({spelled: 7}, "buyers", "test") == 7


def test_conversions_stand_in_where_people_who_converted_are_not_told(meta: MetaAds) -> None:
    cell: dict[str, Any] = {"id": "1", "name": "n", "control_percentage": 20}
    study = {"platform_study_id": "9", "updated_at": None}
    account = meta_studies.Account("act_1", "USD", ZoneInfo("UTC"), TODAY)
    arms = meta_studies._held_back(study, cell, {"conversions.test": 5, "conversions.control": 2}, account)
    assert [arm["conversions"] for arm in arms] == [5, 2]
