"""One real run of the build, and what stops the next one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import dagster as dg
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from dagster._core.storage.tags import REPOSITORY_LABEL_TAG as LABEL

from api.migrate import upgrade
from orchestration import pointer
from orchestration.dbt_manifest import target
from orchestration.importer import import_file
from orchestration.lake import Lake
from orchestration.locks import WriterBusyError, only_writer
from orchestration.pipeline import Listener, Outcome, Progress, dg_run_id, run_job
from tests.factories.deployments import migrate
from tests.fixtures.waiting_dbt import waiting_dbt
from touchledger import settings as settings_module
from touchledger.accounts import create_profile
from touchledger.settings import REPOSITORY, Settings

# as dagster-dbt repeats what dbt says of a model on Spark
OF_SPARK = r"""ERROR creating sql table model marts.entity_reach
  : org.apache.spark.SparkException: [TASK_WRITE_FAILED] Task failed while writing rows
  \tat org.apache.spark.SparkContext.runJob(SparkContext.scala:2490)
  \t... 34 more
  Caused by: java.io.IOException: No space left on device
  \t\tat java.base/java.lang.Thread.run(Thread.java:840)"""
# as a terminal does it: all processes of the group are told, once those beside a step have begun
STOPPED = """
import os, signal, time
from orchestration.pipeline import run_job
from touchledger.settings import load
from touchledger.state import prepare

def stop(step):
    if step.kind == "started":
        time.sleep(2)
        os.killpg(0, signal.SIGINT)

