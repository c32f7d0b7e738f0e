"""The gate's figures are those of a plain count, and its bounds are of ads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from orchestration.ranking.gate import Judged, measure
from tests.orchestration.ranking import slow_reference


def rows(seed: int, *, ads: int = 24, groups: int = 3, **changed: Any) -> Judged:
    draw = np.random.default_rng(seed)
    count = ads * groups
    truth = np.tile(draw.normal(size=ads), groups)
    made = {
        # rounded, so that there are ties
        "score": np.round(truth + draw.normal(size=count), 1),
        "top": truth > 0.6,
        "gain": np.where(truth > 0.6, 3.0, 0.0),
        "group": np.repeat(np.arange(groups), ads),
        "exposure": draw.random(count),
        "ad": np.tile(np.arange(ads), groups),
    }
    return Judged(**{**made, **changed})


@pytest.mark.parametrize("seed", range(5))
def test_auc_and_lift_are_those_of_counting_pair_by_pair(seed: int) -> None:
    judged = rows(seed)
    once = dict.fromkeys(range(24), 1)
    assert measure(judged, draws=2).auc.value == pytest.approx(slow_reference.auc(judged, once))
    # places of equal scores are a matter of order, so the lift is compared without ties
    distinct = rows(seed, score=judged.score + np.arange(len(judged)) * 1e-6)
    assert measure(distinct, draws=2).lift.value == pytest.approx(slow_reference.lift(distinct, once))


def test_a_resample_counts_an_ad_as_often_as_it_was_drawn() -> None:
    judged = rows(1, score=np.random.default_rng(9).normal(size=72))
    found = measure(judged, draws=1, seed=4)
    drawn = np.random.default_rng(4).multinomial(24, np.full(24, 1 / 24), size=1)[0]
    times = dict(enumerate(drawn.tolist()))
    # with one draw every quantile is that draw
    assert found.auc.high == pytest.approx(slow_reference.auc(judged, times))
    assert found.lift.high == pytest.approx(slow_reference.lift(judged, times))


def test_more_snapshots_of_the_same_ads_do_not_narrow_the_bounds_as_more_ads_do() -> None:
    def width(judged: Judged) -> float:
        bounds = measure(judged, draws=200).auc
        return bounds.high - bounds.low

    few = width(rows(3, ads=30, groups=1))
    assert width(rows(3, ads=30, groups=16)) > 0.4 * few
    assert width(rows(3, ads=480, groups=1)) < 0.4 * few


def test_spend_alone_shows_less_skill_where_it_only_widens_the_labels() -> None:
    draw = np.random.default_rng(0)
    spend = draw.lognormal(0, 1, size=3000)
    label = draw.normal(size=3000) * np.sqrt(spend / (spend + 1))
    judged = rows(0, ads=3000, groups=1, score=spend, top=label > np.quantile(label, 0.75), exposure=spend)
    blind = rows(0, ads=3000, groups=1, score=spend, top=judged.top, exposure=np.zeros(3000), ad=draw.permutation(3000))
    assert measure(blind, draws=100).auc.low > 0.55
    assert measure(judged, draws=100).auc.value < measure(blind, draws=100).auc.value - 0.05


def test_the_same_rows_give_the_same_bounds() -> None:
    assert measure(rows(2)) == measure(rows(2))


def test_nothing_to_find_has_no_bounds() -> None:
    found = measure(rows(0, top=np.zeros(72, dtype=bool), gain=np.zeros(72)), draws=10)
    assert np.isnan(found.auc.low) and np.isnan(found.lift.low)
    assert (found.ads, found.top_ads) == (24, 0)
