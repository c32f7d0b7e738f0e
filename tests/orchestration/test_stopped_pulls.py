"""A run that is told to stop while it pulls ends there, and so does what it pulls."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from threading import Thread

import pytest
import sqlalchemy as sa

from api.db import transaction
from api.models import Connection, ConnectionSync
from connectors.errors import OutOfTime
from orchestration.lake import Lake
from orchestration.pulls import Pull
from orchestration.sync import sync_kind
from tests.factories import accounts, connected
from tests.fixtures.sandbox import TODAY, RunningSandbox
from tests.fixtures.waiting import AT_MOST, wait_until
from tests.orchestration.test_sync import DAYS, connect, reload
from touchledger.settings import Settings

# Dagster raises the same of a run that is cancelled on its page as of Ctrl-C
STOPPED = """
import signal
from orchestration.pipeline import run_job
from touchledger.settings import load

steps = []

def stop(step):
    if step.kind == "started":
        steps.append(step.step)

signal.signal(signal.SIGINT, signal.default_int_handler)
outcome = run_job(load(), "sync", listen=stop)
print(outcome.success, outcome.was_stopped, *steps)
"""


def ended(settings: Settings) -> list[tuple[str, str | None]]:
    """Status and error of each sync."""
    with transaction(settings.operational_url) as session:
        return [(one.status, one.error) for one in session.scalars(sa.select(ConnectionSync))]


def test_a_run_that_is_stopped_while_it_pulls_begins_nothing_more(settings: Settings, sandbox: RunningSandbox) -> None:
    # the interrupt was taken for a failure: the step began again half a minute later, after the steps behind it, and
    # the pulls went on to their end in any case
    connect(settings, sandbox, synced_through=None)
    with sandbox.holding("/insights$") as held:
        run = subprocess.Popen([sys.executable, "-c", STOPPED], stdout=subprocess.PIPE, text=True)
        assert held.acquire(timeout=AT_MOST)
        run.send_signal(signal.SIGINT)
        wait_until(lambda: ended(settings) == [("failed", "abandoned")] * 2)
    told, _ = run.communicate(timeout=AT_MOST)
    assert (run.returncode, told) == (0, "False True landing__ad_platform\n")
    assert ended(settings) == [("failed", "abandoned")] * 2


def test_a_pull_that_breaks_on_a_fault_of_our_own_is_no_sync_that_runs(
    settings: Settings, sandbox: RunningSandbox
) -> None:
    # it went on being told as running, and was the answer to whoever asked for another
    connect(settings, sandbox)
    lake = Lake(settings.lake)
    lake.prepare()
    shutil.rmtree(lake.raw / "campaigns")
    (lake.raw / "campaigns").touch()
    with pytest.raises(OSError, match="campaigns"):
        sync_kind(settings, lake, "ad_platform", DAYS)
    assert ended(settings) == [("failed", "abandoned")] * 2


def test_a_pull_that_waits_for_its_provider_is_stopped_at_once(settings: Settings, sandbox: RunningSandbox) -> None:
    connection = reload(settings, connect(settings, sandbox)[0])
    pull = Pull(settings, connection, Lake(settings.lake), TODAY, DAYS)
    transport = pull.asking()
    waiting = Thread(target=transport.sleep, args=[600], daemon=True)
    waiting.start()
    pull.stop()
    waiting.join(60)
    assert not waiting.is_alive()
    for one in (transport, pull.asking()):
        with pytest.raises(OutOfTime):
            one.sleep(0)


def test_a_pull_that_takes_longer_than_its_run_has_for_it_is_ended_and_noted(
    settings: Settings, sandbox: RunningSandbox
) -> None:
    # everybody's figures waited for it: five times as long as it said, or without end where it went on and on
    slow, other = connect(settings, sandbox)
    with transaction(settings.operational_url) as session:
        session.get_one(Connection, other).status = "disconnected"
    lake = Lake(settings.lake)
    lake.prepare()
    sandbox.plan({"route": "/insights$", "kind": "throttled", "wait": 100, "times": None})
    (pull,) = sync_kind(settings, lake, "ad_platform", DAYS, longest=4)
    assert pull.failure is not None and pull.failure.reason == "timeout"
    assert (ended(settings), reload(settings, slow).status_reason) == ([("failed", "timeout")], "timeout")


def test_the_first_history_of_a_store_which_comes_whole_or_not_at_all_has_twice_the_time(
    settings: Settings, sandbox: RunningSandbox
) -> None:
    # a shop of some hundred thousand orders would never have come by itself
    store = connected.to_store(settings.operational_url, accounts.profile(settings.operational_url), sandbox.url)
    lake = Lake(settings.lake)
    lake.prepare()
    sandbox.plan({"route": "/graphql.json$", "kind": "throttled", "wait": 100, "times": None})
    begun = time.monotonic()
    (pull,) = sync_kind(settings, lake, "store", longest=3)
    assert pull.failure is not None and pull.failure.reason == "timeout"
    assert time.monotonic() - begun >= 6
    assert connected.reload(settings.operational_url, store).status_reason == "timeout"
