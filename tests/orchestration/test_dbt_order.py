"""dbt takes first what most of a build waits for; tests/dbt_project/test_build.py has it build in that order."""

from __future__ import annotations

from orchestration.dbt_order import scores

AFTER: dict[str, list[str]] = {
    "a": [],
    "b": ["test of b"],
    "c": ["d", "e"],
    "d": ["f"],
    "e": [],
    "f": ["end"],
    "test of b": ["end"],
    "end": [],
}


def test_whoever_has_the_longest_chain_behind_it_goes_first() -> None:
    assert scores(AFTER) == {"c": -4, "b": -3, "d": -3, "f": -2, "test of b": -2, "a": -1, "e": -1, "end": -1}
