"""Dagster's own state: its folder inside the state folder, or the operational Postgres under a schema of its own."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
import yaml

from api import patience
from api.db import engine_for
from orchestration.durable import write_text
from touchledger.settings import Settings

if TYPE_CHECKING:
    import dagster as dg
    from dagster._core.remote_origin import RemoteJobOrigin

# as workspace.yaml calls it
CODE_LOCATION = "touchledger"
STORAGE_VARIABLE = "TOUCHLEDGER_DAGSTER_STORAGE"
# both Dagster and the operational database keep a table named alembic_version
SCHEMA = "dagster"
# any fixed number but the one of migrations: the same in every process that comes first
LOCK = 7106
# one row: the schema of the operational tables whose runs are kept there
KEEPER = sa.table("touchledger_deployment", sa.column("operational_schema", sa.Text), schema=SCHEMA)
# of tags that begin so, its list of runs shows nothing unless it is asked to
PREFIX = "dagster/touchledger_"
# as they began in versions before: what an upgrade ended is to be known as ended
PREFIX_BEFORE = "touchledger/"
PID_TAG = f"{PREFIX}pid"
# the number of a process says nothing on another machine, or in another container, that shares the database
HOST_TAG = f"{PREFIX}host"
# the number falls to another process later; in a container that is started anew, most often to the same command
BEGUN_TAG = f"{PREFIX}begun"
# a run that Dagster begins anew on its pages has the tags of the run that it repeats
RUN_TAG = f"{PREFIX}run"
# after the begin of a run, by when its process has noted itself: that is its first act, but it may wait for a lock
NOTED_WITHIN = timedelta(minutes=5)

CONFIG: dict[str, Any] = {
    # without these two the UI loads a script from, and shows a form for, a server outside
    "telemetry": {"enabled": False},
    "nux": {"enabled": False},
    "run_retries": {"enabled": True, "max_retries": 0},
    "concurrency": {"pools": {"default_limit": 1, "granularity": "run"}},
}


class SharedHistoryError(RuntimeError):
    """Another deployment, of another schema of the same database, keeps its runs there."""


class PooledHistoryError(RuntimeError):
    """What Dagster says at the beginning of a session does not reach the database."""


def prepare_instance(settings: Settings) -> None:
    """Write dagster.yaml and name its folder in the environment, for this process and those it starts.

    Raises SharedHistoryError where the books are another deployment's.
    """
    settings.dagster_home.mkdir(parents=True, exist_ok=True)
    # no job has a maximum of its own, which would count instead of this one
    longest = {"max_runtime_seconds": settings.run_hours * 3600}
    config = {**CONFIG, "run_monitoring": {"enabled": True, "poll_interval_seconds": 15, **longest}}
    if settings.operational_url.startswith("sqlite"):
        config["event_log_storage"] = _event_log(settings)
    else:
        os.environ[STORAGE_VARIABLE] = _storage_url(settings.operational_url)
        _create_schema(settings.operational_url)
        config["storage"] = {"postgres": {"postgres_url": {"env": STORAGE_VARIABLE}}}
    file, text = settings.dagster_home / "dagster.yaml", yaml.safe_dump(config, sort_keys=False)
    # on a full disk nothing can be written, and who only looks needs nothing written
    if not file.exists() or file.read_bytes() != text.encode():
        write_text(file, text)
    set_environment(settings)


def require_own_line(settings: Settings) -> None:
    """Raise PooledHistoryError where Dagster's tables would be made, or looked for, among the operational ones."""
    if settings.operational_url.startswith("sqlite"):
        return
    engine = sa.create_engine(_storage_url(settings.operational_url), poolclass=sa.NullPool)
    try:
        with engine.connect() as connection:
            reached = connection.scalar(sa.text("show search_path")) == SCHEMA
    except sa.exc.OperationalError as error:
        # so PgBouncer, unless it is told to drop them in silence
        if "unsupported startup parameter" not in str(error.orig):
            raise
        reached = False
    if not reached:
        raise PooledHistoryError(
            "a pooler before the database keeps from it what Dagster says of its sessions: builds, and "
            "`serve --pipeline`, need the database's own address in TOUCHLEDGER_DATABASE_URL"
        )


def set_environment(settings: Settings) -> None:
    """Name the deployment in the environment of this process and those it starts; nothing of them calls home."""
    os.environ |= {
        "TOUCHLEDGER_HOME": str(settings.home),
        "DAGSTER_HOME": str(settings.dagster_home),
        "DO_NOT_TRACK": "1",
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        "GX_ANALYTICS_ENABLED": "False",
    }


def _event_log(settings: Settings) -> dict[str, Any]:
    # where Dagster keeps it by default, so that a folder of before is read on
    folder = settings.dagster_home / "history" / "runs"
    return {"module": "orchestration.event_log", "class": "KeptEventLog", "config": {"base_dir": str(folder)}}


def _storage_url(operational_url: str) -> str:
    # Dagster's driver is psycopg2; with psycopg 3 its queries fail on their placeholders
    url = sa.make_url(operational_url).set(drivername="postgresql+psycopg2")
    # it writes the moment of the server's clock without a zone, and reads it as UTC
    told = {name: str(given) for name, given in patience.connecting(url).items()}
    told["options"] = f"-csearch_path={SCHEMA} -ctimezone=UTC"
    return url.update_query_dict(told).render_as_string(hide_password=False)


