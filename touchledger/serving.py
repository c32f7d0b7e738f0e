"""The commands of the processes that serve, and `touchledger serve`."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from types import FrameType

import click
import sqlalchemy as sa

from api.db import now
from orchestration.dbt_manifest import DbtParseError, ensure_manifest
from orchestration.instance import require_own_line
from orchestration.locks import only_writer
from orchestration.room import make_room
from orchestration.ticks import forget_ahead
from touchledger import own_folder
from touchledger.dagster_pulse import Pulse
from touchledger.output import Output
from touchledger.settings import REPOSITORY, Settings, host_and_port
from touchledger.supervisor import (
    Child,
    NotStartedError,
    PortTakenError,
    Supervisor,
    asked_to_end,
    listener,
    require_free,
    tail,
)

# one that ends is told at once; Dagster takes more than a minute where all cores are busy
START_SECONDS = 180.0
POLL_SECONDS = 0.5
DAGSTER = "dagster"


def api_address(settings: Settings) -> str:
    return f"http://{host_and_port(settings.api_host, settings.api_port)}"


def dagster_address(settings: Settings) -> str:
    return f"http://127.0.0.1:{settings.dagster_port}"


def start_api(supervisor: Supervisor, settings: Settings) -> Child:
    """gunicorn over `api.wsgi:app`."""
    command = [sys.executable, "-m", "gunicorn", "--no-control-socket", "--graceful-timeout", "10"]
    command += ["--workers", str(settings.api_workers), "--threads", str(settings.api_threads)]
    command += ["--worker-class", "touchledger.http_worker.Worker"]
    # gunicorn's most: 200 ids in a query, their commas escaped, are longer than the 4,094 bytes it takes unasked
    command += ["--limit-request-line", "8190"]
    command += ["--bind", host_and_port(settings.api_host, settings.api_port), "api.wsgi:app"]
    return supervisor.start("api", command, environment=_address(settings))


def start_worker(supervisor: Supervisor, settings: Settings) -> Child:
    """What no request waits for: mail and reports."""
    return supervisor.start("worker", [sys.executable, "-m", "api.worker"], environment=_address(settings))


def _address(settings: Settings) -> dict[str, str]:
    """All three write links to the API, and read settings of their own: a port of the command's must reach them."""
    return {"TOUCHLEDGER_API_PORT": str(settings.api_port)}


def start_dagster(supervisor: Supervisor, settings: Settings) -> Child:
    """Dagster's UI and daemon, on loopback only: it has no login. What it noted under a clock that was ahead goes."""
    forget_ahead(settings, now())
    command = [str(Path(sys.executable).parent / "dagster"), "dev", "--workspace", str(REPOSITORY / "workspace.yaml")]
    command += ["--host", "127.0.0.1", "--port", str(settings.dagster_port)]
    # Dagster lets `.env` of the folder it begins in win over the environment, and nothing else here reads such a file
    return supervisor.start(
        DAGSTER, command, environment=_address(settings) | _wherever(settings), folder=settings.dagster_home,
        stop_by=signal.SIGINT,
    )  # fmt: skip


def _wherever(settings: Settings) -> dict[str, str]:
    """What settings name relative to this folder, for a process of another one; the state folder is absolute."""
    told = {}
    if settings.spark_folder is not None:
        told["TOUCHLEDGER_SPARK_FOLDER"] = str(settings.spark_folder.absolute())
    if settings.database_url is not None:
        url = sa.make_url(settings.operational_url)
        if url.get_backend_name() == "sqlite" and url.database:
            url = url.set(database=str(Path(url.database).absolute()))
        told["TOUCHLEDGER_DATABASE_URL"] = url.render_as_string(hide_password=False)
    return told


def start_sandbox(supervisor: Supervisor, settings: Settings) -> Child:
    """The bundled ad platform, store and payment processor."""
    return supervisor.start("sandbox", [sys.executable, "-m", "sandbox", str(settings.sandbox_port)])


def free_ports(settings: Settings, *names: str) -> None:
    """Raise a ClickException when one of the settings' ports is taken, or the host is none of this machine's."""
    try:
        for name in names:
            host, its = listener(settings, name)
            require_free(host, getattr(settings, name), f"TOUCHLEDGER_{name.upper()}", host_setting=its)
    except PortTakenError as error:
        raise click.ClickException(str(error)) from None


