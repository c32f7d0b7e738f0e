"""GET /profiles: each kind of caller has its own profiles, and learns nothing of anybody else's names for them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from flask.testing import FlaskClient

from api import db
from api.models import Profile, Workspace
from api.reading import timestamp
from api.roles import Role
from api.scopes import DEFAULT_SCOPES, Scope
from tests.api.conftest import Caller
from tests.factories import accounts, people
from touchledger.settings import Settings


@pytest.fixture
def url(settings: Settings) -> str:
    return settings.operational_url


def listed(client: FlaskClient, token: str, query: str = "") -> dict[str, Any]:
    header = token if token.startswith("Basic ") else f"Bearer {token}"
    response = client.get(f"/api/v1/profiles{query}", headers={"Authorization": header})
    assert response.status_code == 200, response.text
    return dict(response.get_json())


def names(answer: dict[str, Any]) -> list[str]:
    return [row["name"] for row in answer["data"]]


def test_a_key_learns_who_it_is_whatever_its_scopes(client: FlaskClient, url: str, profile: Profile) -> None:
    accounts.profile(url, name="Other")
    secret = accounts.secret(url, profile, scopes=[Scope.EVENTS_WRITE])
    answer = listed(client, secret)
    (row,) = answer["data"]
    assert (row["profile_id"], row["workspace_name"], row["status"]) == (profile.id, "Shop", "active")
    assert not {"my_role", "my_permissions"} & set(row)
    assert answer["meta"] == {
        "profile_id": profile.id,
        "credential": {
            "kind": "api_key",
            "prefix": secret[:16],
            "scopes": ["events:write"],
            "expires_at": None,
        },
    }
    assert answer["pagination"] == {"cursor": None, "has_next": False}


def test_a_person_has_the_profiles_of_their_memberships_in_order(
    client: FlaskClient, url: str, profile: Profile
) -> None:
    other, hidden = accounts.profile(url, name="Atelier"), accounts.profile(url, name="Hidden")
    with db.transaction(url) as session:
        for name in ("Beta", "Alpha", "Gone"):
            made = Profile(workspace_id=profile.workspace_id, name=name, timezone="UTC", reporting_currency="USD")
            made.archived_at = db.now() if name == "Gone" else None
            session.add(made)
        beside = Profile(workspace_id=other.workspace_id, name="Beside", timezone="UTC", reporting_currency="USD")
        session.add(beside)
    ada, bea, closed = people.user(url), people.user(url), accounts.profile(url, name="Closed")
    people.member(url, ada, closed.workspace_id, Role.ADMIN)
    with db.transaction(url) as session:
        session.get_one(Workspace, closed.workspace_id).archived_at = db.now()
    people.member(url, bea, accounts.profile(url, name="Theirs").workspace_id)
    people.member(url, bea, other.workspace_id, Role.GUEST, profiles=[beside], profile_role=Role.VIEWER)
    people.member(url, bea, hidden.workspace_id, Role.GUEST, profiles=[hidden], profile_role=Role.VIEWER)
    people.member(url, ada, profile.workspace_id, Role.EDITOR, permissions=["pii.view"])
    people.member(url, ada, other.workspace_id, Role.GUEST, profiles=[other], profile_role=Role.VIEWER)
    people.member(url, ada, hidden.workspace_id, Role.GUEST)
    token = people.session_of(url, ada)
    answer = listed(client, token)
    assert names(answer) == ["Atelier", "Alpha", "Beta", "Shop"]
    held = {row["name"]: (row["my_role"], row["my_permissions"]) for row in answer["data"]}
    assert held["Atelier"] == ("viewer", [])
    assert held["Shop"] == ("editor", ["pii.view"])
    assert names(listed(client, token, f"?workspace_id={other.workspace_id}")) == ["Atelier"]
    assert names(listed(client, token, f"?profile_id={profile.id}")) == ["Shop"]
    credential = answer["meta"]["credential"]
    assert (credential["kind"], credential["prefix"]) == ("session", None)
    # told as instants are everywhere: it had come with microseconds and an offset
    assert timestamp(datetime.fromisoformat(credential["expires_at"])) == credential["expires_at"]


def test_pages_hold_every_profile_once(client: FlaskClient, url: str, profile: Profile) -> None:
    with db.transaction(url) as session:
        for _ in range(4):
            session.add(
                Profile(workspace_id=profile.workspace_id, name="Same", timezone="UTC", reporting_currency="USD")
            )
    ada = people.user(url)
    people.member(url, ada, profile.workspace_id)
    token, seen, cursor = people.session_of(url, ada), list[str](), ""
    while True:
        answer = listed(client, token, f"?limit=2{cursor}")
        seen += [row["profile_id"] for row in answer["data"]]
        if not answer["pagination"]["has_next"]:
            break
        cursor = f"&cursor={answer['pagination']['cursor']}"
    assert len(seen) == len(set(seen)) == 5


def test_an_app_has_what_it_provisioned_or_adopted_by_its_own_names(
    client: FlaskClient, url: str, profile: Profile
) -> None:
    first, second, adopted = people.app(url), people.app(url), accounts.profile(url, name="Adopted")
    people.delegate(url, first.app, profile, external_ref="dealer-1")
    people.delegate(url, first.app, adopted, external_ref="dealer-2", kind="adopted")
    people.delegate(url, second.app, adopted, external_ref="theirs", kind="adopted")
    answer = listed(client, first.header)
    assert [(row["name"], row["external_ref"]) for row in answer["data"]] == [
        ("Adopted", "dealer-2"), ("Shop", "dealer-1"),
    ]  # fmt: skip
    assert names(listed(client, first.header, "?external_ref=dealer-2")) == ["Adopted"]
    assert names(listed(client, second.header, "?external_ref=dealer-2")) == []
    assert answer["meta"]["credential"]["kind"] == "app"
    assert answer["meta"]["client_id"] == first.app.client_id


def test_only_owners_and_admins_see_an_apps_name_for_a_profile(client: FlaskClient, url: str, profile: Profile) -> None:
    app = people.app(url)
    people.delegate(url, app.app, profile, external_ref="dealer-1")
    with db.transaction(url) as session:
        session.get_one(Profile, profile.id).provisioned_by_app_id = app.app.id
    told = {}
    for role in (Role.OWNER, Role.ADMIN, Role.EDITOR):
        person = people.user(url)
        people.member(url, person, profile.workspace_id, role)
        told[role] = listed(client, people.session_of(url, person))["data"][0]["external_ref"]
    assert told == {Role.OWNER: "dealer-1", Role.ADMIN: "dealer-1", Role.EDITOR: None}
    own, partner = accounts.secret(url, profile), accounts.secret(url, profile, app_id=app.app.id)
    assert listed(client, own)["data"][0]["external_ref"] is None
    assert listed(client, partner)["data"][0]["external_ref"] == "dealer-1"


def test_healthcare_is_the_agencys_mark_or_the_profiles_mode(client: FlaskClient, url: str, profile: Profile) -> None:
    secret = accounts.secret(url, profile)
    assert listed(client, secret)["data"][0]["is_healthcare"] is False
    with db.transaction(url) as session:
        session.get_one(Workspace, profile.workspace_id).is_healthcare_agency = True
    assert listed(client, secret)["data"][0]["is_healthcare"] is True


def test_a_partners_key_carries_no_people_of_a_healthcare_business(
    client: FlaskClient, url: str, profile: Profile
) -> None:
    scopes = [Scope.ANALYTICS_READ, Scope.CUSTOMERS_READ, Scope.VISITORS_READ]
    partner = accounts.secret(url, profile, scopes=scopes, app_id=people.app(url).app.id)
    own = accounts.secret(url, profile, scopes=scopes)

    def carried(secret: str) -> list[str]:
        return list(listed(client, secret)["meta"]["credential"]["scopes"])

    assert carried(partner) == sorted(scopes)
    with db.transaction(url) as session:
        session.get_one(Profile, profile.id).privacy_mode = "platform_safe"
    assert carried(partner) == ["analytics:read"]
    assert carried(own) == ["analytics:read", "customers:read"]


def test_a_token_that_gives_no_reading_and_names_of_others_are_refused(
    caller: Caller, client: FlaskClient, url: str, profile: Profile
) -> None:
    ada = people.user(url)
    people.member(url, ada, profile.workspace_id)
    token = people.token_of(url, ada, grants=["mcp:read_pii"])
    refused = client.get("/api/v1/profiles", headers={"Authorization": f"Bearer {token}"})
    assert refused.get_json()["error"]["code"] == "insufficient_scope"
    named = caller.get("/profiles?external_ref=x")
    assert (named.status_code, named.get_json()["error"]["code"]) == (400, "invalid_parameter")
    granted = listed(client, people.token_of(url, ada))
    assert granted["meta"]["credential"]["scopes"] == sorted(DEFAULT_SCOPES)
