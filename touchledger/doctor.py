"""`touchledger doctor`: what a deployment needs, one line each, with the way out where something is not well."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import sqlalchemy as sa
from rich.markup import escape

from api.db import engine_for, transaction
from api.migrate import NewerDatabaseError, check
from api.models import Connection, Profile
from api.models.connection import HOLDING
from orchestration.instance import PooledHistoryError, require_own_line
from touchledger import doctor_postgres, doctor_spark
from touchledger.demo import MADE
from touchledger.doctor_files import (
    disk,
    history,
    imports,
    is_there,
    lake,
    landed_files,
    not_writable,
    open_to_all,
    signing_key,
    snapshot,
    warehouse,
    within,
)
from touchledger.doctor_packages import differing, pins
from touchledger.finding import Finding
from touchledger.output import Output, spelt
from touchledger.settings import REPOSITORY, Settings, unknown_variables
from touchledger.supervisor import PortTakenError, listener, require_free

# the way out of a database that cannot be used
OWN_DATABASE = "make room, end what locks it, or put the backup in its place: docs/runbook.md"
GIVEN_DATABASE = "start it, or correct TOUCHLEDGER_DATABASE_URL"
# what of an address's query is a secret, by the names of libpq
SECRETS = ("password", "sslpassword")
COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


def examine(output: Output, settings: Settings) -> int:
    """Print every finding; gives the exit code, 1 when one of them is a fail."""
    findings = [finding for look in LOOKS for finding in look(settings)]
    failed = any(finding.verdict == "fail" for finding in findings)
    lines = []
    for one in findings:
        hint = f" - {one.way_out}" if one.way_out else ""
        lines.append(f"[{COLOURS[one.verdict]}]{one.verdict:<4}[/] {escape(f'{one.subject}: {one.found}{hint}')}")
    output.result("fail" if failed else "ok", [asdict(one) for one in findings], "\n".join(lines))
    return int(failed)


def python_version(_: Settings) -> Iterator[Finding]:
    """The interpreter; an older one than 3.11 cannot install the package at all."""
    yield Finding("Python", "ok", f"{sys.version.split()[0]} in {sys.prefix}")


def locked_packages(_: Settings) -> Iterator[Finding]:
    """Installed versions are those of the lock file."""
    lock = REPOSITORY / "requirements.lock"
    found = differing(lock, _installed)
    if found:
        yield Finding("packages", "warn", found, "run `make setup`")
    else:
        yield Finding("packages", "ok", f"{len(pins(lock))} as locked")


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def variables(_: Settings) -> Iterator[Finding]:
    """Every variable that is named like a setting is one; others are left alone in silence by everything else."""
    for name, meant in unknown_variables().items():
        way_out = f"set {meant} instead" if meant else "see .env.example"
        yield Finding("environment", "warn", f"{name} is no setting and changes nothing", way_out)


def state_folder(settings: Settings) -> Iterator[Finding]:
    """The state folder can be written and has room."""
    room = disk(settings.home)
    refused = not_writable(settings.home)
    if refused:
        way_out = "set TOUCHLEDGER_HOME to a folder of yours" if room.verdict != "fail" else "make room there"
        yield Finding("state folder", "fail", f"{settings.home}: {refused}", way_out)
    else:
        yield Finding("state folder", "ok", f"{settings.home} can be written")
    if not refused or room.verdict == "fail":
        yield room


def database(settings: Settings) -> Iterator[Finding]:
    """The operational database answers, is whole, and has this version's schema."""
    address = _shown(sa.make_url(settings.operational_url))
    if settings.database_url is None and not is_there(settings.home / "operational.db"):
        yield _not_made(settings)
        return
    try:
        with engine_for(settings.operational_url).connect() as connection:
            kept_from = doctor_postgres.kept_from(connection) or _damage(connection) or _lacking(connection, settings)
        if kept_from is not None:
            yield Finding("database", "fail", f"{address}: {kept_from[0]}", kept_from[1])
            return
        check(settings.operational_url)
    except NewerDatabaseError as error:
        found, _, way_out = str(error).partition(": ")
        yield Finding("database", "fail", f"{address}: {found}", way_out)
    except sa.exc.DatabaseError as error:
        found = f"{address}: {str(error.orig).partition(chr(10))[0]}"
        yield Finding("database", "fail", found, OWN_DATABASE if settings.database_url is None else GIVEN_DATABASE)
    except Exception as error:
        yield Finding(
            "database", "fail", f"{address}: {str(error).splitlines()[0]}", "`touchledger status` migrates it"
        )
    else:
        yield Finding("database", "ok", f"{address} is migrated")
        with engine_for(settings.operational_url).connect() as connection:
            yield from doctor_postgres.rights(connection)
        yield from _dagsters(settings)


