"""Equal keys give one effect and one answer, over processes, crashes and time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
import time_machine
from pydantic import SecretStr

from api import db, errors, idempotency
from api.forgetting import PIECE
from api.idempotency import Answer, Claim
from api.models import IdempotencyRecord, Workspace
from api.worker import chores
from tests.factories import crowd
from tests.fixtures.processes import pool
from tests.fixtures.statements import statements
from touchledger.settings import Settings

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def take(
    url: str, *, key: str = "k", print_: str = "p", at: datetime = START, account: str = "key:1"
) -> Claim | Answer:
    with db.transaction(url) as session:
        return idempotency.claim(session, account=account, key=key, print_=print_, at=at)


def claimed(url: str, **options: object) -> Claim:
    claim = take(url, **options)  # type: ignore[arg-type]
    assert isinstance(claim, Claim)
    return claim


def test_an_answer_is_replayed_until_it_is_a_day_old(database_url: str) -> None:
    claim = claimed(database_url, at=db.now())
    with db.transaction(database_url) as session:
        idempotency.finish(session, claim, Answer(201, '{"data":1}'))
    assert take(database_url, at=db.now() + timedelta(hours=23, minutes=59)) == Answer(201, '{"data":1}')
    assert isinstance(take(database_url, at=db.now() + timedelta(hours=24, minutes=1)), Claim)


def test_another_request_with_the_same_key_is_a_conflict_even_in_flight(database_url: str) -> None:
    claim = claimed(database_url)
    with pytest.raises(errors.ApiError) as refused:
        take(database_url, print_="other")
    assert refused.value.code is errors.IDEMPOTENCY_KEY_CONFLICT
    with db.transaction(database_url) as session:
        idempotency.finish(session, claim, Answer(200, "{}"))
    with pytest.raises(errors.ApiError) as refused:
        take(database_url, print_="other")
    assert refused.value.code is errors.IDEMPOTENCY_KEY_CONFLICT


def test_a_claim_is_in_flight_for_a_minute_and_then_abandoned(database_url: str) -> None:
    first = claimed(database_url)
    with pytest.raises(errors.ApiError) as refused:
        take(database_url, at=START + timedelta(seconds=59))
    assert refused.value.code is errors.IDEMPOTENCY_KEY_IN_FLIGHT
    second = claimed(database_url, at=START + timedelta(seconds=60))
    with pytest.raises(errors.ApiError) as late, db.transaction(database_url) as session:
        session.add(Workspace(name="effect of the slow one"))
        idempotency.finish(session, first, Answer(201, "{}"))
    assert late.value.code is errors.IDEMPOTENCY_KEY_IN_FLIGHT
    with db.transaction(database_url) as session:
        assert session.scalars(sa.select(Workspace)).all() == []
        idempotency.finish(session, second, Answer(201, "{}"))


def test_a_claim_of_a_clock_that_was_ahead_is_abandoned_too(database_url: str) -> None:
    # its process had died, and until the clock came there again each retry was told that the first one runs
    ahead = claimed(database_url, at=START + timedelta(days=365))
    again = claimed(database_url)
    with pytest.raises(errors.ApiError), db.transaction(database_url) as session:
        idempotency.finish(session, ahead, Answer(201, "{}"))
    with pytest.raises(errors.ApiError):
        take(database_url, at=START - timedelta(seconds=59))
    with db.transaction(database_url) as session:
        idempotency.finish(session, again, Answer(201, "{}"))


def test_a_released_key_runs_anew_and_a_late_release_takes_nothing(database_url: str) -> None:
    first = claimed(database_url)
    with db.transaction(database_url) as session:
        idempotency.release(session, first)
    second = claimed(database_url, at=START + timedelta(seconds=1), print_="other")
    with db.transaction(database_url) as session:
        idempotency.release(session, first)
        idempotency.finish(session, second, Answer(200, "{}"))
        assert session.scalar(sa.select(sa.func.count()).select_from(IdempotencyRecord)) == 1


def test_a_claim_whose_process_died_is_forgotten_after_a_day(database_url: str) -> None:
    claimed(database_url)
    claimed(database_url, at=START + timedelta(hours=24, seconds=1), print_="other")


def test_what_is_a_day_old_is_forgotten_of_quiet_callers_too(database_url: str, home: Path) -> None:
    at = db.now()
    for account, hours in (("key:1", 25), ("key:2", 23)):
        with time_machine.travel(at - timedelta(hours=hours)), db.transaction(database_url) as session:
            claim = idempotency.claim(session, account=account, key="k", print_="p")
            assert isinstance(claim, Claim)
            idempotency.finish(session, claim, Answer(201, "{}"))
    claimed(database_url, account="key:3", at=at - timedelta(hours=25))
    settings = Settings(home=home, database_url=SecretStr(database_url))
    idempotency.forget_old(settings)
    with db.transaction(database_url) as session:
        assert session.scalars(sa.select(IdempotencyRecord.principal)).all() == ["key:2"]
    assert [one.every for one in chores(settings) if one.do is idempotency.forget_old] == [3600.0]


def test_a_claim_looks_at_its_own_key_alone(database_url: str) -> None:
    # with half a million answers of one caller each write read them all, and held the database for half a second
    claimed(database_url, key="old")
    claimed(database_url, key="new", at=START + timedelta(hours=25))
    with db.transaction(database_url) as session:
        assert set(session.scalars(sa.select(IdempotencyRecord.key))) == {"old", "new"}


def test_old_answers_are_forgotten_in_pieces(database_url: str, home: Path) -> None:
    # in one transaction nobody else could write until all of them were gone
    old = {"fingerprint": "p", "started_at": START}
    rows = [
        {"principal": account, "key": str(number), **old} for account in ("key:1", "key:2") for number in range(PIECE)
    ]
    with db.transaction(database_url) as session:
        session.execute(sa.insert(IdempotencyRecord), [*rows, {**rows[0], "key": "new", "started_at": db.now()}])
    with statements(db.engine_for(database_url)) as run:
        idempotency.forget_old(Settings(home=home, database_url=SecretStr(database_url)))
    assert len([1 for statement, _ in run if statement.startswith("DELETE")]) >= 2
    with db.transaction(database_url) as session:
        assert session.scalars(sa.select(IdempotencyRecord.key)).all() == ["new"]


def test_two_callers_may_use_one_key(database_url: str) -> None:
    claimed(database_url, account="key:1")
    claimed(database_url, account="key:2", print_="other")


def test_four_processes_with_equal_keys_make_one_effect_each(database_url: str) -> None:
    keys = [f"k{number}" for number in range(25)]
    with pool(4) as four:
        four.starmap(crowd.claim_many, [(database_url, keys[start:] + keys[:start]) for start in (0, 0, 3, 3)])
    with db.transaction(database_url) as session:
        names = session.scalars(sa.select(Workspace.name)).all()
    assert sorted(names) == sorted(keys)


def test_the_fingerprint_keeps_its_parts_apart() -> None:
    assert idempotency.fingerprint("POST", "/a", "", b"") != idempotency.fingerprint("POST", "/", "a", b"")
    assert idempotency.fingerprint("POST", "/a", "", b"") != idempotency.fingerprint("PUT", "/a", "", b"")


@pytest.mark.parametrize("key", ["", "x" * 256, "é", "a\tb", "a\x7f"])
def test_a_key_that_is_not_printable_ascii_of_1_to_255_is_refused(key: str) -> None:
    with pytest.raises(errors.ApiError) as refused:
        idempotency.read_key(key)
    assert refused.value.reason == "idempotency_key_malformed"


def test_the_shortest_and_the_longest_key_are_accepted() -> None:
    assert [idempotency.read_key("x" * length) for length in (1, 255)] == ["x", "x" * 255]
    assert idempotency.read_key(None) is None
