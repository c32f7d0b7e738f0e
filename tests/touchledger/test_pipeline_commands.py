"""What a run says to whoever began it: what came of what was pulled, and why it failed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta

import pytest
from click.testing import CliRunner

from api.db import now
from tests.factories import accounts, connected
from tests.fixtures.processor import Processor, charge
from tests.fixtures.sandbox import served
from tests.touchledger.test_cli import run
from touchledger.cli import main
from touchledger.pipeline_commands import logs_of, more_memory
from touchledger.settings import Settings, load


@pytest.fixture
def processor(settings: Settings) -> Iterator[Processor]:
    """An account that a profile is connected to."""
    account = Processor()
    with served(account.app()) as account.url:
        profile = accounts.profile(settings.operational_url)
        connected.to_payments(settings.operational_url, profile, account.url, base_url=account.url)
        yield account


def test_a_sync_tells_the_rows_that_it_landed_and_those_in_quarantine(settings: Settings, processor: Processor) -> None:
    day = now().date() - timedelta(days=1)
    processor.lists["charges"] = [charge("good", day), charge("odd", day, currency="zzz")]
    done = json.loads(run("sync", "--json").stdout)
    assert (done["rows_loaded"], done["rows_quarantined"]) == (1, 1)
    assert run("sync").stdout.splitlines()[-1] == "Rows of the connections that landed: 1; in quarantine: 1."


def test_a_build_that_ran_out_of_memory_names_the_settings_that_give_it_more(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOUCHLEDGER_WAREHOUSE_MEMORY_LIMIT", "1KB")
    load.cache_clear()
    result = CliRunner().invoke(main, ["build", "--quiet"])
    assert (result.exit_code, result.stdout) == (1, "")
    way_out = "TOUCHLEDGER_WAREHOUSE_MEMORY_LIMIT, here 1KB: give it more, or lower TOUCHLEDGER_WAREHOUSE_THREADS.\n"
    assert way_out in result.stderr
    assert not list(settings.published.glob("served-*"))


@pytest.mark.parametrize(
    "ended",
    [
        "(executor 3 exited caused by one of the running tasks) Reason: Command exited with code 52",
        "(executor 3 exited caused by one of the running tasks) Reason: Command exited with code 137",
        "(127.0.0.1 executor 3): java.lang.OutOfMemoryError: Java heap space",
    ],
)
def test_executors_that_ran_out_of_memory_are_told_with_the_settings_that_give_them_more(
    settings: Settings, ended: str
) -> None:
    # the number that an executor ended with was all that was told
    way_out = more_memory(settings, f"Job aborted due to stage failure: ExecutorLostFailure {ended}")
    assert "TOUCHLEDGER_SPARK_EXECUTOR_MEMORY, here 2g" in way_out
    assert more_memory(settings, "Lost executor 3: Command exited with code 1") == ""


def test_a_build_that_failed_on_spark_names_the_log_that_spark_writes_too(settings: Settings) -> None:
    # where the cluster was not reached, the one that was named alone is empty
    own, sparks = (settings.home / "logs" / name for name in ("pipeline.log", "spark.log"))
    assert logs_of(settings, on_spark=False) == f"Its log: {own}"
    assert logs_of(settings, on_spark=True) == f"Its log: {own}\nSpark's own: {sparks}"
