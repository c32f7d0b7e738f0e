"""A build takes a share of the machine's memory and its cores, unless the settings say otherwise."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from orchestration.limits import Config, limits
from touchledger.settings import Settings


def opened_with(config: Config) -> tuple[int, int]:
    """Bytes and threads that DuckDB takes."""
    with duckdb.connect(config=config) as connection:
        row = connection.execute(
            "select parse_formatted_bytes(current_setting('memory_limit')), current_setting('threads')"
        ).fetchone()
    assert row is not None
    return row


def test_a_build_may_use_half_of_the_memory_and_every_core(tmp_path: Path) -> None:
    memory, threads = opened_with(limits(Settings(home=tmp_path)))
    most, cores = opened_with({})
    # what DuckDB takes by itself is four fifths
    assert memory / most == pytest.approx(5 / 8, rel=0.01)
    assert threads == cores


def test_what_is_set_is_taken(tmp_path: Path) -> None:
    told = Settings(home=tmp_path, warehouse_memory_limit="1GiB", warehouse_threads=3)
    assert opened_with(limits(told)) == (1024**3, 3)
