"""A label is what the same ad did in the four weeks after, ranked among those it stood beside."""

from __future__ import annotations

import numpy as np

from orchestration.ranking.history import LEAST_WEIGHT, History, labels
from tests.factories.ad_worlds import World

ENDED = float("nan")


def history(percentiles: list[float], *, later: list[float]) -> History:
    """One root with these percentiles on day 0, and `later` 28 days after (NaN for an ad that no longer ran)."""
    ads = len(percentiles)
    both = np.array([*percentiles, *later])
    made = History(
        day=np.repeat([0, 28], ads),
        root=np.zeros(2 * ads, dtype=np.int64),
        ad=np.tile(np.arange(ads), 2),
        names=("primary",),
        features=both[:, None],
        composite=both,
        primary=both,
        reliability=np.linspace(0, 1, 2 * ads),
        exposure=np.arange(2.0 * ads),
    )
    return made.rows(np.isfinite(both))


def test_relevance_is_by_the_place_among_the_group_of_the_snapshot() -> None:
    later = [float(place) for place in range(20)]
    found = labels(history([50.0] * 20, later=later))
    assert found.known.tolist() == [True] * 20 + [False] * 20
    assert found.percentile[:20].tolist() == later
    assert found.relevance[:20].tolist() == [0] * 10 + [1] * 5 + [2] * 3 + [3] * 2
    assert found.top[:20].tolist() == [False] * 15 + [True] * 5
    assert found.exposure[:20].tolist() == [float(20 + place) for place in range(20)]
    assert found.weight[:20].min() >= LEAST_WEIGHT


def test_ads_that_ended_have_no_label_and_three_are_no_group() -> None:
    assert labels(history([50.0] * 5, later=[1.0, 2.0, 3.0, 4.0, ENDED])).known.tolist()[:5] == [True] * 4 + [False]
    assert not labels(history([50.0] * 5, later=[1.0, 2.0, 3.0, ENDED, ENDED])).known.any()


def test_nothing_of_a_later_day_is_in_the_rows_of_an_earlier_one() -> None:
    whole = World(accounts=1, ads=20).history(5)
    cut = whole.until(int(whole.day.max()) - 28)
    assert np.array_equal(cut.features, whole.features[whole.day <= cut.day.max()], equal_nan=True)
    assert labels(cut).known.sum() < labels(whole).known.sum()
