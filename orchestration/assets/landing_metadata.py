"""What an operator wants to see of one landing."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import dagster as dg

from api.logs import clean
from api.models import Import
from orchestration.lake import Landing
from orchestration.pulls import Pull


def landing_metadata(
    landings: Iterable[Landing], started: float, failures: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Rows in, loaded and quarantined per data set, what failed by connection, and seconds since `started`."""
    landed = list(landings)
    table = [
        _record(name, [one for one in landed if one.dataset == name])
        for name in sorted({one.dataset for one in landed})
    ]
    return {
        "dagster/row_count": sum(one.rows_loaded for one in landed),
        "quarantined": sum(one.rows_quarantined for one in landed),
        "changed batches": sum(one.changed for one in landed),
        "failed connections": dg.JsonMetadataValue(dict(failures or {})),
        "seconds": round(time.monotonic() - started, 2),
        **({"data sets": dg.TableMetadataValue(table, _SCHEMA)} if table else {}),
    }


_SCHEMA = dg.TableSchema(
    columns=[
        dg.TableColumn("data set"),
        dg.TableColumn("batches", "int"),
        dg.TableColumn("rows in", "int"),
        dg.TableColumn("loaded", "int"),
        dg.TableColumn("quarantined", "int"),
    ]
)


def _record(name: str, landings: list[Landing]) -> dg.TableRecord:
    return dg.TableRecord(
        {
            "data set": name,
            "batches": len(landings),
            "rows in": sum(one.rows_in for one in landings),
            "loaded": sum(one.rows_loaded for one in landings),
            "quarantined": sum(one.rows_quarantined for one in landings),
        }
    )


def sync_metadata(pulls: Sequence[Pull], started: float) -> dict[str, Any]:
    """The same for connections that were pulled."""
    failed = ((one.connection, one.failure.reason) for one in pulls if one.failure)
    failures = {f"{one.display_name} ({one.provider} {one.id})": reason for one, reason in failed}
    landings = [landing for one in pulls for landing in one.landings]
    return {"connections": len(pulls), **landing_metadata(landings, started, failures)}


def imports_metadata(imports: Sequence[Import], started: float) -> dict[str, Any]:
    """The same for files: what was loaded, and why a file was rejected."""
    # a reason begins with the name, for whoever reads it alone
    rejected = [(one.file_name, one.reason.removeprefix(f"{one.file_name}: ")) for one in imports if one.reason]
    return {
        "files": len(imports),
        "dagster/row_count": sum(one.rows_loaded for one in imports),
        "quarantined": sum(one.rows_quarantined for one in imports),
        "rejected files": files_metadata(rejected),
        "seconds": round(time.monotonic() - started, 2),
    }


def files_metadata(reasons: Iterable[tuple[str, str]]) -> dg.JsonMetadataValue:
    """What is wrong with files, by name, as `cleaned`."""
    return dg.JsonMetadataValue(cleaned(reasons))


def cleaned(reasons: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What is wrong with files, by name: without addresses and numbers, for no erasure reaches the history of runs.

    The header of a file that has none is its first row, which a reason may quote.
    """
    told: dict[str, str] = {}
    for name, reason in reasons:
        shown = clean(name)
        while shown in told:
            shown = f"another {shown}"
        told[shown] = clean(reason)
    return told
