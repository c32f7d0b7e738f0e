"""POST /connections/{id}/sync: one at a time, and only where it can be carried out."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from api import db
from api.models import ConnectionSync, Profile
from tests.api.conftest import Caller
from tests.factories import exports
from tests.factories.connected import refusal
from touchledger.settings import Settings


def open_syncs(url: str) -> list[ConnectionSync]:
    with db.transaction(url) as session:
        return session.query(ConnectionSync).order_by(ConnectionSync.id).all()


def test_a_sync_is_queued_once_and_grows_with_the_days_asked_for(
    settings: Settings, profile: Profile, keyed: Caller
) -> None:
    made = exports.connection(settings.operational_url, profile)
    path = f"/connections/{made.id}/sync"
    first = keyed.post(path, json={})
    assert (first.status_code, first.get_json()["data"]["status"]) == (202, "queued")
    assert keyed.get(f"/connections/{made.id}").get_json()["data"]["last_sync"]["status"] == "queued"
    for days in (("2026-03-05", "2026-03-09"), ("2026-03-01", "2026-03-02")):
        again = keyed.post(path, json=dict(zip(("date_from", "date_to"), days, strict=True)))
        assert again.get_json()["data"] == first.get_json()["data"]
    (kept,) = open_syncs(settings.operational_url)
    assert (kept.date_from, kept.date_to) == (date(2026, 3, 1), date(2026, 3, 9))


def test_one_that_runs_is_the_answer_and_stays_as_it_is(settings: Settings, profile: Profile, keyed: Caller) -> None:
    made = exports.connection(settings.operational_url, profile)
    with db.transaction(settings.operational_url) as session:
        session.add(ConnectionSync(connection_id=made.id, profile_id=profile.id, status="running"))
    assert keyed.post(f"/connections/{made.id}/sync", json={}).get_json()["data"]["status"] == "running"
    assert len(open_syncs(settings.operational_url)) == 1


def test_days_asked_for_while_one_runs_are_pulled_by_the_next(
    settings: Settings, profile: Profile, keyed: Caller
) -> None:
    made = exports.connection(settings.operational_url, profile)
    with db.transaction(settings.operational_url) as session:
        session.add(ConnectionSync(connection_id=made.id, profile_id=profile.id, status="running"))
    for days in (("2026-03-05", "2026-03-09"), ("2026-03-01", "2026-03-02")):
        body = dict(zip(("date_from", "date_to"), days, strict=True))
        assert keyed.post(f"/connections/{made.id}/sync", json=body).get_json()["data"]["status"] == "queued"
    runs, waits = open_syncs(settings.operational_url)
    assert (runs.status, runs.date_from, waits.status) == ("running", None, "queued")
    assert (waits.date_from, waits.date_to) == (date(2026, 3, 1), date(2026, 3, 9))


@pytest.mark.parametrize(
    ("columns", "answer"),
    [
        ({"status": "pending", "token": ""}, (409, "connection_not_ready")),
        ({"status": "active", "token": ""}, (409, "connection_not_ready")),
        ({"status": "disconnected", "token": ""}, (409, "connection_not_ready")),
        ({"status": "reconnect_required"}, (409, "connection_revoked")),
        ({"kind": "messaging", "provider": "chatapp"}, (501, "not_implemented")),
    ],
)
def test_what_cannot_be_asked_is_not_queued(
    settings: Settings, profile: Profile, keyed: Caller, columns: dict[str, Any], answer: tuple[int, str]
) -> None:
    made = exports.connection(settings.operational_url, profile, **columns)
    assert refusal(keyed.post(f"/connections/{made.id}/sync", json={}))[:2] == answer
    assert open_syncs(settings.operational_url) == []


@pytest.mark.parametrize(
    "body", [{"date_from": "2026-03-01"}, {"date_from": "2026-03-02", "date_to": "2026-03-01"}, {"date_from": 1}]
)
def test_dates_come_both_and_in_order(
    settings: Settings, profile: Profile, keyed: Caller, body: dict[str, Any]
) -> None:
    made = exports.connection(settings.operational_url, profile)
    assert refusal(keyed.post(f"/connections/{made.id}/sync", json=body))[:2] == (400, "invalid_date_range")


def test_what_the_body_does_not_know_is_no_date(settings: Settings, profile: Profile, keyed: Caller) -> None:
    made = exports.connection(settings.operational_url, profile)
    answer = keyed.post(f"/connections/{made.id}/sync", json={"days": 3})
    assert refusal(answer)[:2] == (422, "validation_error")
