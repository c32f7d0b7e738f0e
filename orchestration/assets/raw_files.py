"""landing/files: what people drop into the inbox folder."""

import time

import dagster as dg

from orchestration.assets.landing_metadata import files_metadata, imports_metadata
from orchestration.importer import land_calendars
from orchestration.inbox import not_loaded, scan_inbox
from orchestration.resources import Deployment


@dg.asset(key=["landing", "files"], group_name="landing", kinds={"parquet"})
def landing_files(deployment: Deployment) -> dg.MaterializeResult[None]:
    """Files of `inbox/<profile id>/<data set>/`, each judged by its contract; the same bytes load once.

    With them come the calendars of the zones that ad accounts in files have their days in.
    """
    started = time.monotonic()
    lake = deployment.lake_to_land_in()
    imports = scan_inbox(deployment.settings, lake)
    land_calendars(lake)
    left = [(one.file, one.reason) for one in not_loaded(deployment.settings)]
    return dg.MaterializeResult(
        metadata={**imports_metadata(imports, started), "files not loaded": files_metadata(left)}
    )
