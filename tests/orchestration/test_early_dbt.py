"""dbt may be started before it is needed, and is then told what it would have been started with."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import dagster as dg
import pytest

from orchestration import early_dbt, resources
from orchestration.dbt_manifest import PROJECT, executable
from orchestration.dbt_process import WAIT
from tests.fixtures.waiting import wait_until
from tests.orchestration.test_orphans import ended
from touchledger.settings import Settings

# dbt's own, and of no project
HELP = ["debug", "--help"]
# by the process itself, before it imports dbt
ANSWERED_AT_ONCE = ["--version"]
COMMAND = """
from orchestration import early_dbt
with early_dbt.started():
    print(early_dbt._waiting[0].pid, flush=True)
    input()
"""


def dbt(home: Path, *arguments: str) -> subprocess.Popen[bytes]:
    return early_dbt.Popen(
        [executable(), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "TOUCHLEDGER_HOME": str(home)},
        cwd=PROJECT,
    )


def waiting() -> subprocess.Popen[bytes]:
    (process,) = early_dbt._waiting
    return process


def environment_of(process: subprocess.Popen[bytes]) -> bytes:
    # Linux tells it a moment after the program was put in force, and nothing until then
    place = Path(f"/proc/{process.pid}/environ")
    deadline = time.monotonic() + 30
    while not (told := place.read_bytes()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return told


def test_the_process_that_waits_runs_what_it_is_told_where_it_is_told(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    with early_dbt.started():
        process = waiting()
        told = dbt(other, *HELP)
        output, _ = told.communicate()
    assert told is process
    assert told.returncode == 0
    assert b"Usage: touchledger-dbt debug" in output
    # dbt's lock lies in the state folder that it works on
    assert (other / "locks" / "dbt.lock").exists()
    assert not (home / "locks").exists()


def test_without_one_that_waits_dbt_is_started(home: Path) -> None:
    output, _ = dbt(home, *ANSWERED_AT_ONCE).communicate()
    assert output.decode() == version("dbt-core") + "\n"


def test_one_that_was_killed_is_replaced(home: Path) -> None:
    with early_dbt.started():
        process = waiting()
        process.kill()
        process.wait()
        told = dbt(home, *ANSWERED_AT_ONCE)
        output, _ = told.communicate()
    assert told is not process
    assert output.decode() == version("dbt-core") + "\n"


def test_one_that_nobody_needs_ends_with_the_block(home: Path) -> None:
    with early_dbt.started():
        process = waiting()
        with early_dbt.started():
            assert waiting() is process
    assert process.returncode == -signal.SIGKILL
    assert not early_dbt._waiting


def test_what_it_prints_comes_at_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    with early_dbt.started():
        assert b"PYTHONUNBUFFERED=1" in environment_of(waiting()).split(b"\0")


def test_told_nothing_it_ends_and_has_done_nothing(home: Path) -> None:
    process = subprocess.Popen([executable(), WAIT], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    output, _ = process.communicate()
    assert (process.returncode, output) == (0, b"")
    assert not list(home.iterdir())


def test_a_killed_command_takes_it_along(home: Path) -> None:
    command = subprocess.Popen([sys.executable, "-c", COMMAND], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert command.stdout
    pid = int(command.stdout.readline())
    command.kill()
    command.communicate()
    wait_until(lambda: ended(pid))


@pytest.mark.parametrize(("job", "early"), [("build", True), ("nightly", False)])
def test_a_run_starts_it_where_no_pull_comes_first(settings: Settings, job: str, early: bool) -> None:
    @dg.op(required_resource_keys={"warehouse"})
    def look() -> bool:
        return bool(early_dbt._waiting)

    @dg.job(name=job, resource_defs={"warehouse": resources.Warehouse()})
    def run() -> None:
        look()

    assert run.execute_in_process().output_for_node("look") is early
    assert not early_dbt._waiting


def test_dagster_starts_dbt_so(home: Path) -> None:
    with early_dbt.started():
        process = waiting()
        told = resources.dbt().cli(["debug", "--config-dir"], target_path=home / "dbt", manifest={}).wait().process
    assert told is process
