"""What a Spark application is told, and how its marts come back; the cluster itself is in `make spark-parity`."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data_contracts.contract import landed
from orchestration import spark, spark_run
from orchestration.lake import Lake
from touchledger.settings import Settings

MASTER = "spark://cluster:7077"
KILLED = """
import os, signal, sys
import duckdb
connection = duckdb.connect(sys.argv[1])
connection.execute("create schema marts; create table marts.old as select 1 as one; checkpoint")
connection.execute("create or replace table marts.entities as select 42 as one")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def told(home: Path) -> Settings:
    """Settings whose Spark is a script that keeps what it is told, and ends as `verdict` says."""
    python = home / "environment" / "bin" / "python"
    python.parent.mkdir(parents=True)
    keeps = f'echo "$@" > {home}/arguments\ncat > {home}/plan.json\nenv > {home}/variables'
    python.write_text(f"#!/bin/sh\n{keeps}\nexit $(cat {home}/verdict)\n")
    python.chmod(0o755)
    (home / "verdict").write_text("0")
    return Settings(home=home, spark_master=MASTER, spark_environment=home / "environment")


def test_the_application_is_told_the_cluster_the_lake_and_what_dbt_shall_do(told: Settings) -> None:
    Lake(told.lake).prepare()
    (told.lake / "raw" / "fx_rates" / "_shared").mkdir()
    assert spark.run_models(told, ["build"]) == 0
    plan = json.loads((told.home / "plan.json").read_text())
    assert plan["master"] == MASTER
    assert plan["command"][0] == "build"
    assert plan["command"][-2:] == ["--target", "spark"]
    tables = {table["name"]: table for table in plan["tables"]}
    assert tables.keys() == landed().keys()
    held = spark_run.folder(told) / "lake"
    assert tables["fx_rates"]["folders"] == [f"file:{held}/fx_rates", f"file:{held}/fx_rates/_shared"]
    assert tables["touches"]["folders"] == [f"file:{held}/touches"]
    assert "`occurred_at` timestamp_ltz" in tables["touches"]["columns"]
    assert "`value` decimal(18, 4)" in tables["conversions"]["columns"]
    assert (told.home / "arguments").read_text().split() == ["-P", str(spark.DRIVER)]


def test_the_application_keeps_to_files_whatever_file_system_the_cluster_has(told: Settings) -> None:
    # on one whose Hadoop stores in HDFS every set was empty, and what was built, with people, stayed in there
    spark.run_models(told, ["build"])
    plan = json.loads((told.home / "plan.json").read_text())
    assert plan["marts"] == f"file:{spark.marts_folder(told)}"
    assert plan["conf"]["spark.sql.warehouse.dir"] == f"file:{spark_run.folder(told)}/warehouse"
    assert all(
        folder.startswith(f"file:{spark_run.folder(told)}/lake/")
        for table in plan["tables"]
        for folder in table["folders"]
    )


def test_what_lands_during_a_run_is_not_in_it_and_takes_nothing_from_it(told: Settings) -> None:
    # of a file that a pull replaced by a longer one Spark read no row, neither old nor new, and the build ended well
    lake = Lake(told.lake)
    lake.prepare()
    named = {"dataset": "ads", "profile_id": "p", "source": "meta", "batch": "all"}
    ad = {"platform": "meta", "ad_set_id": "s", "campaign_id": "c", "name": "Boots", "status": "ACTIVE"}
    landed = lake.land(**named, records=[{**ad, "ad_id": "1"}]).path
    (landed.parent / ".next.tmp").write_text("half a file")
    spark.run_models(told, ["build"])
    lake.land(**named, records=[{**ad, "ad_id": str(number)} for number in range(2, 500)])
    (held,) = [
        path for path in (spark_run.folder(told) / "lake" / "ads").rglob("*") if path.is_file() and path.name[0] != "_"
    ]
    assert held.relative_to(spark_run.folder(told) / "lake") == landed.relative_to(told.lake / "raw")
    assert pq.read_table(held, partitioning=None)["ad_id"].to_pylist() == ["1"]
    spark_run.clear(told)
    assert pq.read_table(landed, partitioning=None).num_rows == 498


def test_a_file_that_can_have_no_second_name_is_copied(tmp_path: Path) -> None:
    # on another file system, as a data set that is linked to another disk
    spark.link_or_copy("/proc/version", str(tmp_path / "version"))
    assert (tmp_path / "version").read_text() == Path("/proc/version").read_text()


def test_a_setting_of_ones_own_comes_last(told: Settings) -> None:
    own = told.model_copy(update={"spark_conf": {"spark.executor.memory": "9g", "spark.executor.cores": "4"}})
    spark.run_models(own, ["build"])
    conf = json.loads((told.home / "plan.json").read_text())["conf"]
    assert (conf["spark.executor.memory"], conf["spark.executor.cores"]) == ("9g", "4")
    assert conf["spark.sql.decimalOperations.allowPrecisionLoss"] == "false"


