"""A write sent twice under one Idempotency-Key happens once and answers the same; a refusal leaves its audit row."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from api import db
from api.app import create_app
from api.migrate import upgrade
from api.models import AuditEntry, IdempotencyRecord, Workspace
from tests.api.conftest import Caller
from tests.factories import accounts, notes
from tests.factories.deployments import settings_of
from tests.fixtures.postgres import create_database
from touchledger.settings import Settings

KEY = {"Idempotency-Key": "first"}


@pytest.fixture
def effects(settings: Settings) -> Callable[[str], int]:
    def count(title: str) -> int:
        with db.transaction(settings.operational_url) as session:
            found = sa.select(sa.func.count()).select_from(Workspace).where(Workspace.name == title)
            return session.scalar(found) or 0

    return count


@pytest.fixture
def audited(settings: Settings) -> Callable[[], list[tuple[str, str]]]:
    def read() -> list[tuple[str, str]]:
        with db.transaction(settings.operational_url) as session:
            return [(row.action, row.outcome) for row in session.scalars(sa.select(AuditEntry))]

    return read


@pytest.fixture
def turnstile() -> Iterator[notes.Turnstile]:
    notes.turnstile.entered.clear()
    notes.turnstile.leave.clear()
    yield notes.turnstile
    notes.turnstile.leave.set()


def test_without_a_key_each_request_has_its_effect(caller: Caller, effects: Callable[[str], int]) -> None:
    assert [caller.post("/notes", json={"title": "a"}).status_code for _ in range(2)] == [201, 201]
    assert effects("a") == 2


def test_a_repeat_gets_the_first_answer_and_no_second_effect(caller: Caller, effects: Callable[[str], int]) -> None:
    first = caller.post("/notes", json={"title": "a", "amount": 1}, headers=KEY)
    again = caller.post("/notes", json={"amount": 1, "title": "a"}, headers=KEY)
    assert (first.status_code, again.status_code) == (201, 201)
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.headers["X-RateLimit-Remaining"] == "58"
    assert again.get_json()["data"]["id"] == first.get_json()["data"]["id"]
    assert effects("a") == 1


def test_a_secret_is_shown_once(caller: Caller, settings: Settings) -> None:
    assert caller.post("/notes", json={"title": "a"}, headers=KEY).get_json()["data"]["secret"] == "once"
    assert caller.post("/notes", json={"title": "a"}, headers=KEY).get_json()["data"]["secret"] is None
    with db.transaction(settings.operational_url) as session:
        assert "once" not in (session.scalars(sa.select(IdempotencyRecord)).one().body or "")


def test_the_same_key_with_another_body_is_a_conflict(caller: Caller, effects: Callable[[str], int]) -> None:
    caller.post("/notes", json={"title": "a"}, headers=KEY)
    response = caller.post("/notes", json={"title": "b"}, headers=KEY)
    assert (response.status_code, response.get_json()["error"]["code"]) == (409, "idempotency_key_conflict")
    assert effects("b") == 0


def test_on_sqlite_the_twin_of_a_request_in_flight_waits_for_its_answer(
    caller: Caller, effects: Callable[[str], int], turnstile: notes.Turnstile
) -> None:
    answers = []

    def first() -> None:
        answers.append(caller.post("/notes", json={"title": "slow"}, headers=KEY).status_code)

    # the view holds SQLite's one write lock here, so the twin's claim waits for it and then finds the answer
    thread = threading.Thread(target=first)
    thread.start()
    assert turnstile.entered.wait(60)
    threading.Timer(0.2, turnstile.leave.set).start()
    twin = caller.post("/notes", json={"title": "slow"}, headers=KEY)
    thread.join()
    assert answers == [201]
    assert twin.status_code == 201
    assert twin.headers["Idempotent-Replayed"] == "true"
    assert effects("slow") == 1


def test_a_domain_refusal_is_replayed_rolled_back_and_audited_once(
    caller: Caller, effects: Callable[[str], int], audited: Callable[[], list[tuple[str, str]]]
) -> None:
    first = caller.post("/notes", json={"title": "refused"}, headers=KEY)
    again = caller.post("/notes", json={"title": "refused"}, headers=KEY)
    assert (first.status_code, again.status_code) == (409, 409)
    assert again.get_json() == first.get_json()
    assert again.headers["Idempotent-Replayed"] == "true"
    assert effects("refused") == 0
    assert audited() == [("note.create", "invalid_state")]


@pytest.mark.parametrize(("title", "status"), [("down", 503), ("crash", 500)])
def test_a_failure_of_ours_gives_the_key_back(
    caller: Caller, effects: Callable[[str], int], settings: Settings, title: str, status: int
) -> None:
    for _ in range(2):
        response = caller.post("/notes", json={"title": title}, headers=KEY)
        assert response.status_code == status
        assert "Idempotent-Replayed" not in response.headers
    assert effects(title) == 0
    with db.transaction(settings.operational_url) as session:
        assert session.scalars(sa.select(IdempotencyRecord)).all() == []


def test_a_refused_body_does_not_take_the_key(caller: Caller) -> None:
    assert caller.post("/notes", json={"title": 1}, headers=KEY).status_code == 422
    assert caller.post("/notes", json={"title": "a"}, headers=KEY).status_code == 201


def test_a_body_refused_by_the_view_does_not_take_the_key_either(caller: Caller, effects: Callable[[str], int]) -> None:
    refused = [caller.post("/notes", json={"title": "unfit"}, headers=KEY) for _ in range(2)]
    assert [answer.status_code for answer in refused] == [422, 422]
    assert "Idempotent-Replayed" not in refused[1].headers
    assert caller.post("/notes", json={"title": "fit"}, headers=KEY).status_code == 201
    assert (effects("unfit"), effects("fit")) == (0, 1)


def test_an_effect_and_its_audit_row_are_committed_together(
    caller: Caller, audited: Callable[[], list[tuple[str, str]]]
) -> None:
    caller.post("/notes", json={"title": "a"})
    caller.post("/notes", json={"title": "crash"})
    assert audited() == [("note.create", "done")]


@pytest.fixture
def postgres_caller(postgres_server: str, home: Path) -> Iterator[Caller]:
    url = create_database(postgres_server, f"t{uuid.uuid4().hex}")
    upgrade(url)
    made = Settings(home=home, database_url=SecretStr(url))
    key = accounts.secret(url, accounts.profile(url))
    yield Caller(create_app(made, more=[notes.bp]).test_client(), key)
    db.close_engines(url)


def test_on_postgres_a_request_in_flight_refuses_its_twin(postgres_caller: Caller, turnstile: notes.Turnstile) -> None:
    answers = []
    thread = threading.Thread(
        target=lambda: answers.append(postgres_caller.post("/notes", json={"title": "slow"}, headers=KEY))
    )
    thread.start()
    assert turnstile.entered.wait(60)
    twin = postgres_caller.post("/notes", json={"title": "slow"}, headers=KEY)
    assert (twin.status_code, twin.get_json()["error"]["code"]) == (409, "idempotency_key_in_flight")
    turnstile.leave.set()
    thread.join()
    assert answers[0].status_code == 201
    replay = postgres_caller.post("/notes", json={"title": "slow"}, headers=KEY)
    assert (replay.status_code, replay.headers["Idempotent-Replayed"]) == (201, "true")
    assert replay.headers["X-RateLimit-Remaining"] == "57"


AT_ONCE = 50


@pytest.fixture
def crowd_of(database_url: str, home: Path) -> Iterator[Callable[[], list[Any]]]:
    """Sends one request with one key from fifty threads that start together, each with a client of its own."""
    application = create_app(settings_of(home, database_url), more=[notes.bp])
    key = accounts.secret(database_url, accounts.profile(database_url))
    together = threading.Barrier(AT_ONCE)

    def send(_number: int) -> Any:
        caller = Caller(application.test_client(), key)
        together.wait(30)
        return caller.post("/notes", json={"title": "crowded"}, headers=KEY)

    def all_at_once() -> list[Any]:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(send, range(AT_ONCE)))

    yield all_at_once
    db.close_engines(database_url)


def test_fifty_equal_keys_at_once_have_one_effect(crowd_of: Callable[[], list[Any]], database_url: str) -> None:
    answers = crowd_of()
    told = {(answer.status_code, (answer.get_json().get("error") or {}).get("code")) for answer in answers}
    assert told <= {(201, None), (409, "idempotency_key_in_flight")}
    made = [answer for answer in answers if answer.status_code == 201]
    assert len({answer.get_json()["data"]["id"] for answer in made}) == 1
    assert sum("Idempotent-Replayed" not in answer.headers for answer in made) == 1
    with db.transaction(database_url) as session:
        found = sa.select(sa.func.count()).select_from(Workspace).where(Workspace.name == "crowded")
        assert session.scalar(found) == 1
