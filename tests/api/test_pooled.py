"""A pooler before Postgres gives a connection of the server to one client after the other."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from api import db
from tests.fixtures.pooler import pooled

pytestmark = pytest.mark.parametrize("database_url", ["postgres"], indirect=True)


def asked(url: str, statement: str) -> list[object]:
    """What a client gets that asks often enough for the driver to prepare it, and then leaves."""
    answers = []
    for _ in range(8):
        with db.transaction(url) as session:
            answers.append(session.scalar(sa.text(statement)))
    db.close_engines(url)
    return answers


def test_who_comes_after_another_runs_its_own_statements(database_url: str) -> None:
    # statements have the same names in each process: what came second was refused, or ran what the first had prepared
    with pooled(database_url) as url:
        assert asked(url, "select 'first'") == ["first"] * 8
        assert asked(url, "select 'second'") == ["second"] * 8


def test_on_a_line_of_its_own_statements_are_prepared(database_url: str) -> None:
    prepared = sa.text("select count(*) from pg_prepared_statements")
    with db.transaction(database_url) as session:
        for _ in range(8):
            session.scalar(sa.text("select 1"))
        assert session.scalar(prepared) == 1
