"""What becomes of batches that land while a build begins or runs: nothing of them is kept that no later build finds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orchestration import increment
from tests.orchestration.followed_lake import BUILD, land, told
from touchledger.settings import Settings


@pytest.fixture
def settings(followed: Settings) -> Settings:
    return followed


@pytest.mark.parametrize("batch", ["two", "three"])
def test_what_lands_during_a_whole_build_makes_the_next_one_whole(settings: Settings, batch: str) -> None:
    arguments, base = increment.begin(settings, [*BUILD, "--full-refresh"])
    assert base is not None
    land(settings, batch, ["d"])
    increment.end(settings, base)
    arguments, base = increment.begin(settings, BUILD)
    assert "--full-refresh" in arguments and base is not None
    increment.end(settings, base)
    assert increment.begin(settings, BUILD)[0] == BUILD


def test_what_lands_during_a_build_that_keeps_rows_is_told_to_the_next(settings: Settings) -> None:
    _, base = increment.begin(settings, BUILD)
    assert base is not None
    land(settings, "two", ["d"])
    increment.end(settings, base)
    assert increment.begin(settings, BUILD)[0] == BUILD
    assert told(settings, "select touch_key from changes.touch_keys") == [("c",), ("d",)]


def test_what_lands_while_changes_are_told_is_told_too(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    tell, landed = increment.tell_changes, iter([("two", "d"), ("three", "e")])

    def landing(*told: Any, **of: Any) -> None:
        for batch, key in landed:
            tell(*told, **of)
            land(settings, batch, [key])
            return
        tell(*told, **of)

    monkeypatch.setattr(increment, "tell_changes", landing)
    arguments, base = increment.begin(settings, BUILD)
    assert arguments == BUILD and base is not None
    assert {Path(name).stem for name in base.files} == {"lead", "one", "two", "three"}
    assert told(settings, "select touch_key from changes.touch_keys") == [("c",), ("d",), ("e",)]
    assert told(settings, "select touch_key from changes.touches") == [("d",), ("e",)]


def test_a_lake_that_is_never_still_is_built_whole(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    tell, landed = increment.tell_changes, iter(range(100))

    def landing(*told: Any, **of: Any) -> None:
        tell(*told, **of)
        land(settings, f"batch-{next(landed)}", ["d"])

    monkeypatch.setattr(increment, "tell_changes", landing)
    assert "--full-refresh" in increment.begin(settings, BUILD)[0]
