"""A deployment of one test: a lake that records are landed in as always, and the warehouse dbt builds from it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from orchestration import dbt_process
from orchestration.app_sets import land_calendar
from orchestration.dbt_manifest import arguments, ensure_manifest, target
from orchestration.lake import Lake
from orchestration.locks import only_writer
from orchestration.orphans import PARENT_VARIABLE
from orchestration.quarantine import counted
from tests.fixtures.processes import PROCESSES
from touchledger.settings import Settings

NOW = datetime(2026, 6, 1, tzinfo=UTC)


class Project:
    """Lands records, runs dbt on them and answers queries on what it built."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.lake = Lake(settings.lake)
        self.lake.prepare()

    def land(
        self, dataset: str, records: Iterable[Mapping[str, Any]], *, profile_id: str | None = "p", batch: str = "one"
    ) -> None:
        """Land records; every one must be good."""
        landing = self.lake.land(
            dataset=dataset, profile_id=profile_id, source="test", batch=batch, records=records, now=NOW
        )
        assert landing.rows_quarantined == 0, counted(self.lake, dataset)

    def land_profiles(self, *profiles: Mapping[str, Any]) -> None:
        """Land profiles, by default in New York and US dollars, and the calendars of their zones."""
        rows = [{**DEFAULTS, **profile} for profile in profiles]
        self.land("profiles", rows, profile_id=None)
        for zone in sorted({row["time_zone"] for row in rows}):
            land_calendar(self.lake, zone)

    def dbt(self, *command: str) -> str:
        """Run dbt to its end and hand back what it printed; fails the test when dbt fails."""
        ensure_manifest(self.settings)
        environment = {**os.environ, "TOUCHLEDGER_HOME": str(self.settings.home)}
        # a build within this process named it the parent, which the process that forks is here
        environment.pop(PARENT_VARIABLE, None)
        printed = target(self.settings) / "printed"
        process = PROCESSES.Process(
            target=_run, args=(["touchledger-dbt", *command, *arguments(self.settings)], environment, printed)
        )
        process.start()
        process.join()
        assert process.exitcode == 0, printed.read_text()
        return printed.read_text()

    def build(self) -> str:
        """Build models and data tests; unit tests have a run of their own."""
        return self.dbt("build", "--no-write-json", "--exclude-resource-type", "unit_test")

    def model(self) -> None:
        """Load the seeds and build the models, without any test."""
        self.dbt("build", "--quiet", "--no-write-json", "--exclude-resource-type", "test", "unit_test")

    def model_anew(self) -> None:
        """The same, keeping nothing of the build before."""
        self.dbt(
            "build", "--full-refresh", "--quiet", "--no-write-json", "--exclude-resource-type", "test", "unit_test"
        )

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Rows of a query on the warehouse."""
        with duckdb.connect(str(self.settings.warehouse), read_only=True) as connection:
            return connection.execute(sql).fetchall()


def built_once(factory: pytest.TempPathFactory, name: str, build: Callable[[Project], None]) -> Project:
    """A copy of the deployment that the first of this test run's processes to ask for it builds; the others wait."""
    base = factory.getbasetemp()
    built = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / f"{name} built"
    with only_writer(built.with_suffix(".lock"), purpose=f"build {name}", wait_seconds=290):
        if not built.exists():
            building = factory.mktemp("building") / name
            build(Project(Settings(home=building)))
            building.rename(built)
    # nobody shares what somebody may build again
    return Project(Settings(home=shutil.copytree(built, factory.mktemp(name), dirs_exist_ok=True)))


def _run(command: list[str], environment: Mapping[str, str], printed: Path) -> None:
    """The `touchledger-dbt` command in this process; what it prints goes to a file."""
    os.environ.clear()
    os.environ.update(environment)
    file = os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(file, stream.fileno())
    sys.argv = command
    try:
        dbt_process.main()
    finally:
        # dbt leaves it to the end of its process to close the warehouse, and a forked one forgets that
        from dbt.adapters.duckdb.connections import DuckDBConnectionManager

        DuckDBConnectionManager.close_all_connections()


DEFAULTS: Mapping[str, Any] = {
    "time_zone": "America/New_York",
    "currency": "USD",
    "currency_digits": 2,
    "lookback_days": 90,
    "half_life_days": 7,
    "inherit_recurring": True,
    "settings_version": "1",
    "is_active": True,
}
