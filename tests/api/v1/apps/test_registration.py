"""Registered apps: made with a secret shown once, changed, suspended, and given new secrets."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import click
import pytest
import sqlalchemy as sa
import time_machine

from api import db
from api.models import ApiKey, App, AuditEntry, IdempotencyRecord, OAuthAuthorization, Profile, User
from api.roles import Role
from tests.api.v1.apps.conftest import basic
from tests.api.v1.members.conftest import Ask, data, refusal
from tests.factories import accounts, people
from tests.factories.receivers import PUBLIC
from touchledger.accounts import mint_key
from touchledger.settings import Settings

UNKNOWN = "01900000-0000-7000-8000-00000000ffff"
NOT_FOUND = (404, "not_found", None)


def test_an_app_is_registered_with_a_credential_of_its_own(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str, body: dict[str, Any]
) -> None:
    made = data(ask("POST", f"{w}/oauth-apps", as_owner, body), 201)
    assert {name: made[name] for name in body} == body
    assert (made["status"], made["profiles_count"]) == ("active", 0)
    assert (made["dpa"]["state"], made["dpa"]["version"], made["dpa"]["accepted_by"]) == ("not_accepted", None, None)
    assert ask("GET", "/notes/app", basic(made["client_id"], made["client_secret"])).status_code == 200
    with db.transaction(url) as session:
        app = session.get_one(App, made["app_id"])
        entry = session.scalars(sa.select(AuditEntry).where(AuditEntry.action == "app.registered")).one()
    assert made["client_secret"] not in str(entry.details)
    assert entry.details["target"] == {"kind": "app", "id": app.id, "label": "Dealer tools"}
    people.delegate(url, app, profile)
    (listed,) = data(ask("GET", f"{w}/oauth-apps", as_owner))
    assert "client_secret" not in listed
    assert listed["profiles_count"] == 1
    assert len(data(ask("GET", f"{w}/oauth-apps?profile_id={profile.id}", as_owner))) == 1


def test_a_replay_carries_no_secret(ask: Ask, url: str, w: str, as_owner: str, body: dict[str, Any]) -> None:
    made = ask("POST", f"{w}/oauth-apps", as_owner, body, Idempotency_Key="k").get_json()["data"]
    again = ask("POST", f"{w}/oauth-apps", as_owner, body, Idempotency_Key="k").get_json()["data"]
    assert again == {**made, "client_secret": None}
    with db.transaction(url) as session:
        assert "tl_secret_" not in str(session.scalars(sa.select(IdempotencyRecord)).one().body)


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "x" * 81},
        {"redirect_uris": []},
        {"redirect_uris": ["http://dealers.example/back"]},
        {"redirect_uris": ["https://dealers.example/#fragment"]},
        {"redirect_uris": ["https://user@dealers.example/"]},
        {"redirect_uris": ["https:///path"]},
        {"redirect_uris": ["https://dealers.example:99999/"]},
        {"redirect_uris": ["https://dealers.example/a b"]},
        {"redirect_uris": ["https://dealers.example/"] * 11},
        {"logo_url": "javascript:alert(1)"},
        {"connect_scopes": ["everything"]},
        {"status": "suspended"},
        {"client_id": "mine"},
    ],
)
def test_a_wrong_app_is_refused(ask: Ask, w: str, as_owner: str, body: dict[str, Any], wrong: dict[str, Any]) -> None:
    assert refusal(ask("POST", f"{w}/oauth-apps", as_owner, {**body, **wrong}))[:2] == (422, "validation_error")


def test_a_name_is_taken_once(ask: Ask, w: str, as_owner: str, body: dict[str, Any]) -> None:
    first = data(ask("POST", f"{w}/oauth-apps", as_owner, body), 201)
    taken = (409, "invalid_state", "duplicate_name")
    assert refusal(ask("POST", f"{w}/oauth-apps", as_owner, body)) == taken
    second = data(ask("POST", f"{w}/oauth-apps", as_owner, {**body, "name": "Other"}), 201)
    path = f"{w}/oauth-apps/{second['app_id']}"
    assert refusal(ask("PATCH", path, as_owner, {"name": body["name"]})) == taken
    assert data(ask("PATCH", f"{w}/oauth-apps/{first['app_id']}", as_owner, {"name": body["name"]}))["name"]
    rows = data(ask("GET", f"{w}/oauth-apps", as_owner))
    assert [row["name"] for row in rows] == ["Dealer tools", "Other"]


@pytest.mark.parametrize("twin", ["dealer TOOLS", "Dealer  tools", "\uff24ealer tools", "Dealer\u3000tools"])
def test_a_name_that_reads_like_another_is_taken(
    ask: Ask, settings: Settings, profile: Profile, w: str, as_owner: str, body: dict[str, Any], twin: str
) -> None:
    first = data(ask("POST", f"{w}/oauth-apps", as_owner, body), 201)
    answer = ask("POST", f"{w}/oauth-apps", as_owner, {**body, "name": twin})
    if twin.isprintable():
        assert refusal(answer) == (409, "invalid_state", "duplicate_name")
        assert data(ask("PATCH", f"{w}/oauth-apps/{first['app_id']}", as_owner, {"name": twin}))["name"] == twin
    else:
        assert refusal(answer)[:2] == (422, "validation_error")
    with pytest.raises(click.BadParameter, match=r"reads the same|odd characters"):
        mint_key(settings, profile_id=profile.id, scopes=[], name="by hand", app=twin.swapcase())


@pytest.mark.parametrize(
    "name", ["Dealer tools\u200b", "\u202esloot relaeD", "Dealer\ntools", "Dealer\u00a0tools", "Dealer tools\ufe0f"]
)
def test_a_name_with_something_unseen_is_refused(
    ask: Ask, w: str, as_owner: str, body: dict[str, Any], name: str
) -> None:
    answer = ask("POST", f"{w}/oauth-apps", as_owner, {**body, "name": name})
    assert refusal(answer)[:2] == (422, "validation_error")


def test_apps_are_registered_by_admins_who_are_signed_in(
    ask: Ask, url: str, profile: Profile, w: str, owner: User, secret: str, body: dict[str, Any]
) -> None:
    editor = people.user(url)
    people.member(url, editor, profile.workspace_id, Role.EDITOR)
    as_editor, agent = people.session_of(url, editor), people.token_of(url, owner, grants=["mcp:read", "mcp:write"])
    assert refusal(ask("POST", f"{w}/oauth-apps", as_editor, body)) == (403, "forbidden", "role_required")
    assert refusal(ask("POST", f"{w}/oauth-apps", agent, body))[:2] == (403, "insufficient_scope")
    assert refusal(ask("POST", f"{w}/oauth-apps", secret, body))[:2] == (403, "forbidden")
    assert data(ask("GET", f"{w}/oauth-apps", agent)) == []


def test_an_app_of_another_workspace_is_unknown(ask: Ask, url: str, w: str, as_owner: str) -> None:
    foreign = people.app(url, workspace_id=accounts.profile(url, name="Other").workspace_id).app
    loose = people.app(url).app
    for app_id in (foreign.id, loose.id, UNKNOWN):
        path = f"{w}/oauth-apps/{app_id}"
        assert refusal(ask("PATCH", path, as_owner, {"name": "Mine"})) == NOT_FOUND
        assert refusal(ask("POST", f"{path}/rotate-secret", as_owner, {})) == NOT_FOUND
        assert refusal(ask("GET", f"{path}/dpa", as_owner)) == NOT_FOUND
        assert refusal(ask("POST", f"{path}/dpa/withdraw", as_owner, {})) == NOT_FOUND
    assert data(ask("GET", f"{w}/oauth-apps", as_owner)) == []


def test_suspending_an_app_ends_its_keys_at_once(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str, owner: User, body: dict[str, Any]
) -> None:
    made = data(ask("POST", f"{w}/oauth-apps", as_owner, body), 201)
    partner, own = accounts.secret(url, profile, app_id=made["app_id"]), accounts.secret(url, profile)
    with db.transaction(url) as session:
        held = OAuthAuthorization(kind="consumer_app", app_id=made["app_id"], client_id=made["client_id"])
        held.client_name, held.user_id, held.status = "Dealer tools", owner.id, "granted"
        held.workspace_id, held.profile_id = profile.workspace_id, profile.id
        session.add(held)
    assert ask("GET", "/notes", partner).status_code == 200
    path, header = f"{w}/oauth-apps/{made['app_id']}", basic(made["client_id"], made["client_secret"])
    assert data(ask("PATCH", path, as_owner, {"status": "suspended"}))["status"] == "suspended"
    assert ask("GET", "/notes", partner).status_code == 401
    assert ask("GET", "/notes", own).status_code == 200
    assert refusal(ask("GET", "/notes/app", header)) == (403, "forbidden", "app_suspended")
    late = accounts.secret(url, profile, app_id=made["app_id"])
    assert ask("GET", "/notes", late).status_code == 401
    with db.transaction(url) as session:
        assert session.scalars(sa.select(OAuthAuthorization)).one().status == "revoked"
        revoked = sa.select(ApiKey.revoked_at.is_not(None)).where(ApiKey.app_id == made["app_id"]).order_by(ApiKey.id)
        assert session.scalars(revoked).all() == [True, False]
    trail = data(ask("GET", f"{w}/audit?category=credentials", as_owner))
    (told,) = [row for row in trail if row["action"] == "app.disconnected"]
    assert (told["actor"]["kind"], told["after"]) == ("system", {"reason": "app_suspended"})
    assert data(ask("PATCH", path, as_owner, {"status": "active"}))["status"] == "active"
    assert ask("GET", "/notes", partner).status_code == 401
    assert ask("GET", "/notes/app", header).status_code == 200


def test_a_suspended_app_is_told_nothing_more_and_has_adopted_nothing(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str, body: dict[str, Any]
) -> None:
    made = data(ask("POST", f"{w}/oauth-apps", as_owner, body), 201)
    key = accounts.secret(url, profile, scopes=["connections:write"], app_id=made["app_id"])
    wanted = {"url": f"https://{PUBLIC}/app", "events": ["*"]}
    data(ask("POST", "/webhooks/subscriptions", key, wanted), 201)
    with db.transaction(url) as session:
        app = session.get_one(App, made["app_id"])
    people.delegate(url, app, profile, kind="adopted")
    path, header = f"{w}/oauth-apps/{made['app_id']}", basic(made["client_id"], made["client_secret"])
    data(ask("PATCH", path, as_owner, {"status": "suspended"}))
    (told,) = data(ask("GET", f"/webhooks/subscriptions?profile_id={profile.id}", as_owner))
    assert told["status"] == "paused"
    data(ask("PATCH", path, as_owner, {"status": "active"}))
    assert data(ask("GET", "/profiles", header)) == []


def test_the_secret_so_far_works_for_the_days_of_grace(
    ask: Ask, url: str, w: str, owner: User, body: dict[str, Any]
) -> None:
    start = db.now()
    with time_machine.travel(start, tick=False) as clock:
        as_owner = people.session_of(url, owner)
        made = data(ask("POST", f"{w}/oauth-apps", as_owner, body), 201)
        path = f"{w}/oauth-apps/{made['app_id']}/rotate-secret"
        turned = data(ask("POST", path, as_owner, {"grace_days": 2}), 201)
        assert turned["previous_expires_at"][:19] == (start + timedelta(days=2)).isoformat()[:19]
        old, new = (basic(made["client_id"], one["client_secret"]) for one in (made, turned))
        assert [ask("GET", "/notes/app", one).status_code for one in (old, new)] == [200, 200]
        clock.move_to(start + timedelta(days=2))
        assert [ask("GET", "/notes/app", one).status_code for one in (old, new)] == [401, 200]
        at_once = data(ask("POST", path, people.session_of(url, owner), {"grace_days": 0}), 201)
        newest = basic(made["client_id"], at_once["client_secret"])
        assert [ask("GET", "/notes/app", one).status_code for one in (new, newest)] == [401, 200]


@pytest.mark.parametrize("days", [-1, 91, "7", 1.5, None])
def test_a_wrong_grace_is_refused(ask: Ask, w: str, as_owner: str, days: object) -> None:
    answer = ask("POST", f"{w}/oauth-apps/{UNKNOWN}/rotate-secret", as_owner, {"grace_days": days})
    assert refusal(answer)[:2] == (422, "validation_error")


def test_the_command_mints_keys_for_a_registered_app_unless_it_is_suspended(
    ask: Ask, settings: Settings, profile: Profile, w: str, as_owner: str, body: dict[str, Any]
) -> None:
    made = data(ask("POST", f"{w}/oauth-apps", as_owner, body), 201)
    key = mint_key(settings, profile_id=profile.id, scopes=[], name="by hand", app="Dealer tools")
    assert ask("GET", "/notes", key).status_code == 200
    ask("PATCH", f"{w}/oauth-apps/{made['app_id']}", as_owner, {"status": "suspended"})
    assert ask("GET", "/notes", key).status_code == 401
    with pytest.raises(click.BadParameter, match="suspended"):
        mint_key(settings, profile_id=profile.id, scopes=[], name="by hand", app="Dealer tools")
