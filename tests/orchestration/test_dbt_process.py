"""The process that runs dbt."""

from __future__ import annotations

import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from orchestration.dbt_manifest import KEPT, STATE, ensure_manifest
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
from dbt_common.clients.jinja import MacroFuzzEnvironment
from jinja2.environment import Environment
from orchestration import dbt_process
try:
    dbt_process._dbt(["debug", "--help"])
finally:
    sys.stderr.write(str(MacroFuzzEnvironment.compile is Environment.compile))
"""

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
dbt_process.KEPT = Path(sys.argv[1])
read, found = Manifest.from_msgpack, []
Manifest.from_msgpack = lambda told: found.append(read(told)) or found[-1]
dbt_process.make_ready()
print(sum(len(parsed.nodes) for parsed in found))
"""


def ready(kept: Path) -> int:
    """How many nodes of what is kept there dbt has read once it is ready."""
    return int(subprocess.run([sys.executable, "-c", READY, kept], capture_output=True, text=True, check=True).stdout)


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


def test_dbt_takes_compiled_templates_from_the_checkout() -> None:
    done = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, check=True)
    assert done.stderr == "False"


def test_dbt_knows_the_nodes_before_it_is_told_to_build_them(settings: Settings) -> None:
    ensure_manifest(settings)
    assert ready(KEPT) > 100


@pytest.mark.parametrize("kept", [None, b"", b"of another version"])
def test_without_anything_that_it_can_read_dbt_is_ready_all_the_same(tmp_path: Path, kept: bytes | None) -> None:
    if kept is not None:
        (tmp_path / "key").mkdir()
        (tmp_path / "key" / STATE).write_bytes(kept)
    assert ready(tmp_path) == 0
