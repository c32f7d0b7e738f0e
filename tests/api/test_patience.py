"""How long a Postgres is waited for that is gone or whose rows somebody holds, and how long it waits for us."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from api import db, patience, worker
from api.app import create_app
from api.guard import public
from api.http import Blueprint
from api.models import IdempotencyRecord, RateUse
from tests.factories import accounts
from tests.factories.deployments import settings_of
from tests.fixtures.waiting import wait_until

pytestmark = pytest.mark.parametrize("database_url", ["postgres"], indirect=True)

SESSIONS = sa.text("select count(*) from pg_stat_activity where pid = :process")
SHOWN = ("tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count", "tcp_user_timeout", "lock_timeout")


def shown(url: str) -> list[str]:
    with db.transaction(url) as session:
        return [session.scalar(sa.text(f"show {name}")) or "" for name in SHOWN]


def test_who_is_gone_with_a_question_or_a_lock_is_given_up_by_either_side(database_url: str) -> None:
    # where the question had arrived the API's thread waited two hours; a lock was held as long, or for fifteen minutes
    with db.transaction(database_url) as session:
        driver: Any = session.connection().connection.driver_connection
        with socket.socket(fileno=socket.dup(driver.fileno())) as line:
            names = ("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT", "TCP_USER_TIMEOUT")
            ours = [line.getsockopt(socket.IPPROTO_TCP, getattr(socket, name)) for name in names]
    assert ours == [10, 5, 4, 30_000]
    assert shown(database_url) == ["10", "5", "4", "30000", "0"]


def test_what_the_address_or_the_operator_says_stays(database_url: str) -> None:
    told = f"{database_url}?keepalives_idle=60&options=-ctcp_keepalives_idle%3D70%20-clock_timeout%3D20s"
    patience.shorten(told)
    with db.transaction(database_url) as session:
        name = session.scalar(sa.text("select quote_ident(current_database())"))
        session.execute(sa.text(f"alter database {name} set tcp_keepalives_count = 7"))
    assert shown(told) == ["70", "5", "7", "30000", "20s"]
    db.close_engines(told)


def test_what_is_asked_often_is_planned_for_what_is_asked(database_url: str) -> None:
    # after ten times it was planned for any values: pages of a log read all its rows, and /readyz all deliveries
    told = f"{database_url}?options=-cplan_cache_mode%3Dauto"
    assert plans(database_url) == 0
    # what an operator sets stays
    assert plans(told) > 0
    db.close_engines(told)


def plans(url: str) -> int:
    """How often a statement that was asked twenty times went by a plan for any values."""
    asked = sa.select(RateUse).where(RateUse.bucket == "a")
    counted = sa.text("select sum(generic_plans) from pg_prepared_statements where statement like '%rate_uses%'")
    with db.transaction(url) as session:
        for _ in range(20):
            session.scalars(asked).all()
        return int(session.scalar(counted))


def test_whoever_waits_for_a_table_that_somebody_holds_is_told_to_come_again(
    home: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a session that had left a lock behind held one thread of the API after the other, and then nothing was answered
    monkeypatch.setitem(patience.LOCKED, "lock_timeout", "200ms")
    secret = accounts.secret(database_url, accounts.profile(database_url))
    db.close_engines(database_url)
    client = create_app(settings_of(home, database_url)).test_client()
    with sa.create_engine(database_url, poolclass=sa.NullPool).begin() as somebody:
        somebody.execute(sa.text("lock table profiles in access exclusive mode"))
        response = client.get("/api/v1/campaigns", headers={"Authorization": f"Bearer {secret}"})
        ready = client.get("/readyz")
    assert (response.status_code, response.get_json()["error"]["code"]) == (503, "database_unavailable")
    assert response.headers["Retry-After"] == "2"
    assert (ready.status_code, ready.get_json()["checks"]["operational_db"]) == (503, "failing")
    assert client.get("/readyz").status_code == 200


@pytest.fixture
def again(home: Path, database_url: str) -> Iterator[FlaskClient]:
    """A client of an application that idles within a transaction, and reads a column, for whoever asks."""
    own, views = f"{database_url}?application_name=idle", Blueprint("idle", __name__)

    def is_there(process: int) -> bool:
        with db.transaction(database_url) as session:
            return bool(session.scalar(SESSIONS, {"process": process}))

    @views.route("/idle/<int:milliseconds>")
    @public
    @views.response(200)
    def idle(milliseconds: int) -> int:
        with db.transaction(own) as session:
            found = len(session.scalars(sa.text("select name from profiles")).all())
            if milliseconds:
                process = session.scalar(sa.select(sa.func.pg_backend_pid()))
                session.execute(sa.text(f"set idle_in_transaction_session_timeout = {milliseconds}"))
                wait_until(lambda: not is_there(process))
            return found + len(session.scalars(sa.text("select name from profiles")).all())

    yield create_app(settings_of(home, own), more=[views]).test_client()
    db.close_engines(own)


def test_what_idles_longer_than_an_operator_lets_it_is_told_to_come_again(
    again: FlaskClient, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    # it was 500, as if it were a fault of ours
    response = again.get("/api/v1/idle/100")
    assert (response.status_code, response.get_json()["error"]["code"]) == (503, "database_unavailable")
    # the log named only the class of the error, which is the same for a wrong password and a full disk
    said = capsys.readouterr().out + caplog.text
    assert "terminating connection due to idle-in-transaction timeout" in said
    assert again.get("/api/v1/idle/0").status_code == 200


def test_a_column_that_is_changed_below_the_api_is_told_to_come_again(again: FlaskClient, database_url: str) -> None:
    # a statement that was asked often is prepared, and was 500 once on each connection after such a migration
    assert {again.get("/api/v1/idle/0").status_code for _ in range(6)} == {200}
    with db.transaction(database_url) as session:
        session.execute(sa.text("alter table profiles alter name type text"))
    assert [again.get("/api/v1/idle/0").status_code for _ in range(2)] == [503, 200]


def test_the_worker_does_its_other_chores_while_somebody_holds_a_table(
    home: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # mail and webhooks of everybody waited for as long as somebody held what one chore asked for
    monkeypatch.setitem(patience.LOCKED, "lock_timeout", "200ms")
    with db.transaction(database_url) as session:
        session.add(RateUse(bucket="unused", uses=[]))
    db.close_engines(database_url)
    ended = threading.Event()
    working = threading.Thread(target=worker.work, args=(settings_of(home, database_url), ended))
    with sa.create_engine(database_url, poolclass=sa.NullPool).begin() as somebody:
        somebody.execute(sa.text(f"lock table {IdempotencyRecord.__tablename__} in access exclusive mode"))
        working.start()
        try:
            wait_until(lambda: buckets(database_url) == 0)
        finally:
            ended.set()
    working.join(60)


def buckets(url: str) -> int:
    with db.transaction(url) as session:
        return session.scalar(sa.select(sa.func.count()).select_from(RateUse)) or 0
