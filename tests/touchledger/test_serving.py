"""The processes that serve, started as `touchledger serve` starts them."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import urllib.request
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import httpx
import pytest
from pydantic import SecretStr

from api.v1.workspaces.pacing_schemas import MOST_PROFILES
from orchestration.locks import WriterBusyError
from tests.end_to_end.command import free_port
from tests.factories.deployments import migrate, settings_of
from tests.fixtures.waiting import wait_until
from touchledger import up
from touchledger.output import Output
from touchledger.serving import (
    alone,
    api_address,
    only_dagster,
    serve_until_interrupted,
    start_api,
    start_dagster,
    supervising,
    watch,
)
from touchledger.settings import Settings
from touchledger.supervisor import Supervisor

MANY_IDS_PATH = f"/api/v1/workspaces/{uuid.UUID(int=1)}/pacing"
MANY_IDS = {"profile_ids": ",".join(str(uuid.UUID(int=number)) for number in range(MOST_PROFILES))}
NO_REQUESTS = (
    b"GET /x?token=hush\r\n",
    b"GET /x?a=b token=hush HTTP/1.1\r\n",
    b"GET /x HTTP/1.1\r\nAuthorization: hush\0\r\n",
    b"GET /x?token=hush" + b"h" * 9000 + b" HTTP/1.1\r\n",
    b"GET /x HTTP/1.1\r\nX-Key: hush" + b"h" * 9000 + b"\r\n",
    b"POST /x HTTP/1.1\r\nExpect: hush\r\n",
)


@pytest.mark.parametrize(("host", "written"), [("::1", "[::1]"), ("127.0.0.1", "127.0.0.1"), ("db.local", "db.local")])
def test_only_an_address_of_ipv6_is_written_in_brackets(settings: Settings, host: str, written: str) -> None:
    settings = settings.model_copy(update={"api_host": host, "api_port": 8001, "public_url": None})
    assert api_address(settings) == settings.base_url == f"http://{written}:8001"


@dataclass
class Ended:
    """What one API answered while it was served, and what its log holds after its end."""

    address: str
    issuer: str
    many_ids: httpx.Response
    refused: list[tuple[str, dict[str, str], dict[str, Any]]]
    log: str


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    home = tmp_path_factory.mktemp("served")
    settings = settings_of(home).model_copy(update={"api_port": free_port(), "api_workers": 1})
    migrate(settings)
    address = api_address(settings)
    with pytest.MonkeyPatch.context() as patch, Supervisor(settings.home / "logs") as supervisor:
        patch.setenv("TOUCHLEDGER_HOME", str(home))
        api = start_api(supervisor, settings)
        supervisor.wait_until_answers(api, f"{address}/healthz", within=60)
        # told the port by its caller alone, as by `touchledger serve --port`
        with urllib.request.urlopen(f"{address}/.well-known/oauth-authorization-server", timeout=60) as answer:
            issuer = json.load(answer)["issuer"]
        many_ids = httpx.get(f"{address}{MANY_IDS_PATH}", params=MANY_IDS, trust_env=False)
        refused = [sent(settings, request + b"Host: a\r\n\r\n") for request in NO_REQUESTS]
    return Ended(address, issuer, many_ids, refused, api.log.read_text())


def sent(settings: Settings, request: bytes) -> tuple[str, dict[str, str], dict[str, Any]]:
    """Status line, headers and error of what the API answers to such bytes."""
    with socket.create_connection((settings.api_host, settings.api_port), timeout=60) as connection:
        connection.sendall(request)
        head, _, body = b"".join(iter(lambda: connection.recv(65536), b"")).decode().partition("\r\n\r\n")
    status, *lines = head.split("\r\n")
    return status, dict(line.split(": ", 1) for line in lines), json.loads(body)["error"]


def test_the_api_answers_under_its_own_address_and_ends_without_a_complaint(ended: Ended) -> None:
    assert ended.issuer == ended.address
    assert "Shutting down" in ended.log
    # as bindings in C++ do of what is still there when the interpreter has ended
    assert "leaked" not in ended.log


def test_as_many_ids_as_a_query_may_hold_reach_the_api(ended: Ended) -> None:
    assert (ended.many_ids.status_code, ended.many_ids.json()["error"]["code"]) == (401, "unauthorized")


def test_what_is_no_request_is_refused_in_the_envelope_and_its_secrets_reach_no_log(ended: Ended) -> None:
    assert [status.split()[1] for status, _, _ in ended.refused] == ["400", "400", "400", "414", "431", "417"]
    for status, headers, error in ended.refused:
        assert (error["code"], str(error["status"])) == ("invalid_request", status.split()[1])
        assert headers["Content-Type"] == "application/json"
        assert headers["X-Request-Id"] == error["request_id"]
    assert "hush" not in ended.log
    assert all(error["request_id"] in ended.log for _, _, error in ended.refused)


def test_what_ended_beside_the_api_is_told_to_scripts_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Supervisor(tmp_path) as supervisor:
        worker = supervisor.start("worker", [sys.executable, "-c", "raise SystemExit(3)"])
        # it ends once the other's end was seen
        waiting = f"import os, time\nwhile os.path.exists('/proc/{worker.process.pid}'): time.sleep(0.01)"
        api = supervisor.start("api", [sys.executable, "-c", waiting])
        with pytest.raises(click.ClickException, match="the API ended with code 0"):
            watch(Output(quiet=True), supervisor, api, lambda: None)
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", f"worker ended with code 3; see {tmp_path / 'worker.log'}\n")


def test_logs_of_what_is_served_are_emptied_once_they_are_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("touchledger.supervisor.LOGS_SECONDS", 0.0)
    loud = "print('x' * 1_200_000, flush=True)"
    # what it says last, it says once its log was emptied
    emptied = f"import os, time\n{loud}\nwhile os.path.getsize({str(tmp_path / 'api.log')!r}): time.sleep(0.01)"
    with Supervisor(tmp_path, log_mb=1) as supervisor:
        # of which nothing can be kept
        (tmp_path / "worker.log.1").mkdir()
        worker = supervisor.start("worker", [sys.executable, "-c", f"{loud}\nimport time; time.sleep(300)"])
        wait_until(lambda: worker.log.stat().st_size > 1_200_000)
        api = supervisor.start("api", [sys.executable, "-c", f"{emptied}\nprint('last')"])
        with pytest.raises(click.ClickException, match="the API ended with code 0"):
            watch(Output(quiet=True), supervisor, api, lambda: None)
    assert (tmp_path / "api.log").read_text() == "last\n"
    assert (tmp_path / "api.log.1").stat().st_size == 1_200_001
    assert (tmp_path / "worker.log").stat().st_size > 1_200_000


def test_what_is_served_has_the_room_of_a_build_that_was_killed(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # on a disk that such a one had filled, each request was 503 until somebody removed what it had left
    monkeypatch.setattr("touchledger.supervisor.LOGS_SECONDS", 0.0)
    monkeypatch.setattr("orchestration.room.SPARE_BYTES", 2**63)
    settings.warehouse.write_bytes(b"half made")
    waiting = f"import os, time\nwhile os.path.exists({str(settings.warehouse)!r}): time.sleep(0.01)"
    with supervising(settings) as supervisor:
        api = supervisor.start("api", [sys.executable, "-c", waiting])
        with pytest.raises(click.ClickException, match="the API ended with code 0"):
            watch(Output(quiet=True), supervisor, api, lambda: None)


class Dropped:
    """What is cleared away just when the signal comes: an exception would be lost there."""

    def __init__(self, sign: signal.Signals) -> None:
        self.sign = sign

    def __del__(self) -> None:
        os.kill(os.getpid(), self.sign)


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_end_is_never_missed(tmp_path: Path, sign: signal.Signals) -> None:
    def tell() -> None:
        Dropped(sign)

    before = signal.getsignal(sign)
    with Supervisor(tmp_path) as supervisor:
        api = supervisor.start("api", [sys.executable, "-c", "import time; time.sleep(300)"])
        watch(Output(quiet=True), supervisor, api, tell)
        assert api.process.poll() is None
    assert signal.getsignal(sign) == before


def test_a_second_demo_in_a_state_folder_is_refused_before_it_changes_anything(settings: Settings) -> None:
    # on other ports it began: it gave the demo's accounts the address of its own sandbox, which then ended with it
    ports = {name: free_port() for name in ("api_port", "dagster_port", "sandbox_port")}
    other = settings.model_copy(update=ports)
    with alone(settings, "demo", purpose="run the demo of this state folder"):
        for once in (True, False):
            with pytest.raises(WriterBusyError, match=f"demo.lock is held by pid {os.getpid()}, to run the demo"):
                up.run(Output(), other, once=once)
    assert not (settings.home / "logs").exists()
    assert not settings.dagster_home.exists()


def test_a_second_dagster_for_a_state_folder_is_refused(settings: Settings) -> None:
    # both ran, and each daemon complained in its log alone that another one is not supported
    other = settings.model_copy(update={"api_port": free_port(), "dagster_port": free_port()})
    with only_dagster(settings):
        with pytest.raises(WriterBusyError, match="cannot run Dagster for this state folder"):
            serve_until_interrupted(Output(), other, with_pipeline=True)
        with pytest.raises(WriterBusyError, match="cannot run Dagster for this state folder"):
            up.run(Output(), other.model_copy(update={"sandbox_port": free_port()}), once=False)


PRINTS = """#!{python}
import json, os
from pathlib import Path
print(json.dumps({{"folder": str(Path.cwd()), **os.environ}}))
"""


def test_dagster_reads_no_settings_of_a_file_that_nobody_else_reads(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # it let `.env` of the folder it began in win over the environment, and built in another state folder than the API's
    (tmp_path / ".env").write_text("TOUCHLEDGER_HOME=elsewhere\n")
    program = tmp_path / "bin" / "dagster"
    program.parent.mkdir()
    program.write_text(PRINTS.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program.with_name("python")))
    monkeypatch.chdir(tmp_path)
    settings = settings.model_copy(
        update={"database_url": SecretStr("sqlite:///own.db?timeout=5"), "spark_folder": Path("shared")}
    )
    settings.dagster_home.mkdir(parents=True)
    with Supervisor(settings.home / "logs") as supervisor:
        child = start_dagster(supervisor, settings)
        child.process.wait(timeout=60)
    told = json.loads(child.log.read_text())
    assert not (Path(told["folder"]) / ".env").exists()
    # what was named relative to the folder of before is the same in the new one
    assert told["TOUCHLEDGER_DATABASE_URL"] == f"sqlite:///{tmp_path}/own.db?timeout=5"
    assert told["TOUCHLEDGER_SPARK_FOLDER"] == str(tmp_path / "shared")
