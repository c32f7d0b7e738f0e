"""Logs have an end, and lose nothing that was written before or after they came to it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from orchestration.log_files import before, put_aside, shorten

MEGABYTE = b"a line of a log\n" * 62_500


@pytest.mark.parametrize("let_go", [put_aside, shorten])
def test_a_full_log_begins_anew_and_what_it_held_is_kept_until_the_next_time(
    let_go: Callable[[Path, int], None], tmp_path: Path
) -> None:
    log = tmp_path / "api.log"
    let_go(log, 1)
    log.write_bytes(MEGABYTE[:-1])
    let_go(log, 1)
    log.write_bytes(MEGABYTE)
    # 0 is for who has an end for it already
    let_go(log, 0)
    assert log.read_bytes() == MEGABYTE and not before(log).exists()
    let_go(log, 1)
    assert before(log).read_bytes() == MEGABYTE
    assert not log.exists() or not log.read_bytes()
    log.write_bytes(MEGABYTE * 2)
    let_go(log, 1)
    assert before(log).read_bytes() == MEGABYTE * 2


def test_who_writes_a_log_goes_on_at_its_new_end(tmp_path: Path) -> None:
    log = tmp_path / "api.log"
    with log.open("ab", buffering=0) as writer:
        writer.write(MEGABYTE)
        shorten(log, 1)
        writer.write(b"after")
    assert log.read_bytes() == b"after"


def test_a_log_that_cannot_be_kept_is_not_emptied(tmp_path: Path) -> None:
    log = tmp_path / "api.log"
    log.write_bytes(MEGABYTE)
    before(log).mkdir()
    with pytest.raises(OSError, match="directory"):
        shorten(log, 1)
    assert log.read_bytes() == MEGABYTE
