"""How long a Postgres that is gone is waited for, and how long it waits for us."""

from __future__ import annotations

import socket
from typing import Any

import pytest
import sqlalchemy as sa

from api import db

pytestmark = pytest.mark.parametrize("database_url", ["postgres"], indirect=True)

SHOWN = ("tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count", "tcp_user_timeout")


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
    assert shown(database_url) == ["10", "5", "4", "30000"]


def test_what_the_address_or_the_operator_says_stays(database_url: str) -> None:
    told = f"{database_url}?keepalives_idle=60&options=-ctcp_keepalives_idle%3D70"
    with db.transaction(database_url) as session:
        name = session.scalar(sa.text("select quote_ident(current_database())"))
        session.execute(sa.text(f"alter database {name} set tcp_keepalives_count = 7"))
    assert shown(told) == ["70", "5", "7", "30000"]
    db.close_engines(told)