def _create_schema(operational_url: str) -> None:
    with engine_for(operational_url).begin() as connection:
        # whoever may make none is refused also where it is there already
        if not sa.inspect(connection).has_schema(SCHEMA):
            connection.execute(sa.text(f"create schema if not exists {SCHEMA}"))
        _refuse_anothers(connection)


def _refuse_anothers(connection: sa.Connection) -> None:
    """Two daemons on the same books keep each other from beginning anything, and find each other's runs there."""
    own = connection.scalar(sa.select(sa.func.current_schema()))
    if not sa.inspect(connection).has_table(KEEPER.name, schema=SCHEMA):
        connection.execute(sa.text("select pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        connection.execute(sa.text(f"create table if not exists {KEEPER.fullname} (operational_schema text not null)"))
        if connection.scalar(sa.select(KEEPER.c.operational_schema)) is None:
            connection.execute(sa.insert(KEEPER).values(operational_schema=own))
    keeper = connection.scalar(sa.select(KEEPER.c.operational_schema))
    if keeper != own:
        told = f"another deployment, in the schema {keeper} of this database, keeps its runs in the schema {SCHEMA}"
        way_out = f"give this one a database of its own, or, if that one is no more, drop the table {KEEPER.fullname}"
        raise SharedHistoryError(f"{told}: {way_out}")


def fail_orphans(instance: dg.DagsterInstance) -> list[str]:
    """End, in Dagster's books, the runs that a process of this machine had started and did not survive.

    Those of other machines, and of other containers, are theirs to end; but one whose process did not even live to note
    itself is nobody's.
    """
    # every command prepares the instance, and few of them run anything: Dagster takes most of a second to import
    import dagster as dg

    # written down a moment before its process tells that it begins
    begun = [dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTED]
    records = instance.get_run_records(dg.RunsFilter(statuses=begun))
    dead = [one.dagster_run for one in records if is_orphan(one.dagster_run) or _is_nobodys(one)]
    for run in dead:
        process = f" {_as_now(run.tags)[PID_TAG]}" if is_orphan(run) else ""
        instance.report_run_failed(run, f"its process{process} is gone")
    return [run.run_id for run in dead]


def is_orphan(run: dg.DagsterRun) -> bool:
    """Whether a process of this machine had started the run and is gone."""
    tags = _as_now(run.tags)
    return _is_ours(run.run_id, tags) and not _alive(int(tags[PID_TAG]), tags.get(BEGUN_TAG, ""))


def process_tags(run_id: str) -> dict[str, str]:
    """What a run carries that this process executes: `fail_orphans` knows by it whether it can still end."""
    pid = os.getpid()
    return {PID_TAG: str(pid), BEGUN_TAG: _begun(pid), HOST_TAG: platform.node(), RUN_TAG: run_id}


def origin_of(job: str) -> RemoteJobOrigin:
    """Where Dagster's own processes find a job that this process runs."""
    from dagster._core.definitions.repository_definition import SINGLETON_REPOSITORY_NAME
    from dagster._core.remote_origin import RegisteredCodeLocationOrigin, RemoteJobOrigin, RemoteRepositoryOrigin

    location = RegisteredCodeLocationOrigin(CODE_LOCATION)
    return RemoteJobOrigin(RemoteRepositoryOrigin(location, SINGLETON_REPOSITORY_NAME), job)


def _as_now(tags: Mapping[str, str]) -> dict[str, str]:
    before = {name: said for name, said in tags.items() if name.startswith(PREFIX_BEFORE)}
    # a run of this version that repeats one of before has both
    return {PREFIX + name.removeprefix(PREFIX_BEFORE): said for name, said in before.items()} | dict(tags)


def _is_ours(run_id: str, tags: Mapping[str, str]) -> bool:
    # before its name was kept, a run was taken for one of the machine that looked
    return _is_noted(run_id, tags) and tags.get(HOST_TAG, platform.node()) == platform.node()


def _is_nobodys(record: dg.RunRecord) -> bool:
    """Whether the run's process ended before it noted itself."""
    run, begun = record.dagster_run, record.start_time
    latest = time.time() - NOTED_WITHIN.total_seconds()
    return not _is_noted(run.run_id, _as_now(run.tags)) and begun is not None and begun < latest


def _is_noted(run_id: str, tags: Mapping[str, str]) -> bool:
    return PID_TAG in tags and tags.get(RUN_TAG, run_id) == run_id


def _alive(pid: int, begun: str) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    found = _begun(pid)
    # a run of before tells no begin, and not every system tells one
    return not begun or not found or found == begun


def _begun(pid: int) -> str:
    """When the process of this number began, as no other one did; empty where the system does not tell.

    That is the id of the machine's start, and the ticks from then to the process's (`man 5 proc`, `starttime`).
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        # the second field is a name in parentheses, which may hold spaces, and more parentheses
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return f"{boot} {fields[19]}"
