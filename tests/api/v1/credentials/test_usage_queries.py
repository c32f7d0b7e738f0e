"""What thousands of credentials were used for is read without naming each of them."""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa

from api import db
from api.models import ApiKey, CredentialUse, Profile, UserToken, Workspace
from api.reach import Reach
from api.roles import Role
from api.v1.credentials import usage_queries
from api.windows import DateRange
from tests.factories import accounts, people
from tests.fixtures.statements import statements


def used(url: str, profile: Profile, kind: str, number: str) -> None:
    with db.transaction(url) as session:
        counts = {"requests": 2, "units": 3, "refused_4xx": 1, "failed_5xx": 0, "rate_limited": 0}
        for back in (1, 0):
            day = db.now().date() - timedelta(days=back)
            session.add(CredentialUse(place_id=profile.id, day=day, kind=kind, credential_id=number, **counts))


def minted(url: str, profile: Profile, count: int) -> list[str]:
    with db.transaction(url) as session:
        before = set(session.scalars(sa.select(ApiKey.id)))
    for _ in range(count):
        accounts.secret(url, profile)
    with db.transaction(url) as session:
        return [one for one in session.scalars(sa.select(ApiKey.id)) if one not in before]


def asked(url: str, profile: Profile) -> tuple[list[dict[str, object]], list[tuple[str, int]]]:
    """What is told of the last 30 days, and each statement with how many values it was given."""
    today = db.now().date()
    with db.transaction(url) as session:
        reached = Reach(workspace=session.get_one(Workspace, profile.workspace_id))
        with statements(db.engine_for(url)) as run:
            told = usage_queries.report(session, reached, DateRange(today - timedelta(days=29), today), only=[])
    return told, [(text, len(values)) for text, values in run]


def test_more_credentials_are_no_more_statements_and_no_longer_ones(database_url: str) -> None:
    # the ids of 33,000 used keys took Postgres ten seconds, and it takes no statement of 65,536 values
    profile, ada = accounts.profile(database_url), people.user(database_url)
    people.member(database_url, ada, profile.workspace_id, Role.OWNER)
    people.token_of(database_url, ada)
    with db.transaction(database_url) as session:
        token = session.scalars(sa.select(UserToken.id)).one()
    used(database_url, profile, "user_token", token)
    for number in minted(database_url, profile, 1):
        used(database_url, profile, "api_key", number)
    few, of_few = asked(database_url, profile)
    for number in minted(database_url, profile, 20):
        used(database_url, profile, "api_key", number)
    many, of_many = asked(database_url, profile)
    assert (len(few), len(many)) == (2, 22)
    assert of_few == of_many
    assert {(type(one["requests"]), one["requests"], one["units"], one["refused_4xx"]) for one in many} == {
        (int, 4, 6, 2)
    }
    assert {one["kind"] for one in few} == {"api_key", "user_token"}


def test_of_keys_that_ended_those_are_told_that_were_used(database_url: str) -> None:
    profile, at = accounts.profile(database_url), db.now()
    working, rotated, expired, revoked, revoked_and_used = minted(database_url, profile, 5)
    used(database_url, profile, "api_key", revoked_and_used)
    with db.transaction(database_url) as session:
        session.get_one(ApiKey, rotated).rotated_to_id = working
        session.get_one(ApiKey, rotated).expires_at = at + timedelta(hours=1)
        session.get_one(ApiKey, expired).expires_at = at - timedelta(hours=1)
        for number in (revoked, revoked_and_used):
            session.get_one(ApiKey, number).revoked_at = at
    told, _ = asked(database_url, profile)
    assert [one["key_id"] for one in told] == [revoked_and_used, *sorted([working, rotated])]
