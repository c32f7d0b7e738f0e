"""Tokens at rest: sealed under the newest key, opened by any, and in no text that leaves the program."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy as sa

from api import connections, db, sealing
from api.models import Connection, Profile
from tests.factories import exports
from touchledger import settings as settings_module
from touchledger.settings import Settings

TOKEN = "EAAverysecret"


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Callable[[str], None]:
    """Gives the deployment other keys."""

    def given(listed: str) -> None:
        monkeypatch.setenv("TOUCHLEDGER_TOKEN_KEY", listed)
        settings_module.load.cache_clear()

    return given


def stored(url: str) -> str:
    with db.transaction(url) as session:
        return str(session.execute(sa.text("select token from connections")).scalar_one())


def put(url: str, token: str) -> None:
    with db.transaction(url) as session:
        session.execute(sa.text("update connections set token = :token"), {"token": token})


def read(url: str, connection: Connection) -> str:
    with db.transaction(url) as session:
        return session.get_one(Connection, connection.id).token


def test_the_database_holds_no_token_in_the_clear(settings: Settings, profile: Profile) -> None:
    url = settings.operational_url
    made = exports.connection(url, profile, token=TOKEN)
    assert stored(url).startswith(sealing.PREFIX)
    assert TOKEN not in stored(url)
    assert read(url, made) == TOKEN
    assert TOKEN not in repr(made)
    files = b"".join(path.read_bytes() for path in settings.home.glob("operational.db*"))
    assert TOKEN.encode() not in files


def test_no_token_stays_no_token(settings: Settings, profile: Profile) -> None:
    made = exports.connection(settings.operational_url, profile, token="")
    assert (stored(settings.operational_url), read(settings.operational_url, made)) == ("", "")


def test_a_token_that_is_plain_still_is_read_and_is_sealed_by_the_next_look(
    settings: Settings, profile: Profile
) -> None:
    url = settings.operational_url
    made = exports.connection(url, profile)
    put(url, TOKEN)
    assert read(url, made) == TOKEN
    assert sealing.renew_tokens(settings) == 1
    assert TOKEN not in stored(url)
    assert read(url, made) == TOKEN


def test_an_older_key_opens_until_everything_is_sealed_by_the_newer(
    settings: Settings, profile: Profile, keys: Callable[[str], None]
) -> None:
    url = settings.operational_url
    keys("old")
    made = exports.connection(url, profile, token=TOKEN)
    keys("new, old")
    assert read(url, made) == TOKEN
    assert sealing.renew_tokens(settings) == 1
    assert sealing.renew_tokens(settings) == 0
    keys("new")
    assert read(url, made) == TOKEN


def test_what_no_key_opens_reads_as_no_token_and_is_left_as_it_is(
    settings: Settings, profile: Profile, keys: Callable[[str], None]
) -> None:
    url = settings.operational_url
    keys("lost")
    made = exports.connection(url, profile, token=TOKEN)
    before = stored(url)
    keys("another")
    assert read(url, made) == ""
    assert sealing.renew_tokens(settings) == 0
    assert stored(url) == before


def test_a_token_that_no_key_opens_is_deleted_with_its_connection_all_the_same(
    settings: Settings, profile: Profile, keys: Callable[[str], None]
) -> None:
    url = settings.operational_url
    keys("lost")
    made = exports.connection(url, profile, token=TOKEN)
    keys("another")
    with db.transaction(url) as session:
        connections.end(session, settings, session.get_one(Connection, made.id))
    assert stored(url) == ""


def test_a_deployment_that_is_given_a_key_of_its_own_still_reads_what_the_signing_key_sealed(
    settings: Settings, profile: Profile, keys: Callable[[str], None]
) -> None:
    keys("")
    made = exports.connection(settings.operational_url, profile, token=TOKEN)
    keys("own")
    assert read(settings.operational_url, made) == TOKEN


def test_a_failing_statement_does_not_tell_what_was_bound(settings: Settings, profile: Profile) -> None:
    with pytest.raises(sa.exc.StatementError) as caught, db.transaction(settings.operational_url) as session:
        session.execute(sa.text("insert into connections (token) values (:token)"), {"token": TOKEN})
    assert TOKEN not in str(caught.value)
