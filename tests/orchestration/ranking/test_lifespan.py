"""Days of life: told where they come true, never of shuffled ads, and not where ads wear sooner than was promised."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from orchestration.ranking.hazard import FURTHEST
from orchestration.ranking.landmarks import BINS, landmarks
from orchestration.ranking.lifespan import Seen, evaluate_days, followed, lifespan
from orchestration.ranking.standing import APART, standing
from orchestration.ranking.wear import NEVER
from tests.factories.wear_worlds import WearWorld

WORN = WearWorld(wear=0.12, accounts=4, ads=80, days=280)


@pytest.mark.parametrize("seed", [0, 1])
def test_days_that_come_true_are_served_after_two_looks(seed: int) -> None:
    panel = WORN.panel(seed)
    first, second = (evaluate_days(panel.until(panel.newest - back)) for back in (APART.days, 0))
    assert first and second
    assert standing([first, second], second.day).served
    assert second.auc.low > 0.7
    assert second.brier_skill > 0.2
    assert abs(second.mean_probability - second.base_rate) < 0.1
    assert sum(rows for *_, rows in second.curve) == second.rows


@pytest.mark.parametrize("seed", range(3))
def test_features_of_other_ads_never_pass(seed: int) -> None:
    panel = WORN.panel(seed)
    rows = landmarks(panel, "degradation")
    order = np.random.default_rng(seed).permutation(len(rows))
    look = evaluate_days(panel, rows=replace(rows, features=rows.features[order]))
    assert look is not None
    assert look.fault == "no_skill"


def test_who_promises_too_many_days_is_miscalibrated() -> None:
    look = evaluate_days(replace(WORN, wear=0.08, drops=0.005, ads=100).panel(2))
    assert look is not None
    assert look.fault == "miscalibrated"
    assert look.mean_probability > look.base_rate + 0.1


def test_a_look_needs_wear_half_a_year_and_ads_that_ran_so_long() -> None:
    assert evaluate_days(WearWorld(days=280).panel(1)) is None
    assert evaluate_days(replace(WORN, days=200).panel(1)) is None
    assert evaluate_days(replace(WORN, ads=300, pauses=0.06).panel(1)) is None


def test_what_was_seen_ends_with_the_event_or_with_what_is_known() -> None:
    panel = replace(WORN, pauses=0.01).panel(1)
    rows = landmarks(panel, "degradation")
    seen = followed(panel, rows.day, rows.ad)
    for row in range(0, len(rows), 37):
        ad, column = int(rows.ad[row]), int(rows.day[row]) - panel.first
        worn_in = int(panel.worn_on[ad]) - column
        worn = panel.worn_on[ad] != NEVER and worn_in <= FURTHEST
        known = max(day for day in range(panel.spend.shape[1]) if np.isfinite(panel.index[ad, day])) - column
        assert (seen.days[row], seen.worn[row]) == (worn_in if worn else min(known, FURTHEST), worn)


def test_means_and_weights_are_those_of_the_survival_curves() -> None:
    draw = np.random.default_rng(5)
    days, ended = draw.integers(0, FURTHEST + 1, 400), draw.random(400) < 0.5
    seen = Seen(days, ended & (days > 0))
    stays, unseen, mean = 1.0, {-1: 1.0}, 0.0
    for day in range(FURTHEST + 1):
        left = sum(days >= day)
        stays *= 1 - sum((days == day) & seen.worn) / left
        unseen[day] = unseen[day - 1] * (1 - sum((days == day) & ~seen.settled) / left)
        mean += stays if day < FURTHEST else 0
    assert seen.mean == pytest.approx(mean)
    assert seen.followed == pytest.approx(unseen[FURTHEST])
    by_hand = [1 / max(unseen[day - 1], 0.10) if known else 0 for day, known in zip(days, seen.settled, strict=True)]
    assert seen.weights.tolist() == pytest.approx(by_hand)


def test_a_life_is_counted_from_the_first_delivery() -> None:
    panel = WORN.panel(1)
    ad = int(np.argmax(panel.delivered.argmax(axis=1) > 100))
    column, begun = panel.spend.shape[1] - 1, int(panel.delivered[ad].argmax())
    assert lifespan(panel, column, np.array([ad]), np.zeros((1, BINS))).tolist() == [column - begun + FURTHEST]
