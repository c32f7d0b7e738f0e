"""The code location as a whole: what exists is written down, so that a moved edge is seen in review.

After a wanted change write it anew: `WRITE_SNAPSHOTS=1 pytest tests/orchestration/test_definitions.py`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from data_contracts.contract import landed, served
from orchestration.batch_file import raw_schema
from orchestration.dbt_manifest import PROJECT

WRITTEN = Path(__file__).parent / "definitions.json"


@pytest.fixture
def defs(home: Path) -> dg.Definitions:
    from orchestration.definitions import defs

    return defs


def outline(defs: dg.Definitions) -> dict[str, Any]:
    """Assets with what they depend on, jobs with what they run, schedules with their times, sensors with their job."""
    graph = defs.resolve_asset_graph()
    jobs = [job for job in defs.resolve_all_job_defs() if not job.name.startswith("__")]
    names = {key: key.to_user_string() for key in graph.get_all_asset_keys()}
    return {
        "assets": {
            names[key]: sorted(parent.to_user_string() for parent in graph.get(key).parent_keys)
            for key in sorted(names, key=names.__getitem__)
            if not names[key].startswith(("staging/", "intermediate/"))
        },
        "jobs": {job.name: len(job.asset_layer.selected_asset_keys) for job in sorted(jobs, key=lambda job: job.name)},
        "schedules": {one.name: [one.job_name, one.cron_schedule] for one in defs.schedules or []},
        "sensors": {one.name: [target.job_name for target in one.targets] for one in defs.sensors or []},
    }


def test_assets_jobs_and_times_are_those_written_down(defs: dg.Definitions) -> None:
    found = outline(defs)
    del found["jobs"]
    if os.environ.get("WRITE_SNAPSHOTS"):
        WRITTEN.write_text(json.dumps(found, indent=1) + "\n")
    assert found == json.loads(WRITTEN.read_text())


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """A process that loads the code location by itself, and what it wrote and said."""
    asked = (
        "import json, sys, orchestration.definitions, structlog, dagster_shared.libraries as known\n"
        "held = [name for name in ('dbt.version', 'dbt.adapters.base', 'networkx') if name in sys.modules]\n"
        "log = structlog.get_logger('orchestration.inbox')\n"
        "log.warning('not imported', file='of ada@example.com.csv', error='access_token=canary-1')\n"
        "secret = 'canary-2'\n"
        "try: 1 / 0\n"
        "except ZeroDivisionError as error: log.exception('failed', token=secret, exc_info=error)\n"
        "import dbt.version\n"
        "print(json.dumps([held, dbt.version.__version__, known.DagsterLibraryRegistry.get()]))"
    )
    home = {**os.environ, "TOUCHLEDGER_HOME": str(tmp_path_factory.mktemp("alone"))}
    return subprocess.run(
        [sys.executable, "-c", asked], env=home, capture_output=True, text=True, check=True, timeout=120
    )


def test_dbt_stays_out_of_dagsters_process_and_is_named_there(alone: subprocess.CompletedProcess[str]) -> None:
    held, installed, named = json.loads(alone.stdout.splitlines()[-1])
    assert held == []
    assert named["dbt-core"] == installed
    assert "dbt-fusion" not in named


def test_every_source_of_the_models_is_an_asset_that_lands(defs: dg.Definitions) -> None:
    graph = defs.resolve_asset_graph()
    assert {key.path[-1] for key in graph.get_all_asset_keys() if key.path[0] == "raw"} == set(landed())
    staged = [key for key in graph.get_all_asset_keys() if key.path[-1].startswith("stg_")]
    assert len(staged) > 10
    for key in staged:
        assert {parent.path[0] for parent in graph.get(key).parent_keys} == {"raw"}, key


def test_the_pages_of_landings_say_what_a_run_brings(defs: dg.Definitions) -> None:
    graph = defs.resolve_asset_graph()
    told = {name: graph.get(dg.AssetKey(["landing", name])).description or "" for name in ("ad_platform", "app")}
    assert "studies" in told["ad_platform"]
    assert [word for word in ("page events", "goals", "payers", "creatives") if word not in told["app"]] == []
    # it had promised what was created since the last pull, beside counts of weeks
    assert "the whole weeks that may still settle" in (
        graph.get(dg.AssetKey(["landing", "payments"])).description or ""
    )


def test_every_contract_has_a_blocking_check(defs: dg.Definitions) -> None:
    specs = [spec for asset in defs.resolve_asset_graph().assets_defs for spec in asset.check_specs]
    blocking = {(spec.asset_key.to_user_string(), spec.name) for spec in specs if spec.blocking}
    assert {(f"raw/{name}", "contract") for name in landed()} <= blocking
    assert {("published", f"contract_{name}") for name in served()} <= blocking


def test_every_table_shows_its_columns_and_what_is_never_null_in_them(defs: dg.Definitions) -> None:
    graph = defs.resolve_asset_graph()

    def shown(*key: str) -> dict[str, bool]:
        schema = graph.get(dg.AssetKey(key)).metadata["dagster/column_schema"]
        assert [column.name for column in schema.columns if not column.description] == []
        return {column.name: column.constraints.nullable for column in schema.columns}

    for name, contract in landed().items():
        # what withdraws a row has its key alone
        told = {column.name: column.name not in contract.keys for column in contract.columns}
        assert told.items() <= shown("raw", name).items()
        assert set(shown("raw", name)) == set(raw_schema(contract).names)
    for name, contract in served().items():
        assert shown("marts", name) == {column.name: not column.required for column in contract.columns}
    key = graph.get(dg.AssetKey(["marts", "profiles"])).metadata["dagster/column_schema"].constraints
    assert key.other == ["primary key (profile_key)"]


def test_every_test_of_the_models_is_a_check_and_every_check_says_what_it_finds(defs: dg.Definitions) -> None:
    specs = [spec for asset in defs.resolve_asset_graph().assets_defs for spec in asset.check_specs]
    assert {path.stem for path in (PROJECT / "tests").glob("*.sql")} - {spec.name for spec in specs} == set()
    assert [spec.name for spec in specs if not spec.description] == []


def test_the_pages_say_what_each_schedule_and_sensor_starts_and_when(defs: dg.Definitions) -> None:
    repository = defs.get_repository_def()
    found = {one.name: one.description for one in repository.schedule_defs}
    found |= {one.name: one.description for one in repository.sensor_defs}
    assert len(found) == 8
    assert [name for name, description in found.items() if not description] == []


def test_the_publication_waits_for_every_served_mart(defs: dg.Definitions) -> None:
    parents = defs.resolve_asset_graph().get(dg.AssetKey(["published"])).parent_keys
    assert {parent.to_user_string() for parent in parents} == {f"marts/{name}" for name in served()}


def test_the_night_runs_all_but_the_ranker_and_the_sync_only_pulls(defs: dg.Definitions) -> None:
    every = defs.resolve_asset_graph().get_all_asset_keys() - defs.resolve_asset_graph().external_asset_keys
    every = {key for key in every if key.path[0] != "ranking"}
    assert set(defs.resolve_job_def("ranking").asset_layer.selected_asset_keys).isdisjoint(every)
    assert set(defs.resolve_job_def("nightly").asset_layer.selected_asset_keys) == set(every)
    pulled = {key.to_user_string() for key in defs.resolve_job_def("sync").asset_layer.selected_asset_keys}
    assert pulled == {"landing/ad_platform", "landing/store", "landing/payments"}


def test_a_launched_build_names_an_engine_that_there_is(defs: dg.Definitions) -> None:
    # any other word was taken, and the models then ran on DuckDB
    build = defs.resolve_job_def("build")

    def named(engine: str) -> dict[str, Any]:
        return {"ops": {"warehouse": {"config": {"engine": engine}}}}

    for engine in ("duckdb", "spark"):
        assert dg.validate_run_config(build, named(engine))
    for engine in ("Spark", "oracle", ""):
        with pytest.raises(dg.DagsterInvalidConfigError, match="engine"):
            dg.validate_run_config(build, named(engine))


def test_no_job_has_a_maximum_of_its_own_instead_of_the_deployments(defs: dg.Definitions) -> None:
    for name in ("nightly", "hourly_delivery", "sync", "build", "ranking"):
        assert [tag for tag in defs.resolve_job_def(name).tags if tag.startswith("dagster/max_runtime")] == []


def test_the_ranker_reads_only_what_is_made_here(defs: dg.Definitions) -> None:
    graph = defs.resolve_asset_graph()
    read = graph.get(dg.AssetKey(["ranking", "model"])).parent_keys
    assert len(read) == 8
    assert not read & graph.external_asset_keys


def test_what_dagsters_processes_log_holds_no_address_and_no_token(alone: subprocess.CompletedProcess[str]) -> None:
    said = alone.stdout + alone.stderr
    assert ("not imported" in said, "ZeroDivisionError" in said) == (True, True)
    assert [mark for mark in ("ada@", "canary") if mark in said] == []
