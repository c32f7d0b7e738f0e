"""Contract checks: the suite made from a contract, over the raw rows not judged yet, standing before the models."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dagster as dg

from data_contracts.contract import Contract
from data_contracts.suite import check_frame
from orchestration import durable
from orchestration.landed_facts import SCHEMA
from orchestration.raw_rows import RawRows
from touchledger.settings import Settings

NEWEST_ROWS = 1_000_000
# to judge a file on its own costs a tenth of a second, however few rows it has
LOOKED_INTO = 200

# files by path in the lake, with their bytes and the nanoseconds of their last change
Files = Mapping[str, tuple[int, int]]


def contract_check_spec(contract: Contract, key: dg.AssetKey) -> dg.AssetCheckSpec:
    """The blocking check of one data set: what breaks its contract goes no further than the lake."""
    return dg.AssetCheckSpec(
        name="contract", asset=key, blocking=True, description=f"Keeps {contract.folder}/{contract.name}.yaml"
    )


def contract_check(contract: Contract, raw: RawRows, settings: Settings) -> dg.AssetCheckResult:
    """Judge files of a data set that have not kept this contract yet: of the newest, as many as hold a million rows.

    A landed file never changes, so one that kept the contract is judged again only when either was replaced. What is
    older than the newest million rows is judged by the builds that follow.
    """
    verdicts = settings.home / "checked" / f"{contract.name}.json"
    by = f"{contract.fingerprint} {version('great_expectations')}"
    files = _files(settings.lake, contract)
    kept = _kept(verdicts, by)
    known = {path: state for path, state in files.items() if kept.get(path) == state}
    new = [settings.lake / path for path in files if path not in known]
    if not new:
        return dg.AssetCheckResult(check_name="contract", passed=True, metadata={"rows": 0, "files": 0})
    rows, broken = 0, []
    judged = raw.newest(new, NEWEST_ROWS)
    for frame in raw.frames(judged):
        rows += len(frame)
        broken += check_frame(contract, frame)[1]["broken"]
    if not broken:
        known |= {name: files[name] for name in (str(path.relative_to(settings.lake)) for path in judged)}
        durable.make_folder(verdicts.parent)
        durable.write_text(verdicts, json.dumps({"by": by, "files": known}))
    told = _added_up(broken)
    metadata: dict[str, Any] = {"rows": rows, "files": len(judged), "broken": dg.JsonMetadataValue(told)}
    if not broken:
        return dg.AssetCheckResult(check_name="contract", passed=True, metadata=metadata)
    first = next((path for path in judged[:LOOKED_INTO] if _is_broken(contract, raw, path)), None)
    where = [f"the first found in {first.relative_to(settings.lake)}"] if first else []
    said = "; ".join([*map(_said, told), *where])
    return dg.AssetCheckResult(check_name="contract", passed=False, metadata=metadata, description=said)


def _is_broken(contract: Contract, raw: RawRows, path: Path) -> bool:
    return any(check_frame(contract, frame)[1]["broken"] for frame in raw.frames([path]))


def _said(broken: Mapping[str, Any]) -> str:
    return f"{broken['column']}: {broken['expectation']}, rows: {broken['unexpected']:,}"


def _added_up(broken: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What is broken, told once however many frames break it, with the rows of all of them."""
    found: dict[str, dict[str, Any]] = {}
    for one in broken:
        told = found.setdefault(f"{one['expectation']} {one['column']}", {**one, "unexpected": 0})
        told["unexpected"] += one["unexpected"] or 0
    return list(found.values())


def _files(lake: Path, contract: Contract) -> Files:
    found = {}
    for path in sorted((lake / "raw" / contract.name).rglob("*.parquet")):
        if path.name != SCHEMA:
            status = path.stat()
            found[str(path.relative_to(lake))] = (status.st_size, status.st_mtime_ns)
    return found


def _kept(verdicts: Path, by: str) -> Files:
    """The files that kept the contract when they were last judged by the same rules; none where that is damaged."""
    try:
        told = json.loads(verdicts.read_text())
        return {path: (size, at) for path, (size, at) in told["files"].items()} if told["by"] == by else {}
    except (FileNotFoundError, ValueError, TypeError, KeyError, AttributeError):
        return {}