prepare(load())
signal.signal(signal.SIGINT, signal.default_int_handler)
outcome = run_job(load(), "sync", listen=stop)
print(outcome.success, outcome.was_stopped)
"""

TOUCHES = "touch_key,occurred_at,anonymous_id,channel,origin,is_direct\n" + "".join(
    f"t{n},2026-03-0{1 + n % 9}T12:00:00Z,a{n},web,web,true\n" for n in range(20)
)


@dataclass
class Built:
    """A deployment after one build."""

    settings: Settings
    outcome: Outcome
    steps: list[Progress]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    home = tmp_path_factory.mktemp("built")
    with pytest.MonkeyPatch.context() as patch:
        # the code location was loaded for another state folder
        patch.setenv("TOUCHLEDGER_HOME", str(home.with_name("elsewhere")))
        settings_module.load.cache_clear()
        import_module("orchestration.definitions")
        patch.setenv("TOUCHLEDGER_HOME", str(home))
        settings_module.load.cache_clear()
        settings = settings_module.load()
        migrate(settings)
        Lake(settings.lake).prepare()
        profile = create_profile(settings, name="p", timezone="UTC", currency="EUR")
        (home / "touches.csv").write_text(TOUCHES)
        import_file(
            settings.operational_url,
            Lake(settings.lake),
            dataset="touches",
            path=home / "touches.csv",
            profile_id=profile,
        )
        steps: list[Progress] = []
        with waiting_dbt():
            outcome = run_job(settings, "build", listen=steps.append)
        yield Built(settings, outcome, steps)
    settings_module.load.cache_clear()


@pytest.fixture(autouse=True)
def environment_of(built: Built, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHLEDGER_HOME", str(built.settings.home))
    settings_module.load.cache_clear()


def metadata(built: Built, asset: str) -> dict[str, Any]:
    return built.outcome.assets[asset]


def test_a_build_ends_with_a_published_snapshot(built: Built) -> None:
    assert built.outcome.problems == []
    current = pointer.read(built.settings.published)
    assert current is not None
    assert metadata(built, "published")["snapshot"] == current.snapshot_id


def test_a_run_of_a_command_is_a_run_of_the_code_location_that_dagsters_pages_show(built: Built) -> None:
    # the page of the job said that nobody had ever run it, and the timeline left the run out
    (location,) = yaml.safe_load((REPOSITORY / "workspace.yaml").read_text())["load_from"]
    name = location["python_module"]["location_name"]
    with dg.DagsterInstance.get() as instance:
        (run,) = instance.get_runs(dg.RunsFilter(job_name="build", tags={LABEL: f"__repository__@{name}"}))
    assert run.run_id == built.outcome.run_id
    assert run.remote_job_origin is not None
    assert run.remote_job_origin.repository_origin.get_label() == f"__repository__@{name}"


def test_the_profile_is_in_the_snapshot(built: Built) -> None:
    current = pointer.read(built.settings.published)
    assert current is not None
    with duckdb.connect(str(built.settings.published / current.file), read_only=True) as connection:
        assert connection.execute("select time_zone, currency from profiles").fetchall() == [("UTC", "EUR")]


def test_an_operator_sees_rows_quarantine_watermark_and_a_plot(built: Built) -> None:
    seen = metadata(built, "raw/touches")
    assert (seen["dagster/row_count"], seen["profiles"], seen["quarantined"]) == (20, 1, 0)
    assert seen["watermark"].startswith("20")
    assert "data:image/png;base64," in seen["by day"]


def test_an_operator_reads_every_statement_of_dbt_in_its_log(built: Built) -> None:
    log = (target(built.settings) / "dbt.log").read_text()
    assert "On model.touchledger.credit_daily:" in log
    assert '{"data"' not in log


def test_dbt_does_not_parse_again_what_was_parsed_for_another_state_folder(built: Built) -> None:
    assert "Nothing changed, skipping partial parsing" in (target(built.settings) / "dbt.log").read_text()


def test_landings_come_before_checks_before_models_before_the_publication(built: Built) -> None:
    started = [step.step for step in built.steps if step.kind == "started"]
    order = [started.index(name) for name in ("landing__app", "raw__touches", "warehouse", "published")]
    assert order == sorted(order)


def test_a_raw_row_that_breaks_its_contract_stops_the_run_before_the_models(built: Built) -> None:
    before = pointer.read(built.settings.published)
    broken = _break_a_row(built.settings.lake)
    try:
        with waiting_dbt():
            outcome = run_job(built.settings, "build")
    finally:
        broken.unlink()
    assert not outcome.success
    told = "raw/touches: contract did not pass: channel: column_values_to_not_be_null, "
    assert outcome.problems[0].startswith(told) and outcome.problems[0].endswith("/0-broken.parquet")
    assert "warehouse" not in outcome.seconds
    assert pointer.read(built.settings.published) == before


def test_a_database_that_knows_nobody_of_the_lake_publishes_nothing_over_its_figures(
    built: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # an address of a new database was set, or the old one lost: the next build served an empty snapshot
    before, lake = pointer.read(built.settings.published), Lake(built.settings.lake)
    monkeypatch.setenv("TOUCHLEDGER_DATABASE_URL", f"sqlite:///{tmp_path}/other.db")
    settings_module.load.cache_clear()
    other = settings_module.load()
    upgrade(other.operational_url)
    settled = lake.batches("profiles")
    with waiting_dbt():
        outcome = run_job(other, "build")
    assert f"knows none of the profiles whose rows {lake.root} holds: name the database" in outcome.problems[0]
    assert "TOUCHLEDGER_DATABASE_URL" in outcome.problems[0]
    assert (pointer.read(built.settings.published), lake.batches("profiles")) == (before, settled)


def _break_a_row(lake: Path) -> Path:
    # as if an older version had let it in: no channel, though the contract requires one
    (good,) = lake.glob("raw/touches/*/*/*.parquet")
    table = pq.read_table(good, partitioning=None)
    channel = table.schema.get_field_index("channel")
    broken = good.with_name("0-broken.parquet")
    table = table.set_column(channel, "channel", pa.nulls(table.num_rows, pa.string()))
    with pq.ParquetWriter(broken, table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({b"touchledger": pq.read_metadata(good).metadata[b"touchledger"]})
    return broken


def test_a_run_whose_process_was_killed_is_failed_by_the_next_one(built: Built) -> None:
    from orchestration.instance import PID_TAG, fail_orphans

    with dg.DagsterInstance.get() as instance:
        dead = instance.add_run(
            dg.DagsterRun(
                job_name="build", run_id="dead", status=dg.DagsterRunStatus.STARTED, tags={PID_TAG: "999999999"}
            )
        )
        assert fail_orphans(instance) == [dead.run_id]
        run = instance.get_run_by_id("dead")
        assert run is not None
        assert run.status == dg.DagsterRunStatus.FAILURE


def test_ctrl_c_stops_a_run_and_nothing_beside_it_speaks(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STOPPED], capture_output=True, text=True, check=False, start_new_session=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "False True\n", "")


def test_a_terminal_is_told_what_spark_says_and_not_where_in_java_it_was() -> None:
    # one full disk was a thousand lines, and what it was stood between them
    @dg.op
    def models() -> None:
        raise RuntimeError(OF_SPARK)

    @dg.job
    def spark() -> None:
        models()

    outcome = Outcome(dg_run_id())
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_event_listener(outcome.run_id, Listener(outcome, lambda _: None))
        spark.execute_in_process(instance=instance, run_id=outcome.run_id, raise_on_error=False)
    (problem,) = outcome.problems
    assert problem.splitlines() == [
        "models: RuntimeError: ERROR creating sql table model marts.entity_reach",
        "  : org.apache.spark.SparkException: [TASK_WRITE_FAILED] Task failed while writing rows",
        "  Caused by: java.io.IOException: No space left on device",
    ]


def test_a_second_writer_is_told_who_writes(built: Built, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orchestration.resources.WAIT_SECONDS", 0.0)
    lock = built.settings.home / "locks" / "warehouse.lock"
    with only_writer(lock, purpose="test"):
        outcome = run_job(built.settings, "build")
        with pytest.raises(WriterBusyError), only_writer(lock, purpose="again"):
            pass
    assert not outcome.success
    assert "cannot write the warehouse" in "\n".join(outcome.problems)