def _dagsters(settings: Settings) -> Iterator[Finding]:
    try:
        require_own_line(settings)
    except PooledHistoryError as error:
        found, _, way_out = str(error).partition(": ")
        yield Finding("Dagster", "warn", found, way_out)
    except sa.exc.DatabaseError as error:
        # it has a driver and a connection of its own, and no more of these may be free
        yield Finding("Dagster", "fail", str(error.orig).partition("\n")[0], GIVEN_DATABASE)


def _shown(url: sa.URL) -> str:
    """An address without its secrets: the driver takes a password behind the question mark too."""
    return url.difference_update_query(SECRETS).render_as_string(hide_password=True)


def _damage(connection: sa.Connection) -> tuple[str, str] | None:
    """What is wrong within an SQLite file, though it can be opened, and the way out."""
    if connection.dialect.name != "sqlite":
        return None
    # on the driver's connection, since a transaction of ours would keep others from writing meanwhile
    driver: Any = connection.connection.driver_connection
    ((found,),) = driver.execute("pragma quick_check(1)").fetchall()
    return None if found == "ok" else (f"is damaged: {found.splitlines()[-1]}", OWN_DATABASE)


def _lacking(connection: sa.Connection, settings: Settings) -> tuple[str, str] | None:
    """That a database is empty beside a lake which another one, or its backup, knows; and the way out."""
    if not landed_files(settings) or sa.inspect(connection).has_table("alembic_version"):
        return None
    # any other command would make tables in it, and then no dump can be restored there
    return "holds no table, and the lake holds rows of its profiles", "put its backup in its place, before all else"


def _not_made(settings: Settings) -> Finding:
    if landed_files(settings):
        # any other command would make an empty one, which knows none of the profiles whose rows these are
        return Finding("database", "fail", f"{settings.home / 'operational.db'} is gone", "put its backup in its place")
    return Finding("database", "warn", "not made yet", "`touchledger up` or any other command makes it")


def ports(settings: Settings) -> Iterator[Finding]:
    """The ports of `touchledger up` are free, or ours are answering on them."""
    for name in ("api_port", "dagster_port", "sandbox_port"):
        port = getattr(settings, name)
        host, its = listener(settings, name)
        setting = f"TOUCHLEDGER_{name.upper()}"
        if _answers(host, port):
            yield Finding("port", "warn", f"{port} is in use", f"if that is not this deployment, set {setting}")
            continue
        try:
            require_free(host, port, setting, host_setting=its)
        except PortTakenError as error:
            yield Finding("port", "fail", str(error), "`touchledger serve` cannot begin there")
        else:
            yield Finding("port", "ok", f"{port} is free")


def _answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=1).close()
    except (OSError, UnicodeError):
        return False
    return True


def sandbox(settings: Settings) -> Iterator[Finding]:
    """A demo's sandbox answers; only asked where there is a demo."""
    if not is_there(settings.home / MADE):
        return
    with socket.socket() as probe:
        probe.settimeout(1)
        answers = probe.connect_ex(("127.0.0.1", settings.sandbox_port)) == 0
    if answers:
        yield Finding("sandbox", "ok", f"answers on {settings.sandbox_url}")
    else:
        yield Finding("sandbox", "warn", "not running", "the demo's connections answer while `touchledger up` runs")


# by the status of a connection, what somebody has to do; who is asked on says what the newest pull met
WAY_OUT = {
    "reconnect_required": "its owner has to connect it anew; nothing is pulled before that",
    "needs_action": "its owner has to put it right at the provider",
}


def connections(settings: Settings) -> Iterator[Finding]:
    """Every connected account gave what it was asked for the last time; none is asked here."""
    if settings.database_url is None and not is_there(settings.home / "operational.db"):
        return
    living = sa.select(Profile.id).where(Profile.archived_at.is_(None))
    # not the token: to open one makes a signing key where there is none
    told = (Connection.display_name, Connection.provider, Connection.status, Connection.status_reason)
    chosen = sa.select(*told).where(Connection.status.in_(HOLDING), Connection.profile_id.in_(living))
    try:
        with transaction(settings.operational_url, durable=False) as session:
            found = session.execute(chosen.order_by(Connection.created_at, Connection.id)).all()
    except sa.exc.SQLAlchemyError:
        # told where the database is looked at
        return
    broken = [one for one in found if one.status in WAY_OUT or one.status_reason]
    for one in broken:
        why = ", ".join(part for part in (one.status, one.status_reason) if part)
        way_out = WAY_OUT.get(one.status, "the next pull asks again; docs/runbook.md tells of reasons")
        yield Finding("connection", "warn", f"{spelt(one.display_name)} ({one.provider}): {why}", way_out)
    if found and not broken:
        yield Finding("connections", "ok", f"{len(found):,} gave what they were asked for")


LOOKS: tuple[Callable[[Settings], Iterator[Finding]], ...] = (
    python_version,
    locked_packages,
    variables,
    state_folder,
    open_to_all,
    within,
    database,
    signing_key,
    history,
    ports,
    lake,
    imports,
    connections,
    warehouse,
    doctor_spark.cluster,
    snapshot,
    sandbox,
)
