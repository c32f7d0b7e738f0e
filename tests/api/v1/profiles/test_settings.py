"""GET and PATCH /profiles/{id}: who reads and changes a profile, and what a change starts."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from api import db
from api.models import AuditEntry, Profile, Recompute
from api.roles import Role
from api.scopes import Scope
from tests.api.v1.profiles.conftest import Ask, refusal
from tests.factories import accounts, people


@pytest.fixture
def ada(url: str, profile: Profile) -> str:
    owner = people.user(url)
    people.member(url, owner, profile.workspace_id, Role.ADMIN)
    return people.session_of(url, owner)


def recomputes(url: str) -> int:
    with db.transaction(url) as session:
        return session.scalar(sa.select(sa.func.count()).select_from(Recompute)) or 0


def test_a_key_of_any_scope_and_a_guest_read_the_profile(ask: Ask, url: str, profile: Profile) -> None:
    guest, foreign = people.user(url), accounts.profile(url)
    people.member(url, guest, profile.workspace_id, Role.GUEST, profiles=[profile])
    for token in (accounts.secret(url, profile, scopes=[Scope.EVENTS_WRITE]), people.session_of(url, guest)):
        answer = ask("GET", f"/profiles/{profile.id}", token)
        data = answer.get_json()["data"]
        assert (data["name"], data["monthly_budget"], data["website"]) == ("Shop", None, None)
        assert answer.get_json()["meta"]["profile_id"] == profile.id
        assert refusal(ask("GET", f"/profiles/{foreign.id}", token)) == (404, "not_found", None)
        refused = ask("PATCH", f"/profiles/{profile.id}", token, {"name": "X"})
        assert refused.status_code == 403


def test_what_is_left_out_stays_and_null_takes_away(ask: Ask, url: str, profile: Profile, ada: str) -> None:
    path = f"/profiles/{profile.id}"
    sent = {"monthly_budget": 1500.25, "outcome_target": 40, "website": "https://shop.example"}
    first = ask("PATCH", path, ada, sent)
    assert first.status_code == 200, first.text
    second = ask("PATCH", path, ada, {"website": None, "name": "Shop"}).get_json()["data"]
    assert (second["monthly_budget"], second["outcome_target"], second["website"]) == (1500.25, 40, None)
    assert ask("GET", path, ada).get_json()["data"] == second
    with db.transaction(url) as session:
        details = [entry.details for entry in session.scalars(sa.select(AuditEntry).order_by(AuditEntry.id))]
    assert details[0]["after"] == {"monthly_budget": "1500.25", "outcome_target": 40, "website": "https://shop.example"}
    assert details[1]["before"] == {"website": "https://shop.example"}
    assert recomputes(url) == 0


def test_a_kept_budget_is_no_finer_than_another_currency_has_decimals(ask: Ask, profile: Profile, ada: str) -> None:
    path = f"/profiles/{profile.id}"
    assert ask("PATCH", path, ada, {"monthly_budget": 1500.25}).status_code == 200
    refused = ask("PATCH", path, ada, {"reporting_currency": "JPY"})
    assert (refused.status_code, refused.get_json()["error"]["code"]) == (422, "validation_error")
    assert "monthly_budget: JPY has 0 decimals" in refused.get_json()["error"]["message"]
    assert ask("GET", path, ada).get_json()["data"]["reporting_currency"] == "USD"
    moved = ask("PATCH", path, ada, {"reporting_currency": "JPY", "monthly_budget": 1500}).get_json()["data"]
    assert (moved["reporting_currency"], moved["monthly_budget"]) == ("JPY", 1500)
    back = ask("PATCH", path, ada, {"reporting_currency": "USD"}).get_json()["data"]
    assert (back["reporting_currency"], back["monthly_budget"]) == ("USD", 1500)


@pytest.mark.parametrize("change", [{"timezone": "Europe/Madrid"}, {"reporting_currency": "EUR"}])
def test_another_zone_or_currency_computes_all_anew(
    ask: Ask, url: str, profile: Profile, ada: str, change: dict[str, str]
) -> None:
    before = profile.settings_version
    assert ask("PATCH", f"/profiles/{profile.id}", ada, change).status_code == 200
    assert recomputes(url) == 1
    with db.transaction(url) as session:
        assert session.get_one(Profile, profile.id).settings_version != before
        session.execute(sa.delete(Recompute))
    assert ask("PATCH", f"/profiles/{profile.id}", ada, change).status_code == 200
    assert recomputes(url) == 0


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"monthly_budget": "12"}, "monthly_budget"),
        ({"monthly_budget": -1}, "monthly_budget"),
        ({"monthly_budget": 1.005}, "monthly_budget: USD has 2"),
        ({"monthly_budget": 10.5, "reporting_currency": "JPY"}, "monthly_budget: JPY has 0"),
        ({"outcome_target": 1.5}, "outcome_target"),
        ({"timezone": None}, "timezone"),
        ({"is_demo": True}, "is_demo"),
    ],
)
def test_a_wrong_member_changes_nothing(
    ask: Ask, url: str, profile: Profile, ada: str, body: dict[str, Any], told: str
) -> None:
    answer = ask("PATCH", f"/profiles/{profile.id}", ada, body)
    assert refusal(answer) == (422, "validation_error", None)
    assert told in answer.get_json()["error"]["message"]
    with db.transaction(url) as session:
        assert session.get_one(Profile, profile.id).reporting_currency == "USD"


def test_a_website_holds_no_password(ask: Ask, profile: Profile, ada: str) -> None:
    path = f"/profiles/{profile.id}"
    refused = ask("PATCH", path, ada, {"website": "https://ada:hunter2@shop.example/x"})
    assert refusal(refused) == (422, "validation_error", None)
    message = refused.get_json()["error"]["message"]
    assert message == "website: must be an https address without user and password"
    assert ask("GET", path, ada).get_json()["data"]["website"] is None
    # an @ behind the host is no user
    assert ask("PATCH", path, ada, {"website": "https://shop.example/@ada"}).status_code == 200


def test_a_name_is_taken_only_by_another_active_profile(ask: Ask, profile: Profile, ada: str) -> None:
    assert ask("POST", "/profiles", ada, {"name": "Second"}).status_code == 201
    taken = ask("PATCH", f"/profiles/{profile.id}", ada, {"name": "SECOND"})
    assert refusal(taken) == (409, "invalid_state", "duplicate_name")
    assert ask("PATCH", f"/profiles/{profile.id}", ada, {"name": "SHOP"}).status_code == 200
