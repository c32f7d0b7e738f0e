"""What Dagster noted of times that are yet to come: until the clock is there, it looks for nothing, begins nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from api.db import engine_for
from orchestration.instance import SCHEMA
from touchledger.settings import Settings

TICKS = "job_ticks"
# what the states of sensors and of schedules hold of when they were last looked at, in seconds since 1970
TIMES = (
    "last_tick_timestamp", "last_tick_start_timestamp", "last_tick_success_timestamp", "last_sensor_start_timestamp",
    "last_iteration_timestamp", "start_timestamp",
)  # fmt: skip


def forget_ahead(settings: Settings, at: datetime) -> datetime | None:
    """Take out of Dagster's books what was noted after `at`; gives the latest of it, None where there is none.

    Every sensor looks once a minute, so a clock that was ahead has left such a look. Nobody may run Dagster's daemon
    meanwhile, and `prepare_instance` comes first.
    """
    newest = _newest(settings)
    if newest is None or newest <= at:
        return None
    # takes most of a second to import, and is seldom needed here
    import dagster as dg
    from dagster._core.storage.schedules import SqlScheduleStorage
    from dagster._core.storage.schedules.schema import JobTickTable

    with dg.DagsterInstance.get() as instance:
        storage = instance.schedule_storage
        assert isinstance(storage, SqlScheduleStorage)
        for state in instance.all_instigator_state():
            if data := state.instigator_data:
                instance.update_instigator_state(state.with_data(data._replace(**_until(data, at.timestamp()))))
        with storage.connect() as connection:
            connection.execute(JobTickTable.delete().where(JobTickTable.c.timestamp > at.astimezone(UTC)))
    return newest


def _newest(settings: Settings) -> datetime | None:
    """When, by its own notes, Dagster last looked for anything; None where it never did."""
    engine = engine_for(settings.operational_url)
    schema: str | None = SCHEMA
    if settings.operational_url.startswith("sqlite"):
        path = settings.dagster_home / "schedules" / "schedules.db"
        if not path.exists():
            return None
        engine, schema = sa.create_engine(f"sqlite:///{path}", poolclass=sa.NullPool), None
    with engine.connect() as connection:
        if not sa.inspect(connection).has_table(TICKS, schema=schema):
            return None
        ticks = sa.table(TICKS, sa.column("timestamp", sa.TIMESTAMP), schema=schema)
        found: datetime | None = connection.scalar(sa.select(sa.func.max(ticks.c.timestamp)))
    return found.replace(tzinfo=UTC) if found else None


def _until(data: Any, at: float) -> dict[str, Any]:
    """Those of its times that are ahead, as if they were now."""
    return {name: at for name in TIMES if (getattr(data, name, None) or 0) > at}
