"""Contract checks: the suite made from a contract, over the newest raw rows, standing before the models."""

from __future__ import annotations

import dagster as dg

from data_contracts.contract import Contract
from data_contracts.suite import check_frame
from orchestration.raw_rows import RawRows

NEWEST_ROWS = 1_000_000


def contract_check_spec(contract: Contract, key: dg.AssetKey) -> dg.AssetCheckSpec:
    """The blocking check of one data set: what breaks its contract goes no further than the lake."""
    return dg.AssetCheckSpec(
        name="contract", asset=key, blocking=True, description=f"Keeps {contract.folder}/{contract.name}.yaml"
    )


def contract_check(contract: Contract, raw: RawRows) -> dg.AssetCheckResult:
    """Judge the newest rows of a data set."""
    if raw.is_empty:
        return dg.AssetCheckResult(check_name="contract", passed=True, metadata={"rows": 0})
    passed, summary = check_frame(contract, raw.frame(NEWEST_ROWS))
    metadata = {**summary, "broken": dg.JsonMetadataValue(summary["broken"])}
    return dg.AssetCheckResult(check_name="contract", passed=passed, metadata=metadata)
