"""published: the marts of one finished build, checked, in the immutable file that the API serves."""

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import dagster as dg
import duckdb

from data_contracts.contract import Contract, served
from orchestration import pointer, recomputes
from orchestration.announcing import announce
from orchestration.assets.warehouse import mart_keys
from orchestration.erasure import complete_erasures
from orchestration.kept_rows import kept_marts
from orchestration.limits import limits
from orchestration.publish import publish
from orchestration.purge import complete_purges
from orchestration.resources import Deployment, Warehouse
from orchestration.says_why import says_why
from orchestration.served_tables import ContractBrokenError, served_tables
from orchestration.store_purge import complete_stores
from orchestration.unrated import unrated
from orchestration.warehouse_state import require_finished
from touchledger.settings import Settings

KEY = dg.AssetKey(["published"])
RATES = "rates"


def _checks() -> list[dg.AssetCheckSpec]:
    rates = "Every amount has an exchange rate into its profile's currency; names the money that is in no figure"
    return [
        *(
            dg.AssetCheckSpec(name=f"contract_{name}", asset=KEY, blocking=True, description=_promise(contract))
            for name, contract in served().items()
        ),
        dg.AssetCheckSpec(name=RATES, asset=KEY, description=rates),
    ]


def _promise(contract: Contract) -> str:
    return (
        f"Keeps {contract.folder}/{contract.name}.yaml: its columns and types, a value where one is required,"
        f" none that it rules out, and no key twice. {contract.grain}"
    )


@dg.asset(
    key=KEY,
    deps=mart_keys(served()),
    group_name="published",
    kinds={"duckdb"},
    pool="warehouse",
    check_specs=_checks(),
    freshness_policy=dg.FreshnessPolicy.time_window(fail_window=timedelta(hours=26)),
)
@says_why
def published(
    context: dg.AssetExecutionContext, deployment: Deployment, warehouse: Warehouse
) -> Iterator[dg.MaterializeResult[None] | dg.AssetCheckResult]:
    """One file of the served tables; the pointer moves only when every served contract is kept."""
    settings, started = deployment.settings, time.monotonic()
    previous = pointer.read_to_replace(settings.published)
    require_finished(settings)
    try:
        done = publish(settings, token=warehouse.token, tables=served_tables(), kept=kept_marts(settings))
    except ContractBrokenError as broken:
        yield from verdicts(broken.problems)
        raise
    recomputes.publish(settings.operational_url, recomputes.build_of(context.run), done.pointer.snapshot_id)
    announce(settings, done.pointer, previous, trigger=_trigger(context.run))
    erased, purged = complete_erasures(settings), complete_purges(settings)
    complete_stores(settings)
    yield from verdicts([])
    yield dg.MaterializeResult(
        metadata={
            "snapshot": done.pointer.snapshot_id,
            "token": done.pointer.token,
            "dagster/row_count": sum(done.rows.values()),
            "erasures completed": len(erased),
            "purges completed": len(purged),
            "rows per table": dg.JsonMetadataValue(done.rows),
            "megabytes": round(done.size / 1e6, 2),
            "seconds": round(time.monotonic() - started, 2),
        },
        check_results=[on_rates(settings.published / done.pointer.file, settings)],
    )


def _trigger(run: dg.DagsterRun) -> str:
    asked_by = run.tags.get("dagster/sensor_name", "")
    return {"new_input": "import", "erasures_waiting": "erasure", "purges_waiting": "erasure"}.get(asked_by, "schedule")


def verdicts(problems: list[str]) -> Iterator[dg.AssetCheckResult]:
    """One result for each served contract, which tells those of the problems that are its table's."""
    for name in served():
        mine = [problem for problem in problems if problem.partition(":")[0].partition(".")[0] == name]
        yield dg.AssetCheckResult(
            check_name=f"contract_{name}",
            asset_key=KEY,
            passed=not mine,
            description="; ".join(mine) or None,
            metadata={"problems": dg.JsonMetadataValue(mine)},
        )


_MONEY = ("profile_id", "money", "currency", "amounts", "newest_day")
_SCHEMA = dg.TableSchema([dg.TableColumn(name) for name in _MONEY])


def on_rates(file: Path, settings: Settings) -> dg.AssetCheckResult:
    """A warning that tells what of a snapshot's money no rate converts, by profile, kind and currency."""
    with duckdb.connect(str(file), read_only=True, config=limits(settings)) as snapshot:
        told = [dg.TableRecord({name: str(one[name] or "") for name in _MONEY}) for one in unrated(snapshot)]
    return dg.AssetCheckResult(
        check_name=RATES,
        passed=not told,
        severity=dg.AssetCheckSeverity.WARN,
        description="Money is counted and worth 0: import rates (fx_rates) of its currencies" if told else None,
        # a table, which Dagster's pages show at once, as they do no JSON
        metadata={"money without a rate": dg.TableMetadataValue(told, _SCHEMA)} if told else None,
    )
