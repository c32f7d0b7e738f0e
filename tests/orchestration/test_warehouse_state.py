"""A warehouse that dbt could not open is told with its reason before anything of it is touched."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import duckdb
import pytest

from orchestration.warehouse_state import DamagedWarehouseError, begin, end, rebuilding
from touchledger.settings import Settings

HOLDING = """
import sys, duckdb
with duckdb.connect(sys.argv[1]):
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def built(settings: Settings) -> Settings:
    """A warehouse that was built to its end."""
    with duckdb.connect(settings.warehouse) as connection:
        connection.execute("create table rows as select range from range(1000)")
    end(settings, "1")
    return settings


def test_a_warehouse_that_is_damaged_within_is_told_with_the_way_out(built: Settings) -> None:
    with built.warehouse.open("r+b") as file:
        file.seek(12288)
        file.write(b"damage" * 2000)
    with pytest.raises(DamagedWarehouseError) as told, rebuilding(built, token=2, whole=True):
        pass
    assert re.fullmatch(
        r"/.*warehouse\.duckdb is damaged \(.*\); remove it, and `touchledger build`.*", str(told.value)
    )
    assert begin(built) == "1"


def test_a_warehouse_that_was_cut_off_is_told_with_the_way_out(built: Settings) -> None:
    # each build ended with "attempted to read 262144 bytes", and the next one too
    os.truncate(built.warehouse, built.warehouse.stat().st_size // 2)
    with pytest.raises(DamagedWarehouseError, match="is damaged"), rebuilding(built, token=2, whole=True):
        pass
    assert begin(built) == "1"


def test_who_has_the_warehouse_open_is_named(built: Settings) -> None:
    command = [sys.executable, "-c", HOLDING, str(built.warehouse)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(duckdb.IOException, match=f"PID {holder.pid}"), rebuilding(built, token=2, whole=True):
            pass
        holder.communicate()
    assert begin(built) == "1"
