"""Export destinations: who holds a place, which connection may serve it, and what on and off do to the ledger."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from api import db
from api.models import AuditEntry, Connection, ExportDestination, Profile
from api.scopes import Scope
from tests.api.conftest import Caller
from tests.api.v1.profiles.conftest import refusal
from tests.factories import accounts, connected, exports, people
from tests.fixtures.sandbox import RunningSandbox
from tests.fixtures.statements import statements

PATH = "/exports/destinations"


@pytest.fixture
def key(caller_with: Callable[..., Caller]) -> Caller:
    return caller_with(scopes=[Scope.EXPORTS_WRITE, Scope.EXPORTS_READ])


@pytest.fixture
def via(url: str, profile: Profile) -> Connection:
    return exports.connection(url, profile)


def body(via: Connection, **more: Any) -> dict[str, Any]:
    given = {"kind": "meta_capi", "name": "Sales", "connection_id": via.id, "meta_pixel_id": "900100200300400"}
    return {**given, "conversion_types": ["payment_received", "lead_created"], **more}


def data(response: Any, status: int = 200) -> Any:
    assert response.status_code == status, response.text
    return response.get_json()["data"]


def test_a_destination_is_made_listed_changed_and_deleted(key: Caller, url: str, via: Connection) -> None:
    made = data(key.post(PATH, json=body(via)), 201)
    assert (made["status"], made["enabled"], made["meta_pixel_id"]) == ("ok", True, "900100200300400")
    assert made["conversion_types"] == ["lead_created", "payment_received"]
    assert "tiktok_pixel_code" not in made
    changed = data(key("PATCH", f"{PATH}/{made['id']}", json={"name": "Sold", "test_event_code": "TEST1"}))
    assert (changed["name"], changed["test_event_code"]) == ("Sold", "TEST1")
    assert data(key.get(PATH)) == [changed]
    assert data(key("DELETE", f"{PATH}/{made['id']}")) == {"id": made["id"], "deleted": True}
    assert data(key.get(PATH)) == []
    assert refusal(key("PATCH", f"{PATH}/{made['id']}", json={"name": "x"})) == (404, "not_found", None)
    with db.transaction(url) as session:
        actions = session.scalars(sa.select(AuditEntry.action).order_by(AuditEntry.id)).all()
    assert actions == [f"export_destination.{verb}" for verb in ("created", "changed", "deleted")]


def test_a_change_that_changes_nothing_leaves_updated_at_and_a_clean_sheet_is_a_change(
    key: Caller, url: str, via: Connection
) -> None:
    made = data(key.post(PATH, json=body(via)), 201)
    path = f"{PATH}/{made['id']}"
    assert data(key("PATCH", path, json={"name": "Sales", "enabled": True})) == made
    with db.transaction(url) as session:
        row = session.get_one(ExportDestination, made["id"])
        row.consecutive_failures, row.failing_since, row.failing_reason = 5, db.now(), "not_found"
    well = data(key("PATCH", path, json={"enabled": True}))
    assert (well["status"], well["consecutive_failures"]) == ("ok", 0)
    assert well["updated_at"] > made["updated_at"]
    with db.transaction(url) as session:
        outcomes = session.scalars(sa.select(AuditEntry.outcome).order_by(AuditEntry.at)).all()
    assert outcomes == ["done", "no_change", "done"]


def test_a_place_is_held_by_one_destination_even_a_disabled_one(key: Caller, url: str, via: Connection) -> None:
    first = data(key.post(PATH, json=body(via, enabled=False)), 201)
    again = key.post(PATH, json=body(via))
    assert refusal(again) == (409, "destination_conflict", None)
    assert again.get_json()["error"]["conflicting_destination_id"] == first["id"]
    other = data(key.post(PATH, json=body(via, meta_pixel_id="7")), 201)
    moved = key("PATCH", f"{PATH}/{other['id']}", json={"meta_pixel_id": "900100200300400"})
    assert refusal(moved) == (409, "destination_conflict", None)
    key("DELETE", f"{PATH}/{first['id']}")
    assert data(key("PATCH", f"{PATH}/{other['id']}", json={"meta_pixel_id": "900100200300400"}))["enabled"] is True


def test_the_connection_is_the_profiles_of_that_platform_and_usable(key: Caller, url: str, profile: Profile) -> None:
    def refused(**columns: Any) -> tuple[int, str, str | None]:
        return refusal(key.post(PATH, json=body(exports.connection(url, profile, **columns))))

    assert refused(status="pending") == (409, "connection_not_ready", None)
    assert refused(token="") == (409, "connection_not_ready", None)
    assert refused(status="reconnect_required") == (409, "connection_revoked", None)
    assert refused(status="disconnected") == (404, "not_found", None)
    assert refused(provider="stripe") == (422, "validation_error", None)
    foreign = exports.connection(url, accounts.profile(url, name="Foreign"))
    assert refusal(key.post(PATH, json=body(foreign))) == (404, "not_found", None)


def test_the_target_is_the_one_of_the_kind(key: Caller, url: str, profile: Profile, via: Connection) -> None:
    for wrong in ({"meta_pixel_id": "abc"}, {"tiktok_pixel_code": "C1"}, {"conversion_types": []}, {"kind": "fax"}):
        assert refusal(key.post(PATH, json=body(via, **wrong))) == (422, "validation_error", None), wrong
    without = body(via)
    del without["meta_pixel_id"]
    assert refusal(key.post(PATH, json=without)) == (422, "validation_error", None)
    made = data(key.post(PATH, json=body(via)), 201)
    for changes in ({}, {"tiktok_pixel_code": "C1"}, {"kind": "meta_capi"}):
        answer = key("PATCH", f"{PATH}/{made['id']}", json=changes)
        assert refusal(answer) == (422, "validation_error", None), changes
    google = exports.connection(url, profile, provider="google")
    other = {**without, "kind": "google_conversions", "google_conversion_action": "1", "connection_id": google.id}
    assert refusal(key.post(PATH, json=other)) == (501, "not_implemented", None)


def test_switched_off_it_skips_what_waits_and_on_again_it_tries_what_failed(
    key: Caller, url: str, profile: Profile, via: Connection
) -> None:
    at = db.now()
    failed = {"status": "failed", "attempts": 5, "reason": "transient"}
    # what another destination has is its own
    other = exports.destination(url, profile)
    exports.row(url, other)
    exports.row(url, other, failed_at=at - timedelta(days=6), **failed)
    found = exports.destination(url, profile, via, consecutive_failures=7, failing_since=at, failing_reason="refused")
    exports.row(url, found)
    exports.row(url, found, failed_at=at - timedelta(days=6), **failed)
    exports.row(url, found, failed_at=at - timedelta(days=8), **failed)

    def kept() -> list[tuple[str, int]]:
        rows = [(row.status, row.attempts) for row in exports.rows(url)]
        assert rows[:2] == [("queued", 0), ("failed", 5)]
        return rows[2:]

    assert {row["id"]: row["status"] for row in data(key.get(PATH))} == {other.id: "ok", found.id: "failing"}
    off = data(key("PATCH", f"{PATH}/{found.id}", json={"enabled": False}))
    assert (off["status"], off["status_reason"]) == ("disabled", "person")
    assert kept() == [("skipped", 0), ("failed", 5), ("failed", 5)]
    on = data(key("PATCH", f"{PATH}/{found.id}", json={"enabled": True}))
    assert (on["status"], on["consecutive_failures"]) == ("ok", 0)
    assert kept() == [("skipped", 0), ("queued", 0), ("failed", 5)]


def test_what_failed_of_a_type_that_it_no_longer_takes_is_not_queued_again(
    key: Caller, url: str, profile: Profile, via: Connection
) -> None:
    found = exports.destination(url, profile, via)
    failed = {"status": "failed", "failed_at": db.now(), "reason": "bad_parameter", "next_attempt_at": None}
    exports.row(url, found, conversion_type="payment_received", **failed)
    exports.row(url, found, conversion_type="lead_created", **failed)
    path, only_leads = f"{PATH}/{found.id}", ["lead_created"]
    data(key("PATCH", path, json={"enabled": True, "conversion_types": only_leads}))
    kept = {row.conversion_type: (row.status, row.reason) for row in exports.rows(url)}
    assert kept == {"payment_received": ("failed", "bad_parameter"), "lead_created": ("queued", None)}


def test_a_lost_connection_blocks_until_it_is_back(key: Caller, url: str, profile: Profile, via: Connection) -> None:
    exports.destination(url, profile, via)
    for status, told in (("reconnect_required", "blocked"), ("active", "ok")):
        with db.transaction(url) as session:
            session.get_one(Connection, via.id).status = status
        assert data(key.get(PATH))[0]["status"] == told


def test_without_attribution_a_destination_may_only_be_ended(key: Caller, url: str, profile: Profile) -> None:
    found, app = exports.destination(url, profile), people.app(url).app
    with db.transaction(url) as session:
        kept = session.get_one(Profile, profile.id)
        kept.provisioned_by_app_id, kept.attribution_enabled = app.id, False
    path = f"{PATH}/{found.id}"
    assert refusal(key("PATCH", path, json={"name": "x"})) == (409, "entitlement_required", None)
    assert data(key("PATCH", path, json={"enabled": False}))["enabled"] is False
    assert data(key("DELETE", path))["deleted"] is True


def test_another_profiles_destination_is_not_there(key: Caller, url: str) -> None:
    foreign = exports.destination(url, accounts.profile(url, name="Foreign"))
    for method, path in (("PATCH", ""), ("DELETE", ""), ("POST", "/test")):
        answer = key(method, f"{PATH}/{foreign.id}{path}", json={"name": "x"} if method == "PATCH" else {})
        assert refusal(answer) == (404, "not_found", None)
    assert data(key.get(PATH)) == []
    with db.transaction(url) as session:
        assert session.get_one(ExportDestination, foreign.id).deleted_at is None


def test_a_test_event_reaches_the_platforms_testers_and_no_ledger(
    key: Caller, url: str, profile: Profile, sandbox: RunningSandbox
) -> None:
    via = connected.to_meta(url, profile, sandbox.url)
    found = exports.destination(url, profile, via, target=sandbox.pixel_id())
    path = f"{PATH}/{found.id}/test"
    assert refusal(key.post(path, json={})) == (422, "validation_error", None)
    sandbox.demand_secret()
    answer = data(key.post(path, json={"test_event_code": "TEST1"}))
    assert (answer["accepted"], answer["provider_status"]) == (True, 200)
    assert (sandbox.pixel()["tests"], sandbox.pixel()["received"]) == (1, 0)
    assert exports.rows(url) == []


def test_a_test_over_a_connection_that_was_ended_offers_no_way_to_renew_it(
    key: Caller, url: str, profile: Profile, via: Connection
) -> None:
    path = f"{PATH}/{exports.destination(url, profile, via).id}/test"
    with db.transaction(url) as session:
        ended = session.get_one(Connection, via.id)
        ended.status, ended.token = "disconnected", ""
    answer = key.post(path, json={"test_event_code": "TEST1"})
    assert refusal(answer) == (409, "connection_not_ready", None)
    assert "reconnect_url" not in answer.get_json()["error"]


def test_a_test_event_tells_a_refusal_and_a_dead_token(
    key: Caller, url: str, profile: Profile, sandbox: RunningSandbox
) -> None:
    via = connected.to_meta(url, profile, sandbox.url)
    path = f"{PATH}/{exports.destination(url, profile, via, target='12').id}/test"
    refused = data(key.post(path, json={"test_event_code": "TEST1"}))
    assert (refused["accepted"], refused["provider_status"]) == (False, 400)
    sandbox.plan({"route": "/events$", "kind": "revoked"})
    answer = key.post(path, json={"test_event_code": "TEST1"})
    assert refusal(answer) == (409, "connection_revoked", None)
    assert connected.reload(url, via).status == "reconnect_required"


def test_connections_of_a_page_are_read_together(key: Caller, url: str, profile: Profile) -> None:
    # one by one, a page of 50 destinations took 55 statements
    asked = []
    for targets, count in (("1", 1), ("234", 4)):
        for target in targets:
            exports.destination(url, profile, target=target)
        with statements(db.engine_for(url, durable=False)) as run:
            assert len(data(key.get(PATH))) == count
        asked.append(sum("FROM connections" in text for text, _ in run))
    assert asked == [1, 1]
