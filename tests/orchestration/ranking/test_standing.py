"""Two passes four weeks apart open the gate, one look at chance shuts it, and old looks open nothing."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from orchestration.ranking.evaluation import Evaluation
from orchestration.ranking.gate import Bounded
from orchestration.ranking.standing import due, standing

FIRST = date(2026, 1, 5)


def look(days: int, low: float = 0.60, fault: str | None = None) -> Evaluation:
    """A look `days` after the first; passes when its bound does, unless another fault is given."""
    bounds = Bounded(low + 0.05, low, low + 0.1)
    return Evaluation(
        measure="top_performer_likelihood",
        day=FIRST + timedelta(days=days),
        recipe=1,
        fault=("" if low > 0.52 else "no_skill") if fault is None else fault,
        auc=bounds,
        lift=bounds,
        rules=bounds,
        brier_skill=0.1,
        mean_probability=0.25,
        base_rate=0.25,
        ads=100,
        top_ads=40,
        rows=900,
        curve=((0.1, 0.2, 30),),
    )


CASES = {
    "one pass waits for a second": ([look(0)], 0, "pending_confirmation"),
    "two passes four weeks apart are served": ([look(0), look(28)], 28, "out_of_time_skill"),
    "two passes a week apart are one": ([look(0), look(7)], 7, "pending_confirmation"),
    "a failure between them starts anew": ([look(0), look(28, 0.51), look(56)], 56, "pending_confirmation"),
    "a bound above chance keeps what was proven": ([look(0), look(28), look(56, 0.51)], 56, "out_of_time_skill"),
    "the first bound at chance takes it away": ([look(0), look(28), look(56, 0.50)], 56, "no_skill"),
    "what was taken away needs two passes": ([look(0), look(28), look(56, 0.49), look(84)], 84, "pending_confirmation"),
    "a curve that misses is not told": ([look(0), look(28), look(56, fault="miscalibrated")], 56, "miscalibrated"),
    "a curve that fits again is": (
        [look(0), look(28), look(56, fault="miscalibrated"), look(84)],
        84,
        "out_of_time_skill",
    ),
    "45 days are not too old": ([look(0), look(28)], 28 + 45, "out_of_time_skill"),
    "46 days are": ([look(0), look(28)], 28 + 46, "stale"),
    "a look of a later day is not known yet": ([look(0), look(28)], 27, "pending_confirmation"),
    "no look is too little history": ([], 0, "insufficient_history"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_standing_follows_from_the_looks(case: str) -> None:
    looks, days, reason = CASES[case]
    found = standing(looks, FIRST + timedelta(days=days))
    assert found.reason == reason
    assert found.served == (reason == "out_of_time_skill")


def test_before_anything_was_tried_it_is_unmeasured() -> None:
    assert standing([], FIRST, attempted=False).reason == "unmeasured"


def test_a_look_is_taken_once_in_four_weeks() -> None:
    assert due([], FIRST)
    assert not due([look(0)], FIRST + timedelta(days=27))
    assert due([look(0)], FIRST + timedelta(days=28))


def test_a_look_comes_back_from_its_file_as_it_was() -> None:
    assert Evaluation.from_json(look(3).as_json()) == look(3)
