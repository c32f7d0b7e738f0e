"""A deployment of one test: a lake that records are landed in as always, and the warehouse dbt builds from it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import duckdb

from orchestration.app_sets import land_calendar
from orchestration.dbt_manifest import arguments, ensure_manifest, executable
from orchestration.lake import Lake
from touchledger.settings import Settings

NOW = datetime(2026, 6, 1, tzinfo=UTC)


class Project:
    """Lands records, runs dbt on them and answers queries on what it built; `printed` is dbt's first answer."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.printed = ""
        self.lake = Lake(settings.lake)
        self.lake.prepare()

    def land(
        self, dataset: str, records: Iterable[Mapping[str, Any]], *, profile_id: str | None = "p", batch: str = "one"
    ) -> None:
        """Land records; every one must be good."""
        landing = self.lake.land(
            dataset=dataset, profile_id=profile_id, source="test", batch=batch, records=records, now=NOW
        )
        assert landing.rows_quarantined == 0, self.lake.quarantined(dataset)

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
        done = subprocess.run(
            [executable(), *command, *arguments(self.settings)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def build(self) -> str:
        """Build models and data tests; unit tests have a run of their own."""
        return self.dbt("build", "--no-write-json", "--exclude-resource-type", "unit_test")

    def model(self) -> None:
        """Load the seeds and build the models, without any test."""
        self.dbt("build", "--quiet", "--no-write-json", "--exclude-resource-type", "test", "unit_test")

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Rows of a query on the warehouse."""
        with duckdb.connect(str(self.settings.warehouse), read_only=True) as connection:
            return connection.execute(sql).fetchall()


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
