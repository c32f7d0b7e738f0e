"""The process that runs dbt."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from orchestration import dbt_events, dbt_lookups, dbt_process, spark_run, templates
from orchestration.dbt_manifest import KEPT, STATE, ensure_manifest, executable
from orchestration.dbt_process import ON_SPARK
from orchestration.warehouse_state import UnfinishedWarehouseError, rebuilding, require_finished
from tests.dbt_project.project import Project
from touchledger.settings import Settings

ASKED = """
import gc, sys
from orchestration import dbt_process
sys.argv[1:] = ["--version"]
dbt_process.main()
print(gc.isenabled(), gc.get_threshold()[0])
"""

RUN = """
import sys
from dbt.adapters.base.impl import BaseAdapter
from dbt_common.clients.jinja import MacroFuzzEnvironment
from dbt_common.events import base_types
from orchestration import dbt_process
try:
    dbt_process._dbt(["debug", "--help"])
finally:
    ours = (MacroFuzzEnvironment.compile, base_types.ParseDict, BaseAdapter._make_match)
    sys.stderr.write(" ".join(one.__module__ for one in ours))
"""

UNREADABLE = (None, b"", b"of another version")

ASKED_OF_DBT = "full: {{ flags.FULL_REFRESH }}, empty: {{ flags.EMPTY }}, on: {{ target.name }}"

INTERRUPTED = """
import os, signal, sys
from orchestration import dbt_process
sys.argv[1:] = ["--version"]
dbt_process.main()
os.kill(os.getpid(), signal.SIGINT)
"""

READY = """
import sys
from pathlib import Path
from dbt.contracts.graph.manifest import Manifest
from orchestration import dbt_process
read = Manifest.from_msgpack
for kept in sys.argv[1:]:
    dbt_process.KEPT, found = Path(kept), []
    Manifest.from_msgpack = lambda told: found.append(read(told)) or found[-1]
    dbt_process.make_ready()
    print(sum(len(parsed.nodes) for parsed in found))
