"""`touchledger serve --pipeline`: a deployment with nothing of the demo, kept new by itself until Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import httpx
import pytest

from orchestration.instance import prepare_instance
from tests.end_to_end.command import Deployment, free_port
from tests.orchestration.test_ticks import look
from touchledger.demo import MADE
from touchledger.settings import Settings

ADDRESSES = {"url": "API_PORT", "pipeline": "DAGSTER_PORT"}
INSTIGATORS = """
{ repositoriesOrError { ... on RepositoryConnection { nodes {
  sensors { name sensorState { status } } schedules { name scheduleState { status } }
} } } }
"""


@pytest.mark.timeout(400)
def test_the_pipeline_runs_beside_the_api_without_the_demo_and_ctrl_c_ends_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ports = {"API_PORT": str(free_port()), "DAGSTER_PORT": str(free_port()), "API_WORKERS": "1"}
    deployment = Deployment(tmp_path / "home", ports)
    _look_ahead(deployment.home, monkeypatch)
    served = deployment.start("serve", "--pipeline", "--json")
    try:
        assert served.stdout and served.stderr
        line = served.stdout.readline()
        assert line, served.stderr.read()
        told = json.loads(line)
        assert told == {name: f"http://127.0.0.1:{ports[port]}" for name, port in ADDRESSES.items()}
        running = _descendants(served.pid)
        assert httpx.get(f"{told['url']}/healthz", trust_env=False).status_code == 200
        assert "dagster_version" in httpx.get(f"{told['pipeline']}/server_info", trust_env=False).json()
        found = httpx.post(f"{told['pipeline']}/graphql", json={"query": INSTIGATORS}, trust_env=False, timeout=60)
        (location,) = found.json()["data"]["repositoriesOrError"]["nodes"]
        states = {one["name"]: one["sensorState"]["status"] for one in location["sensors"]}
        states |= {one["name"]: one["scheduleState"]["status"] for one in location["schedules"]}
        assert len(states) == 8 and set(states.values()) == {"RUNNING"}
        served.send_signal(signal.SIGINT)
        _, complaint = served.communicate(timeout=60)
    finally:
        served.kill()
    assert served.returncode == 0, complaint
    assert len(running) > 4
    with closing(sqlite3.connect(deployment.home / "dagster" / "schedules" / "schedules.db")) as books:
        assert books.execute("select max(timestamp) < '2099-01-01' from job_ticks").fetchall() == [(1,)]
    assert [pid for pid in running if _is_running(pid)] == []
    assert not (deployment.home / MADE).exists()
    assert "enabled: false" in (deployment.home / "dagster" / "dagster.yaml").read_text()


def _look_ahead(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dagster's books as a clock left them that was ahead."""
    for name in ("TOUCHLEDGER_HOME", "DAGSTER_HOME", "DO_NOT_TRACK"):
        monkeypatch.setenv(name, "")
    prepare_instance(Settings(home=home))
    with dg.DagsterInstance.get() as instance:
        look(instance, "new_input", datetime(2099, 1, 2, tzinfo=UTC))


def _descendants(pid: int) -> list[int]:
    """The processes below one."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = {int(child): int(parent) for child, parent in map(str.split, listed.splitlines())}
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found - {pid})


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
