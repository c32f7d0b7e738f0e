"""Asking for figures anew, and following what becomes of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from api import db
from api.models import AuditEntry, Profile, Recompute
from api.scopes import Scope
from tests.api.conftest import Caller
from tests.factories import accounts
from tests.factories.deployments import application, settings_of
from touchledger.settings import Settings

PATH = "/attribution/recompute"


@pytest.fixture
def caller(caller_with: Callable[..., Caller]) -> Caller:
    return caller_with()


@pytest.fixture
def writer(caller_with: Callable[..., Caller]) -> Caller:
    return caller_with(scopes=[Scope.ATTRIBUTION_WRITE])


def change(settings: Settings, recompute_id: str, **members: object) -> None:
    with db.transaction(settings.operational_url) as session:
        found = session.get_one(Recompute, recompute_id)
        for name, value in members.items():
            setattr(found, name, value)


def test_a_request_is_queued_and_says_by_when_it_is_answered(writer: Caller, settings: Settings) -> None:
    response = writer.post(PATH, json={})
    assert response.status_code == 202
    data = response.get_json()["data"]
    assert (data["status"], data["snapshot_id"], data["finished_at"]) == ("queued", None, None)
    asked, expected = (datetime.fromisoformat(data[name]) for name in ("requested_at", "expected_at"))
    assert asked < expected
    assert data["requested_at"].endswith("Z")
    read = writer.get(f"{PATH}/{data['recompute_id'].upper()}").get_json()["data"]
    # reckoned anew from the instant of each reading
    assert datetime.fromisoformat(read.pop("expected_at")) >= expected
    assert read == {name: value for name, value in data.items() if name != "expected_at"}
    with db.transaction(settings.operational_url) as session:
        entry = session.scalars(sa.select(AuditEntry)).one()
        assert (entry.action, entry.outcome) == ("recompute.requested", "done")
        assert entry.details == {"target": {"kind": "recompute", "id": data["recompute_id"], "label": None}}


@pytest.mark.parametrize("status", ["queued", "running"])
def test_an_open_request_is_the_answer_to_the_next(writer: Caller, settings: Settings, status: str) -> None:
    first = writer.post(PATH, json={}).get_json()["data"]
    change(settings, first["recompute_id"], status=status)
    again = writer.post(PATH, json={})
    assert again.status_code == 202
    assert again.get_json()["data"]["recompute_id"] == first["recompute_id"]
    assert again.get_json()["data"]["status"] == status


@pytest.mark.parametrize("status", ["published", "failed"])
def test_after_a_finished_request_comes_a_new_one(writer: Caller, settings: Settings, status: str) -> None:
    first = writer.post(PATH, json={}).get_json()["data"]["recompute_id"]
    at = datetime(2026, 11, 16, tzinfo=UTC)
    change(settings, first, status=status, snapshot_id="s", finished_at=at)
    assert writer.post(PATH, json={}).get_json()["data"]["recompute_id"] != first
    told = writer.get(f"{PATH}/{first}").get_json()["data"]
    assert (told["status"], told["snapshot_id"], told["expected_at"]) == (status, "s", None)
    assert told["finished_at"] == "2026-11-16T00:00:00.000Z"


def test_the_same_key_gets_the_same_answer(writer: Caller, settings: Settings) -> None:
    key = {"Idempotency-Key": "again"}
    first = writer.post(PATH, json={}, headers=key)
    change(settings, first.get_json()["data"]["recompute_id"], status="published")
    again = writer.post(PATH, json={}, headers=key)
    assert again.get_json() == first.get_json()
    assert (again.status_code, again.headers["Idempotent-Replayed"]) == (202, "true")


def test_profiles_ask_each_for_themselves(writer: Caller, settings: Settings) -> None:
    other = accounts.profile(settings.operational_url, name="Other")
    key = accounts.secret(settings.operational_url, other, scopes=[Scope.ATTRIBUTION_WRITE])
    stranger = Caller(writer.client, key)
    mine = writer.post(PATH, json={}).get_json()["data"]["recompute_id"]
    theirs = stranger.post(PATH, json={}).get_json()["data"]["recompute_id"]
    assert mine != theirs
    assert stranger.get(f"{PATH}/{mine}").get_json()["error"]["code"] == "not_found"


def test_what_is_malformed_unknown_or_not_allowed_is_refused(
    writer: Caller, caller: Caller, anonymous: Caller, profile: Profile
) -> None:
    assert writer.get(f"{PATH}/12").get_json()["error"]["code"] == "invalid_parameter"
    assert writer.get(f"{PATH}/{profile.id}").get_json()["error"]["code"] == "not_found"
    assert writer.post(PATH).status_code == 202
    assert writer.post(PATH, json={"models": ["linear"]}).get_json()["error"]["code"] == "validation_error"
    assert writer.post(PATH, data=b"{}").get_json()["error"]["reason"] == "wrong_content_type"
    assert caller.post(PATH, json={}).get_json()["error"]["code"] == "insufficient_scope"
    assert caller.get(f"{PATH}/{profile.id}").get_json()["error"]["code"] == "insufficient_scope"
    assert anonymous.post(PATH, json={}).status_code == 401
    assert anonymous.get(f"{PATH}/12").status_code == 401


@pytest.fixture
def many_callers(database_url: str, home: Path) -> Iterator[list[Caller]]:
    settings = settings_of(home, database_url)
    of = accounts.profile(database_url)
    app = application(settings)
    yield [
        Caller(app.test_client(), accounts.secret(database_url, of, scopes=[Scope.ATTRIBUTION_WRITE])) for _ in range(6)
    ]


def test_requests_at_one_moment_get_one_recompute(many_callers: list[Caller]) -> None:
    answers: list[tuple[int, str]] = []

    def ask(caller: Caller) -> None:
        response = caller.post(PATH, json={})
        answers.append((response.status_code, response.get_json()["data"]["recompute_id"]))

    threads = [threading.Thread(target=ask, args=(caller,)) for caller in many_callers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [status for status, _ in answers] == [202] * 6
    assert len({recompute_id for _, recompute_id in answers}) == 1
