"""How many dear requests of one credential may be under way at once, over all workers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy as sa

from api import db
from api.models import RateUse
from api.under_way import ABANDONED, AT_ONCE, give_back, take
from tests.api.conftest import Caller
from touchledger.settings import Settings


@pytest.fixture
def account(caller: Caller, settings: Settings) -> str:
    """What the caller's places are kept under, once it was answered."""
    assert caller.get("/notes/costly").status_code == 200
    return next(iter(taken(settings)))


def taken(settings: Settings) -> dict[str, list[list[int]]]:
    """The places of every account."""
    with db.transaction(settings.operational_url) as session:
        found = session.execute(sa.select(RateUse.bucket, RateUse.uses).where(RateUse.bucket.like("%:concurrency")))
        return {bucket.removesuffix(":concurrency"): uses for bucket, uses in found}


def hold(settings: Settings, account: str, count: int) -> list[int | None]:
    with db.transaction(settings.operational_url) as session:
        return [take(session, account) for _ in range(count)]


def test_four_are_let_in_and_a_fifth_when_one_was_answered(database_url: str) -> None:
    with db.transaction(database_url) as session:
        moments = [take(session, "key:a") for _ in range(AT_ONCE)]
        assert None not in moments
        assert (take(session, "key:a"), take(session, "key:b") is None) == (None, False)
        give_back(session, "key:a", moments[1] or 0)
        assert take(session, "key:a") is not None
        assert take(session, "key:a") is None


def test_what_came_at_one_moment_is_as_many_places(database_url: str) -> None:
    with db.transaction(database_url) as session:
        session.add(RateUse(bucket="key:a:concurrency", uses=[[7, 2], [8, 1]]))
        session.flush()
        give_back(session, "key:a", 7)
        assert session.scalar(sa.select(RateUse.uses)) == [[7, 1], [8, 1]]
        for _ in range(2):
            give_back(session, "key:a", 7)
        assert session.scalar(sa.select(RateUse.uses)) == [[8, 1]]


def test_a_request_without_a_place_is_refused_and_costs_nothing(
    caller: Caller, caller_with: Callable[..., Caller], settings: Settings, account: str
) -> None:
    moments = hold(settings, account, AT_ONCE)
    refused = caller.get("/notes/costly")
    error = refused.get_json()["error"]
    assert (refused.status_code, error["code"], error["reason"]) == (429, "rate_limit_exceeded", "concurrency")
    assert (refused.headers["Retry-After"], refused.headers["X-RateLimit-Remaining"]) == ("1", "57")
    # of the cheap ones there may be any number, and another credential has places of its own
    assert caller.get("/notes").headers["X-RateLimit-Remaining"] == "56"
    assert caller_with().get("/notes/costly").status_code == 200
    with db.transaction(settings.operational_url) as session:
        give_back(session, account, moments[0] or 0)
    assert caller.get("/notes/costly").status_code == 200


def test_a_place_is_free_again_however_the_request_ended(
    caller: Caller, caller_with: Callable[..., Caller], settings: Settings
) -> None:
    narrow, wide = caller_with(scopes=["campaigns:read"]), caller_with(scopes=["customers:read"])
    for _ in range(AT_ONCE + 1):
        assert caller.get("/notes/costly").status_code == 200
        # too little in a scope, and a window that is none
        assert narrow.get("/customers").status_code == 403
        assert wide.get("/customers?date_from=never").status_code == 400
    assert list(taken(settings).values()) == [[], [], []]


def test_the_place_of_a_worker_that_died_is_not_lost(caller: Caller, settings: Settings, account: str) -> None:
    hold(settings, account, AT_ONCE)
    with db.transaction(settings.operational_url) as session:
        kept = session.get_one(RateUse, f"{account}:concurrency")
        kept.uses = [[at - ABANDONED, count] for at, count in kept.uses]
    assert caller.get("/notes/costly").status_code == 200


def test_a_database_that_fails_by_then_takes_no_answer_back(caller: Caller, settings: Settings, account: str) -> None:
    with db.transaction(settings.operational_url) as session:
        broken = f"create trigger broken before update on {RateUse.__tablename__} when json(new.uses) = '[]'"
        session.execute(sa.text(f"{broken} begin select raise(abort, 'disk I/O error'); end"))
    assert caller.get("/notes/costly").status_code == 200
    assert len(taken(settings)[account]) == 1
