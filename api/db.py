"""The operational database: engine, and one session per unit of work that commits or rolls back as a whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
import uuid_utils
from sqlalchemy.orm import DeclarativeBase, Session

from api import patience, pooled
from api.once import Once
from api.prepared import Prepared
from api.turns import Turn, turn_at

CONVENTION = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


class UtcDateTime(sa.types.TypeDecorator[datetime]):
    """A UTC instant; refuses naive values, and gives SQLite its lost zone back, Postgres UTC for its server's."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a naive datetime is not an instant")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Base(DeclarativeBase):
    """Base of the operational tables (`api/models`)."""

    metadata = sa.MetaData(naming_convention=CONVENTION)
    type_annotation_map = {
        datetime: UtcDateTime(),
        dict[str, Any]: sa.JSON(),
        list[str]: sa.JSON(),
        list[Any]: sa.JSON(),
    }


def new_id() -> str:
    """A UUIDv7 in lower case: operational rows sort by creation."""
    return str(uuid_utils.uuid7())


def now() -> datetime:
    """This instant, in UTC."""
    return datetime.now(UTC)


def _sqlite_pragmas(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("pragma journal_mode=wal")
    cursor.execute("pragma synchronous=full")
    cursor.execute("pragma busy_timeout=10000")
    # whoever's commit fills the log carries it over to the file and flushes both, ten to twenty milliseconds in which
    # nobody else writes: at 1,000 pages that met every hundredth request
    cursor.execute("pragma wal_autocheckpoint=10000")
    cursor.execute("pragma foreign_keys=on")
    # what is deleted is overwritten, and does not wait in a free page for somebody to read it
    cursor.execute("pragma secure_delete=on")
    cursor.close()


def _take_over_transactions(connection: Any, _record: Any) -> None:
    # the driver's own BEGIN is deferred: two readers that both go on to write would deadlock, not wait
    connection.isolation_level = None


BEGIN = Prepared(sa.text("begin immediate"))
# set where the turn was waited for already, whether it came or not
WAITED = "waited_for_its_turn"


def _begin_immediate(connection: sa.Connection) -> None:
    database = connection.engine.url.database
    if database and database != ":memory:" and WAITED not in connection.get_execution_options():
        turn = turn_at(database)
        if turn.take():
            connection.info["turn"] = turn
    BEGIN.at_once(connection, {})


def _pass_on(_connection: Any, record: Any) -> None:
    turn = record.info.pop("turn", None)
    if turn is not None:
        turn.pass_on()


def _relax_sqlite(connection: Any, _record: Any) -> None:
    connection.execute("pragma synchronous=normal")


RELAX_POSTGRES = Prepared(sa.text("set local synchronous_commit = off"))


def engine_for(url: str, *, durable: bool = True) -> sa.Engine:
    """The engine for an address (SQLite or `postgresql+psycopg://`), one per process and durability."""
    return _engine(url, durable)


def close_engines(url: str) -> None:
    """Close the idle connections to an address; the next use opens new ones."""
    kept = _kept(url)
    if kept is not None:
        kept.close()
    for durable in (True, False):
        _engine(url, durable).dispose()


def close_all_engines() -> None:
    """Close the idle connections of this process, whatever they lead to."""
    for url in _addresses:
        close_engines(url)


_addresses: set[str] = set()


@Once
def _engine(url: str, durable: bool) -> sa.Engine:
    # what is bound may be a person's or a secret: no exception and no log line repeats it
    found = sa.make_url(url)
    is_file = found.get_backend_name() == "sqlite"
    # who waited for a row reads it as it is by then; under a stricter default of the server's both would have failed
    told: Any = {} if is_file else {"isolation_level": "READ COMMITTED", "connect_args": patience.connecting(found)}
    engine = sa.create_engine(url, pool_pre_ping=not is_file, hide_parameters=True, **told)
    _addresses.add(url)
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", _sqlite_pragmas)
        if not durable:
            sa.event.listen(engine, "connect", _relax_sqlite)
        sa.event.listen(engine, "connect", _take_over_transactions)
        sa.event.listen(engine, "begin", _begin_immediate)
        sa.event.listen(engine, "checkin", _pass_on)
    else:
        pooled.listen(engine)
        patience.listen(engine, url)
    return engine


@contextmanager
def transaction(url: str, *, durable: bool = True) -> Iterator[Session]:
    """A session that commits when the block ends and rolls back when it raises; nobody else commits.

    With `durable=False` a power cut may lose the last commits (never their order or their atomicity): good enough for
    rate buckets, and it saves every request a disk flush.
    """
    engine = engine_for(url, durable=durable)
    with Session(engine, expire_on_commit=False) as session, session.begin():
        if not durable and engine.dialect.name == "postgresql":
            RELAX_POSTGRES.rows(session.connection())
        yield session


@contextmanager
def outside_transactions(url: str) -> Iterator[sa.PoolProxiedConnection]:
    """The driver's own connection, for what no transaction can hold; with an SQLite file it has the turn to write."""
    engine = engine_for(url)
    connection = engine.raw_connection()
    driver: Any = connection.driver_connection
    try:
        if engine.dialect.name != "sqlite":
            driver.autocommit = True
        elif (turn := turn_at(str(engine.url.database))).take():
            # passed on when the connection is given back
            connection.info["turn"] = turn
        yield connection
    finally:
        if engine.dialect.name != "sqlite":
            driver.autocommit = False
        connection.close()


class Kept:
    """The one connection, and session on it, with which this process admits requests to an SQLite file, in turn.

    To take one from the pool and to give it back takes longer than all that is done with it.
    """

    def __init__(self, url: str, database: str) -> None:
        self._url, self._database = url, database
        self._opened: tuple[int, sa.Connection, Session] | None = None

    @property
    def turn(self) -> Turn:
        """Whoever has it has the connection."""
        return turn_at(self._database)

    def opened(self) -> tuple[sa.Connection, Session]:
        """Outside of any transaction; call with the turn."""
        if self._opened is None or self._opened[0] != os.getpid():
            if self._opened is not None:
                # a forked process neither uses nor closes what its parent opened
                _of_the_parent.append(self._opened)
            connection = engine_for(self._url, durable=False).connect().execution_options(**{WAITED: True})
            self._opened = os.getpid(), connection, Session(connection, expire_on_commit=False)
        return self._opened[1:]

    def give_back(self) -> None:
        """To the pool, which looks after what is broken; call with the turn."""
        if self._opened is not None and self._opened[0] == os.getpid():
            self._opened[1].close()
            self._opened = None

    def close(self) -> None:
        """The next admission opens another."""
        if self._opened is not None and self.turn.take():
            try:
                self.give_back()
            finally:
                self.turn.pass_on()


_of_the_parent: list[object] = []


@Once
def _kept(url: str) -> Kept | None:
    found = sa.make_url(url)
    is_file = found.get_backend_name() == "sqlite" and found.database not in {None, "", ":memory:"}
    return Kept(url, str(found.database)) if is_file else None


@contextmanager
def admission(url: str) -> Iterator[Session]:
    """The transaction that every request begins with: as `transaction`, not durable, and begun at once.

    The session itself does nothing before it is asked for a row; `connection_of` it takes a statement at a time.
    """
    kept = _kept(url)
    turn = kept.turn if kept else None
    if kept is None or turn is None or not turn.take():
        with _pooled(engine_for(url, durable=False)) as session:
            yield session
            _flush(session)
        return
    try:
        connection, session = kept.opened()
        with connection.begin():
            try:
                yield session
                _flush(session)
            finally:
                if session.in_transaction():
                    session.close()
    except sa.exc.SQLAlchemyError:
        kept.give_back()
        raise
    finally:
        turn.pass_on()


@contextmanager
def _pooled(engine: sa.Engine) -> Iterator[Session]:
    with engine.connect().execution_options(**{WAITED: True}) as connection, connection.begin():
        if connection.dialect.name == "postgresql":
            RELAX_POSTGRES.rows(connection)
        with Session(connection, expire_on_commit=False) as session:
            yield session


def _flush(session: Session) -> None:
    if session.in_transaction():
        session.flush()


def connection_of(session: Session) -> sa.Connection:
    """What a session runs its statements on, in the transaction that it takes part in."""
    return session.bind if isinstance(session.bind, sa.Connection) else session.connection()


@contextmanager
def unit(url: str) -> Iterator[Session]:
    """The session of one write: it begins with its first statement, and commits when the block ends without raising.

    A write that calls a provider first thus holds no lock while it waits.
    """
    with Session(engine_for(url), expire_on_commit=False) as session:
        yield session
        session.commit()
