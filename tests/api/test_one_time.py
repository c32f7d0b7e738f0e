"""Codes of mails: to whom each opens what, and codes issued, used or ended at the same moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
import time_machine

from api import db, errors, one_time
from api.models import OneTimeToken, User
from api.v1.credentials import people as persons
from tests.factories import people
from tests.fixtures.at_once import meanwhile, one_behind_the_other

AT = datetime(2026, 3, 1, tzinfo=UTC)


def is_live(url: str, token: str, purpose: one_time.Purpose) -> bool:
    try:
        with db.transaction(url) as session:
            one_time.require_live(session, token, purpose)
    except errors.ApiError as refusal:
        assert refusal.code is errors.NOT_FOUND
        return False
    return True


def test_a_code_opens_one_thing_once_for_an_hour_and_for_whom_it_was_made(sqlite_url: str) -> None:
    ada, bob = people.user(sqlite_url), people.user(sqlite_url)

    def issue(user_id: str | None, purpose: one_time.Purpose = "password_reset") -> str:
        with db.transaction(sqlite_url) as session:
            return one_time.issue(session, user_id=user_id, purpose=purpose)

    def live(*tokens: str, purpose: one_time.Purpose = "password_reset") -> list[bool]:
        return [is_live(sqlite_url, one, purpose) for one in tokens]

    with time_machine.travel(AT, tick=False) as clock:
        earlier, bobs, nobodys = issue(ada.id), issue(bob.id), issue(None)
        addresses = [issue(one.id, "email_verification") for one in (ada, bob)]
        assert live(earlier, bobs, nobodys, *addresses) == [True, True, False, False, False]
        newer = issue(ada.id)
        assert (live(earlier, newer, bobs), live(*addresses, purpose="email_verification")) == (
            [False, True, True],
            [True, True],
        )
        with db.transaction(sqlite_url) as session:
            assert one_time.use(session, newer, "password_reset") == ada.id
            used = [one_time.used_after(session, one, "password_reset", AT - timedelta(1)) for one in (newer, bobs)]
            assert used == [ada.id, None]
            assert one_time.used_after(session, newer, "password_reset", AT) is None
        for spent in (newer, earlier, nobodys, addresses[0]):
            with pytest.raises(errors.ApiError), db.transaction(sqlite_url) as session:
                one_time.use(session, spent, "password_reset")
        with db.transaction(sqlite_url) as session:
            one_time.end_all(session, user_id=ada.id, purpose="email_verification")
        assert (live(bobs), live(*addresses, purpose="email_verification")) == ([True], [False, True])
        clock.shift(timedelta(minutes=59))
        later = issue(ada.id, "email_verification")
        assert (live(bobs), live(later, purpose="email_verification")) == ([True], [True])
        clock.shift(timedelta(minutes=1))
        assert live(bobs) == [False]
        issue(ada.id)
    with db.transaction(sqlite_url) as session:
        # what had expired is forgotten
        assert len(session.scalars(sa.select(OneTimeToken)).all()) == 2


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
