"""Laws of conservation on a whole world, for every model and level."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta

import pytest

from sandbox.ledger import LEVELS, MODELS, Credit, Ledger
from sandbox.world import World, build
from tests.factories.journeys import PROFILE, TODAY

FIRST, MIDDLE = date(2026, 7, 1), date(2026, 10, 20)
SINGLE = ("first_touch", "last_touch", "last_non_direct")


@pytest.fixture(scope="module")
def world() -> World:
    return build(seed=7, today=TODAY, days=100, people=500)


@pytest.fixture(scope="module")
def book(world: World) -> Ledger:
    return Ledger(world, PROFILE)


def summed(rows: dict[str, Credit]) -> tuple[Counter[str], int, int]:
    counts: Counter[str] = Counter()
    for row in rows.values():
        counts.update(row.counts)
    return counts, sum(row.cash_minor for row in rows.values()), sum(row.pipeline_minor for row in rows.values())


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("level", LEVELS)
def test_rows_and_unattributed_add_up_to_the_profiles_total(book: Ledger, model: str, level: str) -> None:
    total = book.totals(FIRST, TODAY)
    counts, cash, pipeline = summed(book.credit(model, level, FIRST, TODAY))
    left_counts, left_cash, left_pipeline = summed(book.unattributed(model, level, FIRST, TODAY))
    assert (cash + left_cash, pipeline + left_pipeline) == (total.cash_minor, total.pipeline_minor)
    if model in SINGLE:
        assert counts + left_counts == Counter(total.counts)
    else:
        assert all(counts[type] + left_counts[type] >= total.counts[type] for type in total.counts)


def test_what_has_no_touch_has_none_under_every_model(book: Ledger) -> None:
    found = [book.unattributed(model, "ad", FIRST, TODAY)["no_touch"] for model in MODELS]
    assert all(row == found[0] for row in found)
    assert found[0].counts["payment_received"] > 0


def test_linear_and_time_decay_count_the_same_conversions(book: Ledger) -> None:
    linear, decay = (book.credit(model, "campaign", FIRST, TODAY) for model in ("linear", "time_decay"))
    assert {name: row.counts for name, row in linear.items()} == {name: row.counts for name, row in decay.items()}
    assert linear != decay


@pytest.mark.parametrize("model", MODELS)
def test_ads_earn_no_more_than_their_campaign(book: Ledger, world: World, model: str) -> None:
    campaign_of = {ad.id: ad.campaign_id for ad in world.ads}
    campaigns = book.credit(model, "campaign", FIRST, TODAY)
    by_campaign: Counter[str] = Counter()
    for ad, row in book.credit(model, "ad", FIRST, TODAY).items():
        by_campaign[campaign_of[ad]] += row.cash_minor
    assert all(cash <= campaigns[name].cash_minor for name, cash in by_campaign.items())
    assert sum(by_campaign.values()) < sum(row.cash_minor for row in campaigns.values())


@pytest.mark.parametrize("model", MODELS)
def test_two_windows_that_meet_add_up_to_the_whole(book: Ledger, model: str) -> None:
    early = summed(book.credit(model, "ad_set", FIRST, MIDDLE))
    late = summed(book.credit(model, "ad_set", MIDDLE + timedelta(days=1), TODAY))
    whole = summed(book.credit(model, "ad_set", FIRST, TODAY))
    assert (early[0] + late[0], early[1] + late[1]) == (whole[0], whole[1])


def test_spend_is_the_same_at_every_level(book: Ledger) -> None:
    levels = [book.spend(level, FIRST, TODAY) for level in LEVELS]
    totals = {
        (sum(row.spend_minor for row in rows.values()), sum(row.clicks for row in rows.values())) for rows in levels
    }
    assert len(totals) == 1
    assert totals.pop()[0] > 0


def test_days_add_up_to_the_total(book: Ledger) -> None:
    days = {day.isoformat(): row for day, row in book.outcomes().items() if FIRST <= day <= TODAY}
    counts, cash, _ = summed(days)
    total = book.totals(FIRST, TODAY)
    assert (counts, cash) == (Counter(total.counts), total.cash_minor)
