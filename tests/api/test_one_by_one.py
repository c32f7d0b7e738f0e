"""One tenant's trouble is told with its id, and is nobody else's."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from api import errors
from api.one_by_one import Round, one_by_one


def test_one_that_fails_is_told_and_the_others_are_done() -> None:
    done: list[int] = []

    def do(number: int) -> int:
        done.append(12 // number)
        return done[-1]

    with capture_logs() as told:
        assert one_by_one("divide", {"a": 3, "b": 0, "c": 4}, do) == 7
    assert done == [4, 3]
    assert [(one["event"], one["log_level"], one["chore"], one["of"]) for one in told] == [
        ("chore_failed", "error", "divide", "b")
    ]


def test_who_ends_the_process_is_not_held_up() -> None:
    def end(_: int) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        one_by_one("end", {"a": 1, "b": 2}, end)


def test_what_is_everybodys_trouble_is_met_once_and_any_other_refusal_by_its_tenant() -> None:
    tried: list[int] = []

    def do(number: int) -> int:
        tried.append(number)
        raise errors.DATABASE_UNAVAILABLE() if number == 2 else errors.NOT_FOUND()

    with capture_logs() as told, pytest.raises(errors.ApiError) as raised:
        one_by_one("read", {"a": 1, "b": 2, "c": 3}, do)
    assert raised.value.code is errors.DATABASE_UNAVAILABLE
    assert (tried, [one["of"] for one in told]) == ([1, 2], ["a"])


def test_none_is_begun_once_the_process_is_to_end() -> None:
    done: list[int] = []

    def do(number: int) -> int:
        done.append(number)
        return number

    assert one_by_one("send", {"a": 1, "b": 2, "c": 3}, do, lambda: len(done) == 2) == 3
    assert done == [1, 2]


def test_each_turn_takes_the_next_ones_and_the_first_again_behind_the_last() -> None:
    going_round, waiting = Round(), ["a", "b", "c", "d", "e"]

    def due(after: str) -> list[str]:
        return [one for one in waiting if one > after][:2]

    turns = [list(going_round.turn(due)) for _ in range(4)]
    assert turns == [["a", "b"], ["c", "d"], ["e"], ["a", "b"]]
    waiting.clear()
    assert [list(going_round.turn(due)) for _ in range(2)] == [[], []]
    waiting.append("a")
    assert going_round.turn(due) == ["a"]
