"""A run that is told to stop while it pulls ends there, and so does what it pulls."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from threading import Thread

import pytest
import sqlalchemy as sa

from api.db import transaction
from api.models import ConnectionSync
from connectors.errors import OutOfTime
from orchestration.lake import Lake
from orchestration.pulls import Pull
from orchestration.sync import sync_kind
from tests.fixtures.sandbox import TODAY, RunningSandbox
from tests.orchestration.test_sync import DAYS, connect, reload
from touchledger.settings import Settings

INSIGHTS = {"route": "/insights$", "times": None}
# Dagster raises the same of a run that is cancelled on its page as of Ctrl-C
STOPPED = """
import os, signal, threading
from orchestration.pipeline import run_job
from touchledger.settings import load

steps = []

def stop(step):
    if step.kind == "started":
        steps.append(step.step)
        threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()

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
    sandbox.plan({**INSIGHTS, "kind": "delay", "seconds": 2.0})
    done = subprocess.run([sys.executable, "-c", STOPPED], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "False True landing__ad_platform\n")
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
    began, waiting = time.monotonic(), Thread(target=transport.sleep, args=[60])
    waiting.start()
    pull.stop()
    waiting.join()
    assert time.monotonic() - began < 5
    for one in (transport, pull.asking()):
        with pytest.raises(OutOfTime):
            one.sleep(0)
