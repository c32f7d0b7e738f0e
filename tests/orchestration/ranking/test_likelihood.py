"""The gate over whole worlds: noise is withheld at every look, a lasting difference is served after the second."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from orchestration.ranking.arrays import Floats
from orchestration.ranking.evaluation import Forecast, fault_of
from orchestration.ranking.gate import Bounded, Measured
from orchestration.ranking.likelihood import evaluate, fit, likelihoods
from tests.factories.ad_worlds import World, looks_over_time


@pytest.mark.parametrize("seed", [1, 2])
def test_noise_is_withheld_at_each_of_seven_looks(seed: int) -> None:
    told = looks_over_time(World(accounts=3, ads=50, weeks=54, quality=0.0).history(seed), looks=7)
    assert len(told) == 7
    assert not any(place.served for _, place in told)


def test_a_lasting_difference_is_served_after_two_looks_and_told_in_probabilities_that_are_kept() -> None:
    history = World(accounts=3, ads=50, weeks=32, quality=0.5).history(1)
    (_, waits), (second, served) = looks_over_time(history, looks=2)
    assert (waits.reason, served.reason) == ("pending_confirmation", "out_of_time_skill")
    assert second.brier_skill > 0.1
    assert abs(second.mean_probability - second.base_rate) < 0.1


def test_skill_that_is_lost_is_withdrawn() -> None:
    history = World(accounts=3, ads=50, weeks=56, quality=0.5, shuffled_from=36).history(2)
    reasons = [place.reason for _, place in looks_over_time(history, looks=7)]
    assert "out_of_time_skill" in reasons
    assert reasons[-1] == "no_skill"


def test_a_young_or_a_small_deployment_is_told_to_wait() -> None:
    assert evaluate(World(accounts=3, ads=50, weeks=18, quality=0.5).history(1)) is None
    assert evaluate(World(accounts=1, ads=20, weeks=40, quality=0.5).history(1)) is None


def test_probabilities_follow_what_is_known_of_an_ad_and_average_to_the_share_of_the_best() -> None:
    history = World(accounts=3, ads=50, quality=0.5).history(4)
    ranker = fit(history)
    assert ranker
    newest = history.day == history.day.max()
    told = likelihoods(ranker, history, newest)
    assert told.mean() == pytest.approx(0.25, abs=0.05)
    assert np.corrcoef(told, history.primary[newest])[0, 1] > 0.6
    three = np.zeros(len(history), dtype=bool)
    three[np.flatnonzero(newest & (history.root == 0))[:3]] = True
    assert np.isnan(likelihoods(ranker, history, three)).all()


def test_fitting_twice_gives_the_same_values() -> None:
    history = World(accounts=2, ads=40, quality=0.5).history(6)
    newest = history.day == history.day.max()
    first, second = fit(history), fit(history)
    assert first and second
    assert np.array_equal(likelihoods(first, history, newest), likelihoods(second, history, newest))


def test_too_few_rows_make_no_ranker() -> None:
    assert fit(World(accounts=1, ads=10, weeks=12).history(1)) is None


GOOD = Measured(auc=Bounded(0.7, 0.6, 0.8), lift=Bounded(0.3, 0.2, 0.4), ads=100, top_ads=40)
HIT = np.arange(100) % 4 == 0
FAIR = np.where(HIT, 0.5, 0.2)


@pytest.mark.parametrize(
    ("found", "probability", "fault"),
    [
        (GOOD, FAIR, ""),
        (replace(GOOD, auc=Bounded(0.6, 0.52, 0.7)), FAIR, "no_skill"),
        (replace(GOOD, lift=Bounded(0.1, 0.0, 0.2)), FAIR, "no_skill"),
        (replace(GOOD, auc=Bounded(0.6, float("nan"), 0.7)), FAIR, "no_skill"),
        (GOOD, np.where(HIT, 0.9, 0.25), "miscalibrated"),
        (GOOD, np.where(HIT, 0.1, 0.3), "miscalibrated"),
    ],
    ids=["pass", "bound of the AUC", "bound of the lift", "no bound", "mean too high", "worse than no model"],
)
def test_each_condition_can_fail_a_look(found: Measured, probability: Floats, fault: str) -> None:
    assert fault_of(found, Forecast(probability, HIT, 0.25)) == fault
