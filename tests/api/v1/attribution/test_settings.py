"""Reading and changing what figures are computed under."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from api import db
from api.models import AuditEntry, Profile, Recompute
from api.scopes import Scope
from tests.api.conftest import Caller
from tests.factories import accounts
from touchledger.settings import Settings

PATH = "/attribution/settings"
ALL = [Scope.ANALYTICS_READ, Scope.ATTRIBUTION_WRITE]
DEFAULTS = {
    "lookback_days": 90,
    "half_life_days": 7,
    "inherit_recurring": True,
    "own_domains": [],
    "payment_hosts": [],
}


@pytest.fixture
def caller(caller_with: Callable[..., Caller]) -> Caller:
    return caller_with()


@pytest.fixture
def writer(caller_with: Callable[..., Caller]) -> Caller:
    return caller_with(scopes=ALL)


@pytest.fixture
def put(writer: Caller) -> Callable[..., Any]:
    def send(body: object, **options: Any) -> Any:
        return writer("PUT", PATH, json=body, **options)

    return send


def audited(settings: Settings) -> list[tuple[str, str, Any]]:
    with db.transaction(settings.operational_url) as session:
        return [(row.action, row.outcome, row.details) for row in session.scalars(sa.select(AuditEntry))]


def recomputes(settings: Settings) -> list[Recompute]:
    with db.transaction(settings.operational_url) as session:
        return list(session.scalars(sa.select(Recompute).order_by(Recompute.id)))


def test_a_new_profile_has_the_documented_settings(caller: Caller, profile: Profile) -> None:
    response = caller.get(PATH)
    assert response.status_code == 200
    assert response.headers["Cache-Control"] == "no-store"
    body = response.get_json()
    assert body["data"] == {**DEFAULTS, "settings_version": profile.settings_version, "recompute": None}
    assert body["meta"] == {"profile_id": profile.id}


def test_a_change_is_answered_stored_audited_and_queued(
    put: Callable[..., Any], caller: Caller, settings: Settings
) -> None:
    before = caller.get(PATH).get_json()["data"]
    response = put({"lookback_days": 30, "own_domains": ["Shop.example.", "shop.example"], "inherit_recurring": False})
    assert response.status_code == 200
    data = response.get_json()["data"]
    wanted = {**DEFAULTS, "lookback_days": 30, "own_domains": ["shop.example"], "inherit_recurring": False}
    assert {name: data[name] for name in DEFAULTS} == wanted
    assert data["settings_version"] != before["settings_version"]
    assert data["recompute"]["status"] == "queued"
    assert data["recompute"]["expected_at"] > data["recompute"]["requested_at"]
    read = caller.get(PATH).get_json()["data"]
    # another second may have begun
    assert read["recompute"].pop("expected_at") >= data["recompute"].pop("expected_at")
    assert read == data
    ((action, outcome, details),) = audited(settings)
    assert (action, outcome) == ("attribution_settings.changed", "done")
    assert details["before"] == {"lookback_days": 90, "inherit_recurring": True, "own_domains": []}
    assert details["after"] == {"lookback_days": 30, "inherit_recurring": False, "own_domains": ["shop.example"]}
    assert [one.status for one in recomputes(settings)] == ["queued"]


def test_what_is_left_out_keeps_its_value(put: Callable[..., Any]) -> None:
    put({"payment_hosts": ["pay.example"], "half_life_days": 14})
    data = put({"lookback_days": 1}).get_json()["data"]
    assert (data["lookback_days"], data["half_life_days"], data["payment_hosts"]) == (1, 14, ["pay.example"])


def test_settings_sent_as_they_are_queue_nothing_but_are_audited(put: Callable[..., Any], settings: Settings) -> None:
    data = put(DEFAULTS).get_json()["data"]
    assert data["recompute"] is None
    assert recomputes(settings) == []
    ((action, outcome, details),) = audited(settings)
    assert (action, outcome, details["after"]) == ("attribution_settings.changed", "no_change", {})


def test_a_second_change_joins_the_waiting_recompute(put: Callable[..., Any]) -> None:
    first = put({"lookback_days": 30}).get_json()["data"]["recompute"]
    second = put({"lookback_days": 31}).get_json()["data"]["recompute"]
    assert second["recompute_id"] == first["recompute_id"]
    assert second["requested_at"] > first["requested_at"]


def test_a_change_does_not_count_on_a_build_that_has_begun(put: Callable[..., Any], settings: Settings) -> None:
    put({"lookback_days": 30})
    with db.transaction(settings.operational_url) as session:
        running = session.scalars(sa.select(Recompute)).one()
        running.status, running.build_id = "running", "build"
    assert put({"lookback_days": 31}).get_json()["data"]["recompute"]["status"] == "queued"
    (left,) = recomputes(settings)
    assert left.build_id is None


def test_the_same_key_changes_once_and_its_answer_is_repeated(put: Callable[..., Any], settings: Settings) -> None:
    key = {"Idempotency-Key": "change"}
    first = put({"lookback_days": 30}, headers=key)
    put({"lookback_days": 60})
    again = put({"lookback_days": 30}, headers=key)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.get_json() == first.get_json()
    with db.transaction(settings.operational_url) as session:
        assert session.scalars(sa.select(Profile.lookback_days)).one() == 60
    assert len(audited(settings)) == 2


@pytest.mark.parametrize(
    "body",
    [
        {"lookback_days": 0},
        {"lookback_days": 366},
        {"lookback_days": "30"},
        {"lookback_days": 30.5},
        {"lookback_days": True},
        {"lookback_days": None},
        {"half_life_days": 91},
        {"inherit_recurring": 1},
        {"inherit_recurring": "true"},
        {"own_domains": "shop.example"},
        {"own_domains": ["https://shop.example"]},
        {"own_domains": ["shop.example/cart"]},
        {"own_domains": ["shop"]},
        {"own_domains": [None]},
        {"own_domains": ["-shop.example"]},
        {"own_domains": ["a" * 64 + ".example"]},
        {"payment_hosts": [f"pay{n}.example" for n in range(51)]},
        {"payment_hosts": ["pay.example:443"]},
        {"payment_hosts": ["pay\u0000.example"]},
        {"settings_version": "one"},
        {"lookback": 30},
        [],
    ],
    ids=str,
)
def test_a_body_that_is_not_exactly_right_changes_nothing(
    put: Callable[..., Any], settings: Settings, body: object
) -> None:
    response = put(body)
    assert (response.status_code, response.get_json()["error"]["code"]) == (422, "validation_error")
    if isinstance(body, dict):
        assert response.get_json()["error"]["message"].startswith(next(iter(body)))
    assert (recomputes(settings), audited(settings)) == ([], [])


def test_reading_and_writing_need_their_own_scopes(caller_with: Callable[..., Caller], anonymous: Caller) -> None:
    reader, writer = caller_with(scopes=[Scope.ANALYTICS_READ]), caller_with(scopes=[Scope.ATTRIBUTION_WRITE])
    assert reader("PUT", PATH, json={}).get_json()["error"]["required_scopes"] == ["attribution:write"]
    assert writer.get(PATH).get_json()["error"]["required_scopes"] == ["analytics:read"]
    assert (anonymous.get(PATH).status_code, anonymous("PUT", PATH, json={}).status_code) == (401, 401)


def test_another_profile_is_neither_read_nor_changed(writer: Caller, settings: Settings) -> None:
    other = accounts.profile(settings.operational_url, name="Other")
    assert writer("PUT", f"{PATH}?profile_id={other.id}", json={"lookback_days": 30}).status_code == 404
    writer("PUT", PATH, json={"lookback_days": 30})
    with db.transaction(settings.operational_url) as session:
        assert session.get_one(Profile, other.id).lookback_days == 90
