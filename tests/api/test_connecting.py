"""A hand-off that somebody comes back from while another begins or its hour ends, on SQLite and on Postgres."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from api import connecting, db, purge
from api.errors import NOT_FOUND, ApiError
from api.models import Connection, Handoff, Profile
from connectors.grants import Account, Grant
from tests.factories import accounts
from tests.factories.deployments import settings_of
from tests.fixtures.at_once import meanwhile
from touchledger.settings import Settings

GRANT = Grant(token="new", scopes=("ads_read",), accounts=(Account("1", "Shop", "USD", "UTC"),))


@pytest.fixture
def settings(home: Path, database_url: str) -> Settings:
    return settings_of(home, database_url)


@pytest.fixture
def profile(database_url: str) -> Profile:
    return accounts.profile(database_url)


def begin(settings: Settings, profile: Profile) -> Handoff:
    with db.transaction(settings.operational_url) as session:
        return connecting.begin(
            session, settings, provider="meta", profile=profile, return_url=None, renewed=None
        )  # fmt: skip


def settle(settings: Settings, handoff: Handoff) -> None:
    with db.transaction(settings.operational_url) as session:
        connecting.settle(session, settings, handoff.id, GRANT)


def give_up(settings: Settings) -> None:
    with db.transaction(settings.operational_url) as session:
        connecting.end_abandoned(session, settings, db.now() + timedelta(hours=2))


def outcome(url: str, handoff: Handoff) -> tuple[str, str]:
    """What became of the hand-off and of its connection."""
    with db.transaction(url) as session:
        kept = session.get_one(Handoff, handoff.id)
        return kept.status, session.get_one(Connection, handoff.connection_id).status


def test_nothing_is_begun_for_a_profile_that_was_archived_meanwhile(settings: Settings, profile: Profile) -> None:
    with db.transaction(settings.operational_url) as session:
        purge.retire(session, [profile.id], at=db.now())
    with pytest.raises(ApiError) as refused:
        begin(settings, profile)
    assert refused.value.code is NOT_FOUND


Other = Callable[[Settings, Profile], object]
OTHERS: list[Other] = [begin, lambda settings, _: give_up(settings)]


@pytest.mark.parametrize("other", OTHERS, ids=["begun anew", "given up"])
@pytest.mark.parametrize("after", ["FROM handoffs", "FROM connections"])
def test_what_is_being_settled_stays_connected(settings: Settings, profile: Profile, other: Other, after: str) -> None:
    url, handoff = settings.operational_url, begin(settings, profile)
    # the second time it is read under its lock
    with meanwhile(url, after, lambda: other(settings, profile), times=2 if after == "FROM handoffs" else 1):
        settle(settings, handoff)
    assert outcome(url, handoff) == ("completed", "active")
    with db.transaction(url) as session:
        assert session.scalar(sa.select(Connection.token).where(Connection.id == handoff.connection_id)) == "new"


@pytest.mark.parametrize("other", OTHERS, ids=["begun anew", "given up"])
def test_whoever_ends_a_hand_off_finds_what_came_of_it(settings: Settings, profile: Profile, other: Other) -> None:
    url, handoff = settings.operational_url, begin(settings, profile)
    with meanwhile(url, "JOIN", lambda: settle(settings, handoff)):
        other(settings, profile)
    assert outcome(url, handoff) in {("completed", "active"), ("canceled", "disconnected"), ("failed", "disconnected")}
