"""Probabilities mean what they say on ads that were not fitted on, and are never 0 or 1."""

from __future__ import annotations

import numpy as np
import pytest

from orchestration.ranking.arrays import Bools, Floats
from orchestration.ranking.calibration import Calibration, calibrate


def sample(count: int, seed: int) -> tuple[Floats, Bools]:
    draw = np.random.default_rng(seed)
    place = draw.random(count)
    return place, draw.random(count) < place**2


@pytest.mark.parametrize("count", [600, 4000], ids=["Platt", "isotonic"])
def test_told_probabilities_are_kept(count: int) -> None:
    fitted = calibrate(*sample(count, 1))
    assert bool(fitted.places) == (count >= 1000)
    place, top = sample(20_000, 2)
    told = fitted.probability(place)
    # many are told the same, and another processor would sort these otherwise
    for part in np.array_split(np.argsort(told, kind="stable"), 5):
        assert abs(told[part].mean() - top[part].mean()) < 0.06


@pytest.mark.parametrize("count", [40, 4000])
def test_nobody_is_certain_and_the_better_place_never_has_the_smaller_chance(count: int) -> None:
    place = np.linspace(0.001, 0.999, count)
    told = calibrate(place, place > 0.75).probability(np.linspace(0, 1, 500))
    assert told.min() > 0 and told.max() < 1
    assert (np.diff(told) >= -1e-12).all()


def test_a_curve_comes_back_from_its_file_as_it_was() -> None:
    for count in (300, 2000):
        fitted = calibrate(*sample(count, 3))
        assert Calibration.from_json(fitted.as_json()) == fitted
