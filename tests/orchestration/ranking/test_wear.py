"""The index of wear by hand, and the days of its events."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from orchestration.ranking.wear import NEVER, Panel
from tests.factories.wear_worlds import WearWorld


def panel(clicks: list[float], *, spend: list[float] | None = None, other_ad: bool = False) -> Panel:
    """One ad by day, with 100 impressions on each day of spend; `other_ad` keeps its account spending."""
    days = len(clicks)
    spent = np.array([spend or [10.0] * days, [10.0 if other_ad else 0.0] * days])
    return Panel(
        first=0,
        ad=np.arange(2),
        root=np.arange(2),
        account=np.zeros(2, dtype=np.int64),
        spend=spent,
        impressions=100.0 * (spent > 0),
        reach=np.zeros((2, days)),
        clicks=np.array([clicks, [0.0] * days]),
        outcomes=np.zeros((2, days)),
    )


def test_the_index_is_the_last_week_over_the_days_four_to_ten() -> None:
    found = panel([10.0] * 10 + [4.0] * 10)
    # 70 clicks on 70 of spend in days 4 to 10, drawn to the same mean: 75 / 75
    assert found.baseline[0] == pytest.approx(1.0)
    assert np.isnan(found.index[0, :10]).all()
    # on day 20: 28 clicks, 70 expected
    assert found.index[0, 19] == pytest.approx((28 + 5) / (70 + 5))


def test_the_event_is_the_third_day_in_a_row_at_half() -> None:
    found = panel([10.0] * 10 + [2.0] * 12)
    low = found.index[0] <= 0.5
    assert found.worn_on[0] == low.argmax() + 2
    assert panel([10.0] * 22).worn_on[0] == NEVER


def test_two_low_days_are_no_event() -> None:
    whole = panel([10.0] * 10 + [2.0] * 12)
    event = int(whole.worn_on[0])
    assert whole.until(event - 1).worn_on[0] == NEVER
    assert whole.until(event).worn_on[0] == event


def test_too_little_spend_to_expect_twenty_responses_has_no_index() -> None:
    found = panel([10.0] * 10 + [0.0] * 10, spend=[10.0] * 10 + [1.0] * 10)
    assert np.isnan(found.index[0, 16:]).all()
    assert found.worn_on[0] == NEVER


def test_outcomes_are_the_response_where_they_are_dense() -> None:
    clicked = panel([10.0] * 20)
    dense, thin = (replace(clicked, outcomes=clicked.clicks / part) for part in (3, 9))
    assert np.array_equal(dense.responses[0], dense.outcomes[0])
    assert np.array_equal(thin.responses[0], thin.clicks[0])


def test_a_week_without_impressions_is_a_stop_only_while_the_account_spends() -> None:
    spend = [10.0] * 12 + [0.0] * 8
    assert panel([1.0] * 20, spend=spend, other_ad=True).stopped_on[0] == 12
    assert panel([1.0] * 20, spend=spend, other_ad=False).stopped_on[0] == NEVER
    assert panel([1.0] * 20, spend=[10.0] * 12 + [0.0] * 6 + [10.0] * 2, other_ad=True).stopped_on[0] == NEVER


def test_an_account_that_rests_on_weekends_has_stops_and_ads_that_only_rest_with_it() -> None:
    # no week of it had spend on every day, so that of such accounts no stop was ever seen
    weekdays = [10.0 * (day % 7 < 5) for day in range(28)]
    runs, stops = weekdays, [*weekdays[:15], *[0.0] * 13]
    spent = np.array([runs, stops])
    both = replace(
        panel([1.0] * 28), spend=spent, impressions=100.0 * (spent > 0), reach=spent, clicks=spent, outcomes=spent
    )
    assert both.stopped_on.tolist() == [NEVER, 15]
    # days 15 to 18, and after the weekend 21 to 23
    assert both.stop_known_on(np.arange(2), 15).tolist() == [23, 23]
    assert both.until(23).stopped_on[1] == 15
    assert both.until(22).stopped_on[1] == NEVER
    assert (both.until(22).stop_known_on(np.arange(2), 15) > 22).all()


def test_without_wear_hardly_an_ad_in_a_thousand_seems_worn() -> None:
    worlds = [WearWorld(accounts=4, ads=220).panel(seed) for seed in range(4)]
    judged = sum(int(np.isfinite(world.index).any(axis=1).sum()) for world in worlds)
    worn = sum(int((world.worn_on != NEVER).sum()) for world in worlds)
    assert judged > 3000
    assert worn <= judged / 1000


def test_no_later_day_changes_the_index_of_an_earlier_one() -> None:
    whole = WearWorld(accounts=2, ads=60, days=160, wear=0.12).panel(3)
    then = whole.until(whole.newest - 60)
    assert np.isfinite(then.index).any()
    assert then.index == pytest.approx(whole.index[:, : then.index.shape[1]], rel=1e-12, nan_ok=True)


def test_an_ad_that_goes_by_outcomes_is_not_drawn_to_the_clicks_of_others() -> None:
    clicked = panel([40.0] * 20, spend=[10.0] * 20, other_ad=True)
    mixed = replace(clicked, root=np.zeros(2, dtype=np.int64), outcomes=np.array([[5.0] * 20, [0.0] * 20]))
    alone = replace(mixed, root=np.arange(2))
    assert mixed.baseline[0] == pytest.approx(alone.baseline[0])
