"""The operational database under many short transactions."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from api import db, turns
from api.models import Profile, RateUse, Run
from tests.factories import accounts
from tests.fixtures.waiting import wait_until
from touchledger.settings import Settings

PAGE, OLD_LIMIT = 4096, 1_000


def test_a_few_thousand_requests_are_admitted_without_carrying_the_log_over(settings: Settings) -> None:
    with db.admission(settings.operational_url) as session:
        session.add_all(RateUse(bucket=f"key:{n}", uses=[]) for n in range(300))
    before = file(settings).stat().st_mtime_ns
    for n in range(OLD_LIMIT):
        with db.admission(settings.operational_url) as session:
            session.get_one(RateUse, f"key:{n * 7 % 300}").uses = [[n, 1]] * 20
    assert file(settings, "-wal").stat().st_size > OLD_LIMIT * PAGE
    assert file(settings).stat().st_mtime_ns == before


def file(settings: Settings, suffix: str = "") -> Path:
    return Path(settings.operational_url.removeprefix("sqlite:///") + suffix)


def test_requests_are_admitted_on_one_connection_by_whichever_thread(settings: Settings) -> None:
    taken: list[object] = []
    sa.event.listen(db.engine_for(settings.operational_url, durable=False), "checkout", lambda *_: taken.append(_))

    def admitted(n: int) -> None:
        with db.admission(settings.operational_url) as session:
            session.add(RateUse(bucket=f"key:{n}", uses=[]))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(admitted, range(20)))
    assert len(taken) == 1
    assert buckets(settings) == 20
    db.close_engines(settings.operational_url)
    admitted(20)
    assert len(taken) == 2


def test_nothing_of_an_admission_that_raised_is_in_the_next(settings: Settings) -> None:
    added = RateUse(bucket="key:a", uses=[])
    with pytest.raises(ZeroDivisionError), db.admission(settings.operational_url) as session:
        session.add(added)
        session.flush()
        1 / 0  # noqa: B018
    with db.admission(settings.operational_url) as session:
        assert added not in session
        assert session.get(RateUse, "key:a") is None


def test_a_connection_that_failed_is_not_kept(settings: Settings) -> None:
    with db.admission(settings.operational_url) as session:
        broken = db.connection_of(session)
    # the transaction of somebody who never ended it
    assert broken.connection.driver_connection is not None
    broken.connection.driver_connection.execute("begin")
    with pytest.raises(sa.exc.OperationalError), db.admission(settings.operational_url):
        pass
    with db.admission(settings.operational_url) as session:
        assert db.connection_of(session) is not broken
        session.add(RateUse(bucket="key:a", uses=[]))
    assert buckets(settings) == 1


def test_who_waits_too_long_for_the_turn_is_admitted_when_sqlite_lets_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "PATIENCE_SECONDS", 0.05)
    turn = turns.turn_at(str(file(settings)))
    assert turn.take()
    monkeypatch.setattr(turn, "_threads", waited := Waited(turn._threads))
    with db.admission(settings.operational_url) as session:
        session.add(RateUse(bucket="key:a", uses=[]))
    # once, and not again when the transaction begins
    assert waited.seconds == [0.05]
    turn.pass_on()
    assert buckets(settings) == 1


class Waited:
    """A lock that keeps how long it was to be waited for, each time."""

    def __init__(self, lock: threading.Lock) -> None:
        self.lock, self.release, self.seconds = lock, lock.release, list[float]()

    def acquire(self, timeout: float) -> bool:
        self.seconds.append(timeout)
        return self.lock.acquire(timeout=timeout)


def test_a_forked_process_opens_a_connection_of_its_own(settings: Settings) -> None:
    with db.admission(settings.operational_url) as session:
        parents = db.connection_of(session)
    child = os.fork()
    if child == 0:
        with db.admission(settings.operational_url) as session:
            own = db.connection_of(session) is not parents
        os._exit(0 if own else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with db.admission(settings.operational_url) as session:
        assert db.connection_of(session) is parents


def buckets(settings: Settings) -> int:
    with db.transaction(settings.operational_url) as session:
        return session.scalar(sa.select(sa.func.count()).select_from(RateUse)) or 0


@pytest.mark.parametrize(("query", "told"), [("", {10, 30_000}), ("?connect_timeout=3&tcp_user_timeout=4", {"3", "4"})])
def test_a_postgres_that_does_not_answer_is_given_up_in_time_or_when_its_address_says(
    query: str, told: set[object]
) -> None:
    # nobody says no where a machine is gone: each request had held its thread for two minutes, and then the next
    asked: dict[str, object] = {}
    engine = db.engine_for(f"postgresql+psycopg://nobody@127.0.0.1:1/none{query}")
    sa.event.listen(engine, "do_connect", lambda _dialect, _record, _arguments, given: asked.update(given))
    with pytest.raises(sa.exc.OperationalError, match="refused"):
        engine.connect()
    assert {asked.get("connect_timeout"), asked.get("tcp_user_timeout")} == told


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_instants_are_utc_whatever_the_zone_of_the_server(database_url: str) -> None:
    # webhooks, mail and `touchledger status` told the hour of the server's zone, some of them as UTC
    began = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)
    with db.transaction(database_url) as session:
        session.execute(sa.text("set time zone 'America/St_Johns'"))
        session.add(Run(started_at=began))
        session.flush()
        told = session.scalar(sa.select(Run.started_at))
    assert told is not None
    assert told.isoformat() == "2026-03-29T00:30:00+00:00"


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_who_waited_for_a_row_goes_on_whatever_the_isolation_of_the_server(database_url: str) -> None:
    # requests of one key at the same moment were 503 and 500: its allowance had changed while they waited for it
    profile = accounts.profile(database_url)
    with db.transaction(database_url) as session:
        name = session.scalar(sa.text("select quote_ident(current_database())"))
        session.execute(sa.text(f"alter database {name} set default_transaction_isolation = serializable"))
    db.close_engines(database_url)
    change = sa.update(Profile).where(Profile.id == profile.id).values(name=Profile.name + "+")
    blocked = sa.text("select count(*) from pg_locks where not granted")
    with ThreadPoolExecutor(1) as pool:
        with db.transaction(database_url) as session, db.transaction(database_url) as watching:
            session.execute(change)
            waiting = pool.submit(changed, database_url, change)
            wait_until(lambda: watching.scalar(blocked))
        assert waiting.result(60) == f"{profile.name}++"


def changed(url: str, change: sa.Update) -> str | None:
    with db.transaction(url) as session:
        return session.scalar(change.returning(Profile.name))
