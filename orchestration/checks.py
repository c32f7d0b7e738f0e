"""Contract checks: the Great Expectations suite of a contract, over the newest raw rows."""

from __future__ import annotations

from typing import Any

import dagster as dg

from data_contracts.contract import Contract
from orchestration.raw_rows import RawRows

NEWEST_ROWS = 1_000_000


def contract_check_spec(contract: Contract, key: dg.AssetKey) -> dg.AssetCheckSpec:
    """The blocking check of one data set: what breaks its contract goes no further than the lake."""
    return dg.AssetCheckSpec(
        name="contract", asset=key, blocking=True, description=f"Keeps {contract.folder}/{contract.name}.yaml"
    )


def contract_check(contract: Contract, raw: RawRows) -> dg.AssetCheckResult:
    """Judge the newest rows of a data set by the suite made from its contract."""
    if raw.is_empty:
        return dg.AssetCheckResult(check_name="contract", passed=True, metadata={"rows checked": 0})
    result = validate(contract, raw.frame(NEWEST_ROWS))
    return dg.AssetCheckResult(
        check_name="contract",
        passed=bool(result["success"]),
        metadata={
            "rows checked": min(raw.rows, NEWEST_ROWS),
            "expectations": len(result["results"]),
            "broken": dg.JsonMetadataValue(broken(result)),
        },
    )


def validate(contract: Contract, frame: Any) -> dict[str, Any]:
    """The suite's verdict on a pandas frame, as Great Expectations' own JSON."""
    # its import takes over two seconds: only a run that checks something pays for it
    import great_expectations as gx

    from data_contracts.suite import expectation_suite

    context = gx.get_context(mode="ephemeral")
    batches = context.data_sources.add_pandas(contract.name).add_dataframe_asset(contract.name)
    batch = batches.add_batch_definition_whole_dataframe("newest").get_batch({"dataframe": frame})
    verdict: dict[str, Any] = batch.validate(expectation_suite(contract)).to_json_dict()  # type: ignore[no-untyped-call]
    return verdict


def broken(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The expectations that failed: which, on what, and how often; never the values, which may be personal."""
    return [
        {
            "expectation": one["expectation_config"]["type"],
            "column": one["expectation_config"]["kwargs"].get("column"),
            "unexpected": one["result"].get("unexpected_count"),
            "error": (one.get("exception_info") or {}).get("exception_message"),
        }
        for one in result["results"]
        if not one["success"]
    ]