"""


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> dict[object, int]:
    """By what is kept, how many nodes dbt has read once it is ready; one process is made ready with each in turn."""
    kept: dict[object, Path] = {}
    for content in UNREADABLE:
        kept[content] = tmp_path_factory.mktemp("kept")
        if content is not None:
            (kept[content] / "key").mkdir()
            (kept[content] / "key" / STATE).write_bytes(content)
    ensure_manifest(Settings(home=tmp_path_factory.mktemp("home")))
    kept["parsed"] = KEPT
    done = subprocess.run([sys.executable, "-c", READY, *kept.values()], capture_output=True, text=True, check=True)
    return dict(zip(kept, map(int, done.stdout.split()), strict=True))


@pytest.fixture
def finished(tmp_path: Path) -> Project:
    """A deployment whose warehouse is built to its end."""
    found = Project(Settings(home=tmp_path))
    with rebuilding(found.settings, token=7, whole=True):
        pass
    return found


def test_a_command_that_fails_leaves_the_warehouse_unfinished_whoever_called_it(finished: Project) -> None:
    with pytest.raises(AssertionError, match="no_such_macro"):
        finished.dbt("run-operation", "no_such_macro")
    with pytest.raises(UnfinishedWarehouseError):
        require_finished(finished.settings)
    # nor does one that ends well finish what another began
    finished.dbt("--quiet", "seed")
    with pytest.raises(UnfinishedWarehouseError):
        require_finished(finished.settings)


@pytest.mark.parametrize("command", [["seed"], ["list", "--resource-type", "seed"]])
def test_a_command_that_ends_well_leaves_the_warehouse_as_it_was(finished: Project, command: list[str]) -> None:
    finished.dbt("--quiet", *command)
    require_finished(finished.settings)
    assert (finished.settings.home / "warehouse.built").read_text() == "7"


def test_a_variable_of_dbt_changes_nothing_of_what_a_command_does(
    finished: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("FULL_REFRESH", "true"), ("EMPTY", "true"), ("TARGET", "spark"), ("QUIET", "true")):
        monkeypatch.setenv(f"DBT_{name}", value)
    told = finished.dbt("compile", "--no-introspect", "--inline", ASKED_OF_DBT)
    assert "full: False, empty: False, on: duckdb" in told


def test_dbt_seldom_searches_for_garbage() -> None:
    asked = subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True, check=True)
    number, enabled, objects = asked.stdout.split()
    assert number == version("dbt-core")
    assert enabled == "True"
    assert int(objects) >= 10_000


def test_dbt_ends_at_once_and_silently_on_ctrl_c() -> None:
    # it waited for the statements that ran, longer than Dagster waits for it
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


def test_dbt_takes_compiled_templates_from_the_checkout_and_tells_and_looks_up_at_once() -> None:
    done = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, check=True)
    assert done.stderr.split() == [templates.__name__, dbt_events.__name__, dbt_lookups.__name__]


def test_dbt_knows_the_nodes_before_it_is_told_to_build_them(read: dict[object, int]) -> None:
    assert read["parsed"] > 100


@pytest.mark.parametrize("kept", UNREADABLE)
def test_without_anything_that_it_can_read_dbt_is_ready_all_the_same(read: dict[object, int], kept: object) -> None:
    assert read[kept] == 0


def on_spark(home: Path, *, python: str, folder: Path) -> tuple[int, str]:
    """How a build on that Spark ends, and the one error that it tells as dbt does."""
    environment = home / "environment"
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").write_text(python)
    (environment / "bin" / "python").chmod(0o755)
    told = {"MASTER": "spark://cluster:7077", "ENVIRONMENT": str(environment), "FOLDER": str(folder)}
    variables = {**os.environ, **{f"TOUCHLEDGER_SPARK_{name}": value for name, value in told.items()}}
    variables |= {"TOUCHLEDGER_HOME": str(home), "DBT_LOG_FORMAT": "json"}
    done = subprocess.run([executable(), "build", ON_SPARK], env=variables, capture_output=True, text=True, check=False)
    event = json.loads(done.stdout)["info"]
    assert event["level"] == "error"
    return done.returncode, event["msg"]


def test_what_keeps_a_run_on_spark_from_beginning_is_told_as_dbt_tells_an_error(home: Path) -> None:
    # a full disk or a folder that may not be written was an exit code, in the terminal and in Dagster
    (home / "file").touch()
    code, said = on_spark(home, python="", folder=home / "file")
    assert code == 1
    assert said.startswith("Spark: FileExistsError: ") and str(home / "file") in said


def test_that_the_driver_of_a_run_on_spark_was_killed_is_told_as_dbt_tells_an_error(home: Path) -> None:
    # `exit code 247` was all that was told, and every log ended without a word
    code, said = on_spark(home, python="#!/bin/sh\ncat > /dev/null\nkill -9 $$\n", folder=home)
    assert code == 1
    assert said.startswith("Spark: its driver was ended by signal 9; ")
    assert "TOUCHLEDGER_SPARK_DRIVER_MEMORY, here 2g" in said


def test_a_run_on_spark_of_which_something_stays_tells_it_and_fails(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # what workers of another user had written stayed, with people, and nobody was told
    python, run = home / "environment" / "bin" / "python", home / "spark"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\ncat > /dev/null\nrm -r {run}\nln -s {home} {run}\nexit 2\n")
    python.chmod(0o755)
    monkeypatch.setattr(spark_run, "ENDING_SECONDS", 0.0)
    settings = Settings(home=home, spark_master="spark://cluster:7077", spark_environment=python.parent.parent)
    assert dbt_process._spark(settings, ["build"]) == 1
    assert f"{run} holds people that a build on Spark read, and cannot be removed" in capsys.readouterr().out
