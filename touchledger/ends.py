"""How a command ends that cannot end well: what is in its way, and the way out, in one line."""

from __future__ import annotations

import errno
import signal
import sys
from pathlib import Path
from typing import Any

import click

from touchledger.entry import STOPPED
from touchledger.output import spelt
from touchledger.own_key import LostKeyError
from touchledger.settings import REPOSITORY

# what is read of the repository beside Python's own files, which a wheel has not
NEEDED = ("dbt_project", "data_contracts/inbound")
# what Postgres says to a user who may not, and of a schema that is not there
NOT_OURS = {"42501", "3F000"}


class Commands(click.Group):
    """Commands that tell in a line what the machine or the deployment lacks; faults of ours keep their traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        # dbt and others ask for it long after the command began, and tell it as a file of theirs that lacks
        _refuse_nowhere()
        _refuse_python_alone()
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            # pressed again, it would end what is about to end in the midst of it
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            click.echo("stopped; what was served before still is", err=True)
            raise SystemExit(STOPPED) from None
        except click.ClickException as refusal:
            # it may name a file, a column or an account as somebody else named it
            refusal.message = "\n".join(map(spelt, refusal.message.split("\n")))  # type: ignore[misc]
            raise
        except Exception as error:
            told = told_in_a_line(error)
            if told is None:
                raise
            raise click.ClickException(told) from None


def told_in_a_line(error: Exception) -> str | None:
    """What the exception says to who operates the deployment; None where it is none of theirs."""
    # they take long to import, and most commands end well
    import duckdb
    import sqlalchemy as sa

    from api.migrate import HeldDatabaseError, NewerDatabaseError, WrongEncodingError
    from orchestration.instance import PooledHistoryError, SharedHistoryError
    from orchestration.lake_owners import LostLakeError
    from orchestration.landed_facts import DamagedRawFileError
    from orchestration.locks import WriterBusyError
    from orchestration.pointer import DamagedPointerError
    from orchestration.warehouse_state import DamagedWarehouseError

    if isinstance(error, DamagedPointerError):
        return f"{error}; `touchledger build` publishes a new one over it"
    ours = (NewerDatabaseError, HeldDatabaseError, SharedHistoryError, PooledHistoryError, LostKeyError)
    told = (*ours, WrongEncodingError, LostLakeError, WriterBusyError, DamagedWarehouseError, DamagedRawFileError)
    if isinstance(error, told):
        return str(error)
    if _is_dagsters_database(error):
        # wrapped there, after some more tries
        error = error.__cause__ if isinstance(error.__cause__, sa.exc.OperationalError) else error
    if isinstance(error, sa.exc.DBAPIError) and _is_the_databases(error):
        return f"the database cannot be used: {_first_line(error.orig)}; `touchledger doctor` says more"
    if isinstance(error, duckdb.IOException):
        return f"a file cannot be read: {_first_line(error)}; `touchledger doctor` says more"
    if isinstance(error, OSError) and error.errno is not None and error.errno != errno.EPIPE:
        return f"{error.filename or 'the state folder'}: {error.strerror}; `touchledger doctor` says more"
    return None


def _refuse_nowhere() -> None:
    try:
        Path.cwd()
    except FileNotFoundError:
        told = "the folder that this command was started in is there no more; begin in another one"
        raise click.ClickException(told) from None


def _refuse_python_alone() -> None:
    if lacking := [f"no {name}" for name in NEEDED if not (REPOSITORY / name).is_dir()]:
        told = f"{REPOSITORY} has {' and '.join(lacking)}: Touchledger runs from its repository"
        raise click.ClickException(f"{told}; `make setup` there installs it")


def _is_dagsters_database(error: Exception) -> bool:
    """Whether Dagster's own tables could not be reached; without its module nothing has asked for them."""
    storage = sys.modules.get("dagster_postgres.utils")
    return storage is not None and isinstance(error, storage.DagsterPostgresException)


def _is_the_databases(error: Any) -> bool:
    """Whether the database, its address or what its user may do is in the way, and no statement of ours."""
    import sqlalchemy as sa

    from api.read_only import REFUSED

    if isinstance(error, sa.exc.OperationalError) or type(error) is sa.exc.DatabaseError:
        return True
    # nobody gets to a statement where a connection is refused; psycopg names states otherwise than Dagster's driver
    state = getattr(error.orig, "sqlstate", None) or getattr(error.orig, "pgcode", None)
    return error.statement is None or state in {*NOT_OURS, REFUSED}


def _first_line(error: BaseException | None) -> str:
    return str(error).partition("\n")[0]
