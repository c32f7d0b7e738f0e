"""Promise: a chore that fails is tried again and again, and its log tells each change of how it fares once."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from api.worker import Chore, chores
from tests.factories import accounts, exports
from touchledger.settings import Settings


def test_figures_that_cannot_be_read_are_told_once_for_each_chore_and_without_a_traceback(settings: Settings) -> None:
    # a traceback of each of them every two seconds filled the log
    exports.destination(settings.operational_url, accounts.profile(settings.operational_url))
    settings.published.mkdir(parents=True, exist_ok=True)
    (settings.published / "current.json").write_text("{not json")
    todo = [chore for chore in chores(settings) if not chore.every]
    with capture_logs() as told:
        for at in (1.0, 2.0, 3.0):
            for chore in todo:
                chore.run(settings, at)
    waiting = [one["chore"] for one in told if one["event"] == "chore_waits"]
    assert waiting and sorted(waiting) == sorted(set(waiting))
    assert {one["event"] for one in told} == {"snapshot_not_served", "chore_waits"}
    assert not any("exc_info" in one for one in told)
    (settings.published / "current.json").unlink()
    with capture_logs() as told:
        for chore in todo:
            chore.run(settings, 4.0)
    assert sorted(one["chore"] for one in told if one["event"] == "chore_works_again") == sorted(waiting)


def test_another_fault_of_a_chore_is_told_anew_and_so_is_one_that_comes_back(settings: Settings) -> None:
    turns = iter(["0", "00", "x", "1", "0"])

    def do(_: Settings) -> float:
        return 1 / int(next(turns))

    chore = Chore("divide", do)
    with capture_logs() as told:
        for at in range(5):
            chore.run(settings, float(at))
    assert [(one["event"], type(one.get("exc_info")).__name__) for one in told] == [
        ("chore_failed", "ZeroDivisionError"),
        ("chore_failed", "ValueError"),
        ("chore_works_again", "NoneType"),
        ("chore_failed", "ZeroDivisionError"),
    ]


@pytest.mark.parametrize("every", [0.0, 2.0])
def test_a_chore_that_failed_is_tried_again_at_its_next_turn(settings: Settings, every: float) -> None:
    done: list[int] = []
    chore = Chore("fail", lambda _: done.append(1) or 1 / 0, every=every)
    for at in (10.0, 11.0, 12.0):
        chore.run(settings, at)
    assert len(done) == (2 if every else 3)
