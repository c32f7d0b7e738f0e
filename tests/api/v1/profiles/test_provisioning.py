"""POST /profiles of apps: one call makes all a dealer needs, once per reference of the app."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import time_machine

from api import db
from api.models import ApiKey, Delegation, Membership, Profile, RateUse, User, UserSession, Workspace
from tests.api.v1.profiles.conftest import Ask, refusal
from tests.factories import accounts, people
from tests.factories.deployments import application, settings_of
from tests.factories.people import AppCredential

DEALER = {"external_ref": "dealer-1", "name": "Dealer", "user": {"email": "Owner@Example.com", "first_name": "Ola"}}


@pytest.fixture
def app(url: str) -> AppCredential:
    return people.app(url, connect_scopes=["analytics", "analytics_pii", "events"])


def provisioned(ask: Ask, app: AppCredential, **more: Any) -> dict[str, Any]:
    answer = ask("POST", "/profiles", app.header, {**DEALER, **more})
    assert answer.status_code == 201, answer.text
    return dict(answer.get_json()["data"])


def test_one_call_makes_workspace_owner_profile_and_keys(ask: Ask, url: str, app: AppCredential) -> None:
    more = {"timezone": "Asia/Tokyo", "currency": "JPY", "connect_scopes": ["events"]}
    made = provisioned(ask, app, **more)
    profile = made["profile"]
    assert (profile["external_ref"], profile["attribution_enabled"]) == ("dealer-1", False)
    assert (profile["timezone"], profile["reporting_currency"]) == ("Asia/Tokyo", "JPY")
    assert profile["provisioned_by_app_id"] == app.app.id
    assert made["api_key"]["scopes"] == ["events:write"]
    assert made["api_key"]["key"].startswith(made["api_key"]["prefix"])
    assert made["tracking_key"].startswith("trk_live_")
    who = ask("GET", "/profiles", made["api_key"]["key"]).get_json()["data"]
    assert [row["external_ref"] for row in who] == ["dealer-1"]
    with db.transaction(url) as session:
        workspace = session.get_one(Workspace, made["workspace_id"])
        assert (workspace.plan, workspace.acquisition_source, workspace.name) == ("starter", "oauth", "Dealer")
        owner = session.get_one(User, made["user_id"])
        assert (owner.email, owner.first_name, owner.password_hash) == ("owner@example.com", "Ola", None)
        assert session.scalars(sa.select(Membership)).one().role == "owner"
        assert session.scalars(sa.select(Delegation)).one().kind == "provisioned"


def test_the_same_reference_finds_the_profile_and_shows_no_key(ask: Ask, url: str, app: AppCredential) -> None:
    made = provisioned(ask, app)
    again = ask("POST", "/profiles", app.header, {**DEALER, "name": "Other", "currency": "EUR"})
    found = again.get_json()["data"]
    assert (again.status_code, found["created"], found["api_key"]) == (200, False, None)
    for name in ("profile", "workspace_id", "user_id", "tracking_key"):
        assert found[name] == made[name]
    with db.transaction(url) as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Workspace)) == 1
    other = people.app(url, connect_scopes=["analytics"])
    assert provisioned(ask, other)["profile"]["profile_id"] != made["profile"]["profile_id"]


def test_a_replay_holds_no_secret(ask: Ask, app: AppCredential) -> None:
    first = ask("POST", "/profiles", app.header, DEALER, Idempotency_Key="one")
    replay = ask("POST", "/profiles", app.header, DEALER, Idempotency_Key="one")
    secret = first.get_json()["data"]["api_key"]["key"]
    assert replay.headers["Idempotent-Replayed"] == "true"
    assert secret not in replay.text
    assert replay.get_json()["data"]["api_key"] is None


def test_a_further_profile_goes_into_a_workspace_the_app_provisioned(
    ask: Ask, url: str, app: AppCredential, profile: Profile
) -> None:
    made = provisioned(ask, app)
    body = {"external_ref": "dealer-2", "name": "Second", "workspace_id": made["workspace_id"]}
    second = ask("POST", "/profiles", app.header, body).get_json()["data"]
    assert (second["workspace_id"], second["user_id"]) == (made["workspace_id"], None)
    foreign = {**body, "external_ref": "dealer-3", "workspace_id": profile.workspace_id}
    assert refusal(ask("POST", "/profiles", app.header, foreign)) == (404, "not_found", None)
    third = {**body, "external_ref": "dealer-3", "user": {"email": "two@example.com"}}
    assert ask("POST", "/profiles", app.header, third).status_code == 201
    fourth = ask("POST", "/profiles", app.header, {**body, "external_ref": "dealer-4"})
    assert refusal(fourth) == (403, "profile_limit_reached", None)
    with db.transaction(url) as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Membership)) == 2


def test_a_healthcare_profile_gets_no_key_to_its_people(ask: Ask, app: AppCredential) -> None:
    asked = {**DEALER, "privacy_mode": "hipaa", "connect_scopes": ["analytics_pii"]}
    assert refusal(ask("POST", "/profiles", app.header, asked)) == (403, "healthcare_scope_forbidden", None)
    made = provisioned(ask, app, privacy_mode="platform_safe")
    assert {"customers:read", "visitors:read"}.isdisjoint(made["api_key"]["scopes"])
    assert "events:write" in made["api_key"]["scopes"]
    standard = provisioned(ask, app, external_ref="dealer-2")
    assert {"customers:read", "visitors:read"} < set(standard["api_key"]["scopes"])


def test_whoever_squats_on_an_unproven_address_loses_the_account(ask: Ask, url: str, app: AppCredential) -> None:
    squatter = people.user(url, email="owner@example.com", verified=False)
    with db.transaction(url) as session:
        session.get_one(User, squatter.id).password_hash = "x"
    token, agent = people.session_of(url, squatter), people.token_of(url, squatter)
    assert provisioned(ask, app)["user_id"] == squatter.id
    assert ask("GET", "/profiles", token).status_code == 401
    assert ask("GET", "/profiles", agent).status_code == 401
    with db.transaction(url) as session:
        assert session.get_one(User, squatter.id).password_hash is None


def test_a_proven_address_keeps_its_account(ask: Ask, url: str, app: AppCredential) -> None:
    owner = people.user(url, email="owner@example.com")
    with db.transaction(url) as session:
        session.get_one(User, owner.id).password_hash = "x"
    token = people.session_of(url, owner)
    assert provisioned(ask, app)["user_id"] == owner.id
    assert [row["name"] for row in ask("GET", "/profiles", token).get_json()["data"]] == ["Dealer"]
    with db.transaction(url) as session:
        assert session.get_one(User, owner.id).password_hash == "x"
        assert session.scalars(sa.select(UserSession)).one().revoked_at is None


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"external_ref": ""}, "external_ref"),
        ({"user": None}, "user"),
        ({"user": {"email": "nobody"}}, "user.email"),
        ({"connect_scopes": ["commerce"]}, "connect_scopes"),
        ({"connect_scopes": ["everything"]}, "connect_scopes"),
        ({"privacy_mode": "secret"}, "privacy_mode"),
        ({"timezone": "Nowhere"}, "timezone"),
    ],
)
def test_a_wrong_member_is_named(ask: Ask, url: str, app: AppCredential, body: dict[str, Any], told: str) -> None:
    answer = ask("POST", "/profiles", app.header, {**DEALER, **body})
    assert refusal(answer) == (422, "validation_error", None)
    assert told in answer.get_json()["error"]["message"]
    with db.transaction(url) as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Profile)) == 0


def test_calls_count_by_the_hour_and_leave_the_request_allowance_alone(ask: Ask, url: str, app: AppCredential) -> None:
    start = db.now()
    with time_machine.travel(start, tick=False) as clock:
        first = ask("POST", "/profiles", app.header, DEALER)
        assert (first.headers["X-RateLimit-Limit"], first.headers["X-RateLimit-Remaining"]) == ("120", "120")
        with db.transaction(url) as session:
            bucket = session.get_one(RateUse, f"app:{app.app.id}:profile_creation_hourly")
            bucket.uses = [*bucket.uses, *([bucket.uses[0]] * 198)]
        # a refused body is a call too
        assert ask("POST", "/profiles", app.header, {}).status_code == 422
        spent = ask("POST", "/profiles", app.header, DEALER)
        assert refusal(spent) == (429, "rate_limit_exceeded", "profile_creation_hourly")
        assert spent.headers["Retry-After"] == "3600"
        assert ask("GET", "/profiles", app.header).headers["X-RateLimit-Remaining"] == "119"
        clock.shift(3600)
        assert ask("POST", "/profiles", app.header, DEALER).status_code == 200


def test_one_reference_used_by_many_calls_at_once_is_one_profile(home: Path, database_url: str) -> None:
    settings = settings_of(home, database_url)
    app, client = people.app(database_url, connect_scopes=["analytics"]), application(settings).test_client
    start, statuses, ids = threading.Barrier(4), list[int](), set[str]()

    def create() -> None:
        start.wait()
        answer = client().post("/api/v1/profiles", json=DEALER, headers={"Authorization": app.header})
        statuses.append(answer.status_code)
        ids.add(answer.get_json()["data"]["profile"]["profile_id"])

    # the pool of connections is made by the first request, and by one only
    client().get("/readyz")
    threads = [threading.Thread(target=create) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (sorted(statuses), len(ids)) == ([200, 200, 200, 201], 1)
    with db.transaction(database_url) as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(ApiKey)) == 1


def test_a_suspended_app_and_a_plain_key_provision_nothing(ask: Ask, url: str, profile: Profile) -> None:
    app = people.app(url)
    with db.transaction(url) as session:
        kept = session.merge(app.app)
        kept.status = "suspended"
    assert refusal(ask("POST", "/profiles", app.header, DEALER)) == (403, "forbidden", "app_suspended")
    partner = accounts.secret(url, profile, app_id=people.app(url).app.id)
    assert refusal(ask("POST", "/profiles", partner, DEALER)) == (403, "forbidden", "api_key_not_allowed")
