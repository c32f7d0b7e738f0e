"""landing/files: what people drop into the inbox folder."""

import time
from collections.abc import Iterator

import dagster as dg

from orchestration.assets.landing_metadata import files_metadata, imports_metadata
from orchestration.importer import land_calendars
from orchestration.inbox import not_loaded, scan_inbox
from orchestration.resources import Deployment

CHECK = "inbox"


@dg.asset(
    key=["landing", "files"],
    group_name="landing",
    kinds={"parquet"},
    check_specs=[
        dg.AssetCheckSpec(
            name=CHECK,
            asset=dg.AssetKey(["landing", "files"]),
            description="Every file in the inbox was loaded; names those that were not, and why",
        )
    ],
)
def landing_files(deployment: Deployment) -> Iterator[dg.MaterializeResult[None]]:
    """Files of `inbox/<profile id>/<data set>/`, each judged by its contract; the same bytes load once.

    With them come the calendars of the zones that ad accounts in files have their days in.
    """
    started = time.monotonic()
    lake = deployment.lake_to_land_in()
    imports = scan_inbox(deployment.settings, lake)
    land_calendars(lake)
    left = [(one.file, one.reason) for one in not_loaded(deployment.settings)]
    told = files_metadata(left)
    verdict = dg.AssetCheckResult(
        check_name=CHECK,
        passed=not left,
        # what is wrong with one file keeps no other from being built with
        severity=dg.AssetCheckSeverity.WARN,
        description=f"Files that were not loaded: {len(left)}" if left else None,
        metadata={"files not loaded": told} if left else None,
    )
    metadata = {**imports_metadata(imports, started), "files not loaded": told}
    yield dg.MaterializeResult(metadata=metadata, check_results=[verdict])