def alone(settings: Settings, name: str, *, purpose: str) -> AbstractContextManager[None]:
    """What one process at a time does in a state folder; on entering, WriterBusyError names who does it already."""
    own_folder.make(settings.home)
    return only_writer(settings.home / "locks" / f"{name}.lock", purpose=purpose)


def only_dagster(settings: Settings) -> AbstractContextManager[None]:
    """Dagster supports one daemon on its books, so one for a state folder. Raises WriterBusyError on entering."""
    return alone(settings, "daemon", purpose="run Dagster for this state folder")


def supervising(settings: Settings) -> Supervisor:
    """Who starts and ends the processes of a state folder, and keeps room on its disk."""
    return Supervisor(settings.home / "logs", log_mb=settings.log_mb, make_room=partial(make_room, settings))


def stop_on_signals() -> None:
    """Let both Ctrl-C and SIGTERM unwind, also where a shell started us with SIGINT ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _interrupt)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def wait_for(supervisor: Supervisor, child: Child, url: str) -> None:
    """Wait for a process to answer; a ClickException with the end of its log when it does not."""
    try:
        supervisor.wait_until_answers(child, url, within=START_SECONDS)
    except NotStartedError as error:
        raise click.ClickException(str(error)) from None


def watch(
    output: Output, supervisor: Supervisor, api: Child, tell: Callable[[], None], *, pulse: Pulse | None = None
) -> None:
    """Tell that all is served, and return on Ctrl-C; a ClickException when the API ends by itself.

    What else ends is told, and a Dagster that begins nothing, and the API serves on.
    """
    with asked_to_end() as asked:
        tell()
        while not asked and api.process.poll() is None:
            for child in supervisor.dismiss_ended(but=api):
                output.warn(f"{child.name} ended with code {child.process.returncode}; see {child.log}")
            dagster = next((child for child in supervisor.children if child.name == DAGSTER), None)
            supervisor.keep_room()
            if pulse is not None and dagster is not None and (trouble := pulse.trouble()):
                output.warn(f"Dagster begins nothing by itself: {trouble}; see {dagster.log}")
            time.sleep(POLL_SECONDS)
    if asked:
        return
    raise click.ClickException(f"the API ended with code {api.process.returncode}:\n{tail(api.log)}")


def serve_until_interrupted(output: Output, settings: Settings, *, with_pipeline: bool = False) -> None:
    """`touchledger serve`; with the pipeline, Dagster's schedules and sensors run beside it, for whatever is there.

    Raises WriterBusyError where they run already, and PooledHistoryError where they cannot.
    """
    free_ports(settings, "api_port", *(["dagster_port"] if with_pipeline else []))
    if with_pipeline:
        require_own_line(settings)
    with only_dagster(settings) if with_pipeline else nullcontext():
        _serve_until_interrupted(output, settings, with_pipeline=with_pipeline)


def _serve_until_interrupted(output: Output, settings: Settings, *, with_pipeline: bool) -> None:
    stop_on_signals()
    try:
        with supervising(settings) as supervisor:
            _serve(output, supervisor, settings, with_pipeline=with_pipeline)
    except KeyboardInterrupt:
        output.say("Ended before all of it had started; nothing is left running.")
        raise SystemExit(128 + signal.SIGINT) from None


def _serve(output: Output, supervisor: Supervisor, settings: Settings, *, with_pipeline: bool) -> None:
    api = start_api(supervisor, settings)
    start_worker(supervisor, settings)
    wait_for(supervisor, api, f"{api_address(settings)}/healthz")
    url = settings.base_url
    data, serving = {"url": url}, f"Serving on {url}"
    if with_pipeline:
        data["pipeline"] = dagster_address(settings)
        serving += f", the pipeline on {data['pipeline']}"
        _start_pipeline(output, supervisor, settings)
    pulse = Pulse(data["pipeline"]) if with_pipeline else None
    watch(output, supervisor, api, lambda: output.result(url, data, f"{serving}; Ctrl-C ends it."), pulse=pulse)


def _start_pipeline(output: Output, supervisor: Supervisor, settings: Settings) -> None:
    with output.working("Start Dagster"):
        try:
            # the first time takes dbt longer than Dagster waits for its code
            ensure_manifest(settings)
        except DbtParseError as error:
            raise click.ClickException(f"dbt cannot read the project:\n{error}") from None
        wait_for(supervisor, start_dagster(supervisor, settings), f"{dagster_address(settings)}/server_info")
