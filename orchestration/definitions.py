"""The code location: what exists. Nothing is computed and nothing is contacted here."""

from __future__ import annotations

import dagster as dg

from api import logs
from orchestration.assets.erasures import erasures
from orchestration.assets.published import published
from orchestration.assets.raw_ad_platform import landing_ad_platform
from orchestration.assets.raw_app import landing_app
from orchestration.assets.raw_files import landing_files
from orchestration.assets.raw_payments import landing_payments
from orchestration.assets.raw_sets import raw_assets
from orchestration.assets.raw_store import landing_store
from orchestration.assets.scores import ad_likelihoods, ranker
from orchestration.assets.warehouse import warehouse_assets
from orchestration.jobs import JOBS
from orchestration.resources import Deployment, Warehouse, dbt
from orchestration.schedules import SCHEDULES
from orchestration.sensors import SENSORS

# Dagster keeps what its processes print, and no erasure reaches that
logs.guard_console()

defs = dg.Definitions(
    assets=[
        landing_app,
        landing_files,
        landing_ad_platform,
        landing_store,
        landing_payments,
        erasures,
        *raw_assets(),
        warehouse_assets,
        ranker,
        ad_likelihoods,
        published,
    ],
    jobs=JOBS,
    schedules=SCHEDULES,
    sensors=SENSORS,
    resources={"deployment": Deployment(), "warehouse": Warehouse(), "dbt": dbt()},
    # one process per run: a run has one writer, and most steps are shorter than the start of a process
    executor=dg.in_process_executor,
)
