"""`touchledger up`: the demo, from an empty folder to an answered request."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Thread

import click

from orchestration.dbt_manifest import DbtParseError, ensure_manifest
from touchledger import serving
from touchledger.dagster_pulse import Pulse
from touchledger.data_docs import describes_the_models, write_data_docs
from touchledger.demo import Demo, DemoAheadError, OtherDemoError, ensure_demo, put_tracker_on_shop, require_own
from touchledger.demo_figures import addresses, figures, table_of
from touchledger.output import Output
from touchledger.pipeline_commands import run_shown
from touchledger.settings import Settings
from touchledger.state import logging_to_file, prepare
from touchledger.supervisor import Supervisor


def run(output: Output, settings: Settings, *, once: bool) -> None:
    """Build the demo and print its campaigns; unless `once`, serve it until Ctrl-C.

    Raises WriterBusyError while another process does so in the same state folder.
    """
    ports = ["sandbox_port"] if once else ["sandbox_port", "api_port", "dagster_port"]
    serving.free_ports(settings, *ports)
    with ExitStack() as held:
        # another one's sandbox would be the address of the demo's accounts, and end with it
        held.enter_context(serving.alone(settings, "demo", purpose="run the demo of this state folder"))
        if not once:
            held.enter_context(serving.only_dagster(settings))
        _run(output, settings, once=once)


def _run(output: Output, settings: Settings, *, once: bool) -> None:
    serving.stop_on_signals()
    try:
        with logging_to_file(settings), serving.supervising(settings) as supervisor:
            demo = _build(output, settings, supervisor)
            if once:
                _write_docs(output, settings)
                found = figures(settings, demo)
                output.result(found.bare, found.data, table_of(found))
            else:
                _serve(output, settings, supervisor, demo)
        if not once:
            output.say("Ended; nothing is left running.")
    except KeyboardInterrupt:
        output.say("Ended before it was done; nothing is left running.")
        raise SystemExit(128 + signal.SIGINT) from None


def _build(output: Output, settings: Settings, supervisor: Supervisor) -> Demo:
    sandbox = serving.start_sandbox(supervisor, settings)
    with output.working("Prepare the state folder, the database and the demo"), _manifest_meanwhile(settings):
        demo = prepared_demo(settings)
    with output.working("Start the sandbox: an ad platform, a store, a payment processor"):
        serving.wait_for(supervisor, sandbox, f"{settings.sandbox_url}/__sandbox__/health")
    run_shown(output, settings, "nightly")
    return demo


@contextmanager
def _manifest_meanwhile(settings: Settings) -> Iterator[None]:
    """Let dbt read its project, in a process of its own, while the block runs."""
    failures: list[DbtParseError] = []

    def parse() -> None:
        try:
            ensure_manifest(settings)
        except DbtParseError as error:
            failures.append(error)

    parsing = Thread(target=parse)
    parsing.start()
    try:
        yield
    finally:
        parsing.join()
    if failures:
        raise click.ClickException(f"dbt cannot read the project:\n{failures[0]}")


def prepared_demo(settings: Settings) -> Demo:
    """The demo in a state folder and a database that are ready. Raises a ClickException where it cannot be made."""
    try:
        # before the database is this version's: the one that made another demo can go on with it
        world = require_own(settings)
        prepare(settings)
        return ensure_demo(settings, world)
    except (OtherDemoError, DemoAheadError) as error:
        raise click.ClickException(str(error)) from None


def _write_docs(output: Output, settings: Settings) -> None:
    if not describes_the_models(settings):
        with output.working("Write the data docs"):
            write_data_docs(settings)


def _serve(output: Output, settings: Settings, supervisor: Supervisor, demo: Demo) -> None:
    api, dagster = serving.start_api(supervisor, settings), serving.start_dagster(supervisor, settings)
    serving.start_worker(supervisor, settings)
    _write_docs(output, settings)
    found = figures(settings, demo)
    with output.working("Start the API"):
        serving.wait_for(supervisor, api, f"{serving.api_address(settings)}/readyz")
    with output.working("Start Dagster"):
        serving.wait_for(supervisor, dagster, f"{serving.dagster_address(settings)}/server_info")
    put_tracker_on_shop(settings, demo)
    shown = table_of(found), addresses(found, settings)
    pulse = Pulse(serving.dagster_address(settings))
    serving.watch(output, supervisor, api, lambda: output.result(found.bare, found.data, *shown), pulse=pulse)