def test_what_a_cluster_sets_for_others_neither_loses_rows_nor_moves_dates(told: Settings) -> None:
    # by its spark-defaults.conf files that a worker did not reach were passed over in silence, and 1500 was 1499
    spark.run_models(told, ["build"])
    conf = json.loads((told.home / "plan.json").read_text())["conf"]
    kept = {name: value for name, value in conf.items() if "ignore" in name or "Rebase" in name}
    assert kept == {
        "spark.sql.files.ignoreCorruptFiles": "false",
        "spark.sql.files.ignoreMissingFiles": "false",
        "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
        "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    }
    assert conf["spark.sql.sources.default"] == "parquet"


def test_what_the_application_puts_aside_lies_where_a_run_is_cleared(told: Settings) -> None:
    # of one that was killed, shuffles stayed in /tmp for every user to read, and no erasure took the people out
    for folder in ("shared", "one, two", "one:two"):
        settings = told.model_copy(update={"spark_folder": told.home / folder})
        spark.run_models(settings, ["build"])
        conf = json.loads((told.home / "plan.json").read_text())["conf"]
        own = str(spark_run.folder(settings) / "own")
        # which Spark would read as two folders
        assert conf.get("spark.local.dir") == (None if "," in folder else own)
        # what Spark asks before SPARK_LOCAL_DIRS, which may be set for the workers of this machine
        assert _variables(told).get("SPARK_EXECUTOR_DIRS") == (None if ":" in folder else own)


@pytest.mark.parametrize("conf", [None, "/etc/spark"])
def test_the_spark_of_the_environment_runs_whatever_other_one_the_machine_has(
    told: Settings, monkeypatch: pytest.MonkeyPatch, conf: str | None
) -> None:
    # that of SPARK_HOME ran the models, of whatever version, and nothing said so
    monkeypatch.setenv("SPARK_HOME", "/opt/spark-3")
    if conf:
        monkeypatch.setenv("SPARK_CONF_DIR", conf)
    spark.run_models(told, ["build"])
    variables = _variables(told)
    assert "SPARK_HOME" not in variables
    # what the operator set for the cluster, as its secret, still holds
    assert variables["SPARK_CONF_DIR"] == (conf or "/opt/spark-3/conf")


def test_dbts_verdict_is_the_applications(told: Settings) -> None:
    (told.home / "verdict").write_text("1")
    assert spark.run_models(told, ["build"]) == 1


def test_the_marts_take_the_place_of_the_old_warehouse_and_leave_nobody_behind(told: Settings) -> None:
    with duckdb.connect(str(told.warehouse)) as connection:
        connection.execute("create schema staging; create table staging.people as select 'ann@example.com' as email")
    _hand_over(told)
    assert spark.take_marts(told)["entities"] == 1
    spark_run.clear(told)
    with duckdb.connect(str(told.warehouse), read_only=True) as connection:
        schemas = connection.execute("select distinct schema_name from duckdb_tables() order by 1").fetchall()
    assert schemas == [("intermediate",), ("marts",)]
    assert not spark.marts_folder(told).parent.exists()


def test_the_log_of_a_build_that_was_killed_is_not_taken_for_the_new_warehouses(told: Settings) -> None:
    for path in (told.warehouse, told.warehouse.with_name(f"building-{told.warehouse.name}")):
        subprocess.run([sys.executable, "-c", KILLED, path], check=False)
        assert path.with_name(f"{path.name}.wal").exists()
    _hand_over(told)
    spark.take_marts(told)
    with duckdb.connect(str(told.warehouse), read_only=True) as connection:
        assert connection.execute("select count(*) from marts.entities").fetchall() == [(1,)]
        assert connection.execute("select * from duckdb_tables() where table_name = 'old'").fetchall() == []
    assert [path.name for path in told.home.glob("*warehouse.duckdb*")] == ["warehouse.duckdb"]


def test_ids_come_back_as_ids_though_spark_has_texts_only(told: Settings) -> None:
    _hand_over(told)
    of_one = "aaaaaaaa-0000-8000-8000-000000000101"
    touches = spark.modelled()["touches"].arrow_schema()
    row = pa.Table.from_pylist([{"touch_id": of_one}], schema=touches)
    pq.write_table(row, spark.marts_folder(told) / "marts.touches" / "part-0.parquet")
    spark.take_marts(told)
    with duckdb.connect(str(told.warehouse), read_only=True) as connection:
        assert connection.execute("select touch_id from marts.touches").fetchall() == [(uuid.UUID(of_one),)]


def test_marts_that_cannot_be_read_leave_the_old_warehouse(told: Settings) -> None:
    with duckdb.connect(str(told.warehouse)) as connection:
        connection.execute("create table old as select 1 as one")
    _hand_over(told)
    (spark.marts_folder(told) / "marts.entities" / "part-0.parquet").write_bytes(b"half a file")
    with pytest.raises(duckdb.Error):
        spark.take_marts(told)
    with duckdb.connect(str(told.warehouse), read_only=True) as connection:
        assert connection.execute("select one from old").fetchall() == [(1,)]


def _hand_over(settings: Settings) -> None:
    """One row of nulls of every relation that an application hands over."""
    contracts = spark.modelled()
    for relation in spark.wanted():
        name = relation.partition(".")[2]
        schema = contracts[name].arrow_schema() if name in contracts else pa.schema([("window_key", pa.int32())])
        folder = spark.marts_folder(settings) / relation
        folder.mkdir(parents=True)
        rows = pa.Table.from_arrays([pa.nulls(1, field.type) for field in schema], schema=schema)
        pq.write_table(rows, folder / "part-0.parquet")


def _variables(told: Settings) -> dict[str, str]:
    """What the environment of the application was."""
    return dict(line.split("=", 1) for line in (told.home / "variables").read_text().splitlines() if "=" in line)
