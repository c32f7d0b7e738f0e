"""The warehouse: every dbt model, seed and test, in one dbt process."""

import signal
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

import dagster as dg

from data_contracts.contract import modelled
from orchestration import spark, spark_needs, spark_run
from orchestration.assets.column_schemas import served_schema
from orchestration.dagster_dbt import (
    DagsterDbtCliRuntimeError,
    DagsterDbtTranslator,
    DagsterDbtTranslatorSettings,
    DbtCliInvocation,
    dbt_assets,
)
from orchestration.dbt_manifest import ensure_manifest, target
from orchestration.dbt_process import ON_SPARK
from orchestration.lake_owners import require_its_lake
from orchestration.resources import Deployment, Warehouse, WarehouseDbt
from orchestration.room import leaving_room
from orchestration.says_why import says_why
from orchestration.warehouse_state import rebuilding
from touchledger.settings import Settings, load


class Engine(Enum):
    """What can run the models. Dagster takes the names, and refuses every other before a run begins."""

    duckdb = "duckdb"
    spark = "spark"


class Rebuild(dg.Config):
    """`full_refresh` builds every table from nothing; `engine` is the deployment's own unless it is named."""

    full_refresh: bool = False
    engine: Engine | None = None


class Stations(DagsterDbtTranslator):
    """Groups the models by the station of the way that a touch takes: staging, people, paths, credit, marts."""

    def get_group_name(self, dbt_resource_props: Mapping[str, Any]) -> str:
        names: list[str] = dbt_resource_props["fqn"]
        layer, *folders = names[1:-1] or ["seeds"]
        return folders[0] if layer == "intermediate" else layer

    def get_metadata(self, dbt_resource_props: Mapping[str, Any]) -> Mapping[str, Any]:
        """As dbt tells it; the columns of a mart as its contract does, with its key and what is never null."""
        told = super().get_metadata(dbt_resource_props)
        # sources may have a mart's name
        if dbt_resource_props["resource_type"] != "model" or dbt_resource_props["name"] not in modelled():
            return told
        return {**told, **served_schema(modelled()[dbt_resource_props["name"]])}


@dbt_assets(
    manifest=ensure_manifest(load()),
    dagster_dbt_translator=Stations(DagsterDbtTranslatorSettings(enable_source_tests_as_checks=True)),
    name="warehouse",
    pool="warehouse",
)
@says_why
def warehouse_assets(
    context: dg.AssetExecutionContext, config: Rebuild, dbt: WarehouseDbt, deployment: Deployment, warehouse: Warehouse
) -> Iterator[Any]:
    """Staging, identities, paths, credit and marts, from the raw files alone."""
    settings = deployment.settings
    # begun alone, by hand, no landing has asked before
    require_its_lake(settings.operational_url, deployment.lake)
    on_spark = (config.engine or Engine(settings.engine)) is Engine.spark
    if on_spark:
        # before the warehouse is marked unfinished, and said where the run is looked at
        if context.is_subset:
            raise PartOnSparkError(
                "a run on Spark builds every model, for it finds none of an earlier run: begin the job `build`,"
                " or a run that failed again with all of its steps"
            )
        spark_needs.require_cluster(settings)
    with leaving_room(settings), rebuilding(settings, token=warehouse.token, whole=not context.is_subset):
        folder = spark.target(settings) if on_spark else target(settings)
        if not on_spark:
            # this process may have parsed the project for another state folder, or somebody emptied this one since
            ensure_manifest(settings)
        try:
            process = dbt.cli(_command(config, on_spark), context=context, target_path=folder)
            yield from told(process, settings, on_spark=on_spark)
        finally:
            if on_spark:
                # a build that is stopped ends dbt's process before that has cleared
                spark_run.clear_after_a_stop(settings)


class PartOnSparkError(RuntimeError):
    """Some of the models or their tests were asked of Spark; nothing was begun."""


class KilledError(RuntimeError):
    """dbt's process was killed; the message says what that mostly is, and what helps."""


def told(dbt: DbtCliInvocation, settings: Settings, *, on_spark: bool) -> Iterator[Any]:
    """What dbt says, as Dagster takes it. However it ends, dbt's process is gone.

    Raises dg.Failure, and KilledError where dbt's process is killed, which says nothing itself.
    """
    try:
        yield from dbt.stream()
    except DagsterDbtCliRuntimeError as failed:
        if dbt.process.returncode != -signal.SIGKILL:
            raise dg.Failure(errors_first(str(failed.description))) from failed
        if on_spark:
            raise KilledError(f"dbt's process was killed; {spark_needs.less_memory(settings)}") from None
        limit = f"TOUCHLEDGER_WAREHOUSE_MEMORY_LIMIT, here {settings.warehouse_memory_limit}"
        raise KilledError(
            "dbt's process was killed, as the kernel does where memory runs out. The models may use "
            f"{limit}, and dbt needs more beside it: lower that, or give the machine or its container more"
        ) from None
    finally:
        # where a full disk does not take what it says, it would write on beside whatever comes next
        dbt.process.kill()
        dbt.process.wait()


def errors_first(told: str) -> str:
    """What dagster-dbt says of a dbt that failed, with dbt's own errors, where there are any, before the command."""
    call, _, errors = told.partition("Errors parsed from dbt logs:")
    return "\n\n".join(filter(None, (errors.strip(), call.strip())))


def _command(config: Rebuild, on_spark: bool) -> list[str]:
    # unit tests prove the models, not the data: they run in the test-suite, not every night. Dagster reads what dbt
    # prints; the manifest, which dbt would write twice, is an eighth of a small build
    command = ["build", "--no-write-json", "--exclude-resource-type", "unit_test"]
    command += [ON_SPARK] if on_spark else []
    return [*command, "--full-refresh"] if config.full_refresh else command


def mart_keys(names: Mapping[str, Any]) -> list[dg.AssetKey]:
    """Asset keys of the marts of these names."""
    return [dg.AssetKey(["marts", name]) for name in names]
