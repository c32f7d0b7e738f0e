"""raw/<data set>: the landed rows of one contract, whatever they came from, behind the contract's check."""

import time
from collections.abc import Iterator
from typing import Any

import dagster as dg

from data_contracts.contract import Contract, landed
from orchestration.assets.column_schemas import raw_schema
from orchestration.checks import contract_check, contract_check_spec
from orchestration.plots import day_plot
from orchestration.raw_columns import raw_description
from orchestration.raw_rows import RawRows
from orchestration.resources import Deployment
from orchestration.says_why import says_why

AD_PLATFORM = {
    "ad_accounts", "ad_delivery", "ad_delivery_breakdowns", "ad_sets", "ads", "campaigns", "creatives", "entity_reach",
    "experiment_arms", "experiments",
}  # fmt: skip
STORE = {"order_lines", "orders", "products", "variants"}
PAYMENTS = {"conversions", "recurring_payments"}
# of a time with a zone DuckDB asks its calendars, which takes three times as long
UTC_DAY = "cast(make_timestamp(epoch_us(occurred_at)) as date)"
# what a day's bar shows: title, the day, the height
PLOTS = {
    "ad_delivery": ("spend per day, account currencies added up", "date", "sum(spend)"),
    "touches": ("touches per day (UTC)", UTC_DAY, "count(*)"),
    "conversions": ("conversions per day (UTC)", UTC_DAY, "count(*)"),
}


def raw_key(name: str) -> dg.AssetKey:
    """Asset key of a data set's raw files; dbt's sources carry the same."""
    return dg.AssetKey(["raw", name])


def landings_of(contract: Contract) -> list[dg.AssetKey]:
    """Where rows of a data set may come from: every public set can be sent or dropped as a file."""
    sources = ["app"] if contract.folder == "internal" else ["app", "files"]
    for source, names in (("ad_platform", AD_PLATFORM), ("store", STORE), ("payments", PAYMENTS)):
        if contract.name in names:
            sources.append(source)
    # what may hold a person is read only after everybody whose erasure waits was taken out
    if any(column.personal for column in contract.columns):
        sources.append("erasures")
    return [dg.AssetKey(["landing", source]) for source in sources]


def raw_asset(contract: Contract) -> dg.AssetsDefinition:
    """The asset of one contract."""
    key = raw_key(contract.name)

    @dg.asset(
        key=key,
        deps=landings_of(contract),
        description=raw_description(contract),
        metadata=raw_schema(contract),
        group_name="raw",
        kinds={"parquet"},
        check_specs=[contract_check_spec(contract, key)],
        code_version=contract.fingerprint,
    )
    @says_why
    def raw(deployment: Deployment) -> Iterator[dg.MaterializeResult[None] | dg.AssetCheckResult]:
        started = time.monotonic()
        files = RawRows(deployment.settings, contract)
        metadata = _metadata(contract, files, deployment)
        verdict = contract_check(contract, files, deployment.settings)
        yield dg.MaterializeResult(metadata={**metadata, "seconds": round(time.monotonic() - started, 2)})
        yield verdict

    return raw


def _metadata(contract: Contract, files: RawRows, deployment: Deployment) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "dagster/row_count": files.rows,
        "profiles": files.profiles,
        "batches": files.batches,
        "quarantined": sum(batch.rows_quarantined for batch in deployment.lake.batches(contract.name)),
        "watermark": files.watermark.isoformat() if files.watermark else "nothing landed",
    }
    for column, sums in files.money().items():
        metadata[f"sum of {column}"] = dg.JsonMetadataValue(
            {currency or "": str(sum_) for currency, sum_ in sums.items()}
        )
    if contract.name in PLOTS and not files.is_empty:
        title, day, value = PLOTS[contract.name]
        metadata["by day"] = day_plot(title, files.by_day(day, value))
    return metadata


def raw_assets() -> list[dg.AssetsDefinition]:
    """One asset per landed contract."""
    return [raw_asset(contract) for contract in landed().values()]
