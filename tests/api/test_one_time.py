"""Codes of mails that are issued, used or ended at the same moment, on SQLite and on Postgres."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from api import db, errors, one_time
from api.models import OneTimeToken, User
from api.v1.credentials import people as persons
from tests.factories import people
from tests.fixtures.at_once import meanwhile, one_behind_the_other


def test_of_two_codes_at_once_the_second_ends_the_first(database_url: str) -> None:
    ada = people.user(database_url)
    one_behind_the_other(
        database_url, lambda session: one_time.issue(session, user_id=ada.id, purpose="password_reset")
    )
    with db.transaction(database_url) as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(OneTimeToken)) == 1


def test_a_code_is_used_beside_a_change_of_the_password_it_sets(database_url: str) -> None:
    ada = people.user(database_url)
    with db.transaction(database_url) as session:
        token = one_time.issue(session, user_id=ada.id, purpose="password_reset")

    def change() -> None:
        with pytest.raises(errors.ApiError), db.transaction(database_url) as session:
            persons.set_password(session, user_id=ada.id, checked=None, password_hash="changed")

    with meanwhile(database_url, "UPDATE one_time_tokens", change), db.transaction(database_url) as session:
        used_by = one_time.use(session, token, "password_reset")
        persons.reset_password(session, user_id=used_by, password_hash="reset")
    with db.transaction(database_url) as session:
        assert session.get_one(User, ada.id).password_hash == "reset"
