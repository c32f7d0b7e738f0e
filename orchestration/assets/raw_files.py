"""landing/files: what people drop into the inbox folder."""

import time
from collections.abc import Iterator, Sequence

import dagster as dg

from api.models import Import
from orchestration.assets.landing_metadata import cleaned, files_metadata, imports_metadata
from orchestration.importer import land_calendars
from orchestration.inbox import not_loaded, scan_inbox, with_bad_rows
from orchestration.resources import Deployment
from orchestration.says_why import says_why

FILES, ROWS = "inbox", "rows"
CHECKS = {
    FILES: "Every file in the inbox was loaded; names those that were not, and why",
    ROWS: "No row is in quarantine of the files imported now and of the newest of each data set; names those with some",
}


_SCHEMA = dg.TableSchema([dg.TableColumn(name) for name in ("file", "reason")])


def _table(told: Sequence[tuple[str, str]]) -> dg.TableMetadataValue:
    # Dagster's pages show JSON once it is asked for, and a table at once
    records = [dg.TableRecord({"file": file, "reason": reason}) for file, reason in cleaned(told).items()]
    return dg.TableMetadataValue(records, _SCHEMA)


def _verdict(name: str, title: str, told: Sequence[tuple[str, str]]) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        check_name=name,
        passed=not told,
        # what is wrong with one file keeps no other from being built with
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{title}: {len(told)}" if told else None,
        metadata={"files": _table(told)} if told else None,
    )


@dg.asset(
    key=["landing", "files"],
    group_name="landing",
    kinds={"parquet"},
    check_specs=[
        dg.AssetCheckSpec(name=name, asset=dg.AssetKey(["landing", "files"]), description=description)
        for name, description in CHECKS.items()
    ],
)
@says_why
def landing_files(deployment: Deployment) -> Iterator[dg.MaterializeResult[None]]:
    """Files of `inbox/<profile id>/<data set>/`, each judged by its contract; the same bytes load once.

    With them come the calendars of the zones that ad accounts in files have their days in.
    """
    started = time.monotonic()
    lake = deployment.lake_to_land_in()
    imports = scan_inbox(deployment.settings, lake)
    land_calendars(lake)
    left = [(one.file, one.reason) for one in not_loaded(deployment.settings)]
    bad = [(one.file_name, _bad(one)) for one in with_bad_rows(deployment.settings.operational_url, imports)]
    verdicts = [
        _verdict(FILES, "Files that were not loaded", left),
        _verdict(ROWS, "Files with rows in quarantine", bad),
    ]
    metadata = {**imports_metadata(imports, started), "files not loaded": files_metadata(left)}
    yield dg.MaterializeResult(metadata=metadata, check_results=verdicts)


def _bad(one: Import) -> str:
    """How many rows of a file are in quarantine, and why the first."""
    first = next((f"; the first: {error['field'] or 'row'}: {error['reason']}" for error in one.errors), "")
    return f"{one.rows_quarantined} of {one.rows_in} rows of {one.dataset}{first}"
