"""/workspaces/{id}/members: an app keeps the people of the workspaces it provisioned, and of no others."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from api import db
from api.models import AuditEntry, Membership, Profile, User, Workspace
from api.roles import Role
from tests.api.v1.members.conftest import Ask, data, refusal
from tests.factories import accounts, people
from tests.factories.people import AppCredential

UNKNOWN = "01900000-0000-7000-8000-00000000ffff"
NOT_FOUND = (404, "not_found", None)


@pytest.fixture
def app(url: str, profile: Profile) -> AppCredential:
    """The app that provisioned the workspace."""
    made = people.app(url)
    with db.transaction(url) as session:
        workspace = session.get_one(Workspace, profile.workspace_id)
        workspace.acquisition_source, workspace.provisioned_by_app_id = "oauth", made.app.id
    return made


def test_an_app_adds_changes_lists_and_removes_people(
    ask: Ask, url: str, profile: Profile, w: str, app: AppCredential
) -> None:
    body = {"email": "Dee@Example.com", "role": "viewer", "first_name": "Dee", "permissions": ["pii.view"]}
    made = data(ask("PUT", f"{w}/members", app.header, body), 201)
    assert (made["email"], made["role"], made["created"]) == ("dee@example.com", "viewer", True)
    assert (made["first_name"], made["permissions"], made["profile_ids"]) == ("Dee", ["pii.view"], None)
    again = ask("PUT", f"{w}/members", app.header, {"email": "dee@example.com", "role": "editor"})
    changed = data(again)
    assert (changed["membership_id"], changed["role"], changed["created"]) == (made["membership_id"], "editor", False)
    assert (changed["permissions"], changed["first_name"]) == (["pii.view"], "Dee")
    about = {"client_id": app.app.client_id, "workspace_id": profile.workspace_id}
    assert again.get_json()["meta"] == about
    assert ask("GET", f"{w}/members", app.header).get_json()["meta"] == about
    guest = {"email": "gus@example.com", "role": "guest", "profile_ids": [profile.id]}
    assert data(ask("PUT", f"{w}/members", app.header, guest), 201)["profile_ids"] == [profile.id]
    assert [row["role"] for row in data(ask("GET", f"{w}/members", app.header))] == ["editor", "guest"]
    path = f"{w}/members/{made['user_id']}"
    assert data(ask("DELETE", path, app.header)) == {"user_id": made["user_id"], "removed": True, "keys_revoked": 0}
    assert refusal(ask("DELETE", path, app.header)) == NOT_FOUND
    assert [row["role"] for row in data(ask("GET", f"{w}/members", app.header))] == ["guest"]
    with db.transaction(url) as session:
        entries = session.scalars(sa.select(AuditEntry).order_by(AuditEntry.id)).all()
    actions = ["member.added", "member.changed", "member.added", "member.removed"]
    assert [(entry.action, entry.actor_kind) for entry in entries] == [(action, "app") for action in actions]


def test_a_workspace_of_somebody_else_is_unknown_to_an_app(ask: Ask, url: str, w: str, app: AppCredential) -> None:
    stranger, foreign = people.app(url), accounts.profile(url, name="Other")
    body = {"email": "a@example.com", "role": "viewer"}
    for path, header in (
        (f"{w}/members", stranger.header),
        (f"/workspaces/{foreign.workspace_id}/members", app.header),
        (f"/workspaces/{UNKNOWN}/members", app.header),
    ):
        assert refusal(ask("GET", path, header)) == NOT_FOUND
        assert refusal(ask("PUT", path, header, body)) == NOT_FOUND
        assert refusal(ask("DELETE", f"{path}/{UNKNOWN}", header)) == NOT_FOUND


def test_people_and_keys_do_not_use_the_routes_of_apps(
    ask: Ask, w: str, app: AppCredential, as_owner: str, secret: str
) -> None:
    assert app.app.id
    for token in (as_owner, secret):
        answer = ask("PUT", f"{w}/members", token, {"email": "a@example.com", "role": "viewer"})
        assert refusal(answer) == (403, "forbidden", "app_credential_required")


@pytest.mark.parametrize(
    "body",
    [
        {"role": "viewer"},
        {"email": "nobody", "role": "viewer"},
        {"email": "a@example.com", "role": "guest"},
        {"email": "a@example.com", "role": "viewer", "profile_ids": [UNKNOWN]},
        {"email": "a@example.com", "role": "viewer", "first_name": ""},
    ],
)
def test_a_wrong_member_is_refused(ask: Ask, w: str, app: AppCredential, body: object) -> None:
    assert refusal(ask("PUT", f"{w}/members", app.header, body))[:2] == (422, "validation_error")


def test_a_guest_gets_no_profile_of_another_workspace(ask: Ask, url: str, w: str, app: AppCredential) -> None:
    foreign = accounts.profile(url, name="Other")
    body = {"email": "a@example.com", "role": "guest", "profile_ids": [foreign.id]}
    assert refusal(ask("PUT", f"{w}/members", app.header, body)) == NOT_FOUND
    with db.transaction(url) as session:
        assert session.scalars(sa.select(User)).all() == []


def test_an_app_neither_removes_nor_demotes_the_last_owner(ask: Ask, w: str, app: AppCredential, owner: User) -> None:
    last = (409, "invalid_state", "last_owner")
    assert refusal(ask("DELETE", f"{w}/members/{owner.id}", app.header)) == last
    demoted = ask("PUT", f"{w}/members", app.header, {"email": owner.email, "role": "admin"})
    assert refusal(demoted) == last


def test_the_plan_bounds_members_and_guests(ask: Ask, url: str, profile: Profile, w: str, app: AppCredential) -> None:
    for number in range(3):
        people.member(url, people.user(url), profile.workspace_id, Role.VIEWER)
        body = {"email": f"{number}@example.com", "role": "guest", "profile_ids": [profile.id]}
        assert ask("PUT", f"{w}/members", app.header, body).status_code == 201
    full = ask("PUT", f"{w}/members", app.header, {"email": "a@example.com", "role": "viewer"})
    assert refusal(full) == (402, "plan_upgrade_required", None)
    for number in range(3, 6):
        body = {"email": f"{number}@example.com", "role": "guest", "profile_ids": [profile.id]}
        answer = ask("PUT", f"{w}/members", app.header, body)
        assert answer.status_code == (201 if number < 5 else 402)


def test_an_address_does_not_tell_an_app_the_name_of_a_stranger(
    ask: Ask, url: str, profile: Profile, w: str, app: AppCredential
) -> None:
    with db.transaction(url) as session:
        eve = User(email="eve@example.com", first_name="Eve", last_name="Known", password_hash="$argon2id$x")
        eve.email_verified_at = db.now()
        session.add(eve)
    body = {"email": "eve@example.com", "role": "viewer", "first_name": "Mallory"}
    made = data(ask("PUT", f"{w}/members", app.header, body), 201)
    assert (made["first_name"], made["last_name"]) == (None, None)
    with db.transaction(url) as session:
        assert session.scalars(sa.select(User)).one().first_name == "Eve"
        assert session.scalars(sa.select(Membership)).one().last_seen_at is None
    assert ask("GET", f"/notes?profile_id={profile.id}", people.session_of(url, eve)).status_code == 200
    (row,) = data(ask("GET", f"{w}/members", app.header))
    assert (row["first_name"], row["last_name"]) == ("Eve", "Known")


def test_nor_does_it_tell_the_people_of_that_workspace(
    ask: Ask, profile: Profile, url: str, w: str, app: AppCredential, as_owner: str
) -> None:
    # whoever has an app may own a workspace that it made, and signed in they were told what the app was not
    eve = people.user(url, email="eve@example.com", name="Eve")
    with db.transaction(url) as session:
        session.get_one(User, eve.id).password_hash = "$argon2id$x"
    made = data(ask("PUT", f"{w}/members", app.header, {"email": "eve@example.com", "role": "viewer"}), 201)
    changed = ask("PATCH", f"{w}/memberships/{made['membership_id']}", as_owner, {"role": "editor"})

    def told() -> list[str | None]:
        (row,) = [one for one in data(ask("GET", f"{w}/memberships", as_owner)) if one["user_id"] == eve.id]
        on_profile = data(ask("GET", f"{w}/profiles/{profile.id}/members", as_owner))
        return [row["first_name"], *(one["name"] for one in on_profile if one["user_id"] == eve.id)]

    assert data(changed)["first_name"] is None
    assert told() == [None, "A member"]
    assert ask("GET", f"/notes?profile_id={profile.id}", people.session_of(url, eve)).status_code == 200
    assert told() == ["Eve", "Eve"]


def test_whoever_never_proved_the_address_does_not_come_in_with_it(
    ask: Ask, url: str, w: str, app: AppCredential
) -> None:
    squatter = people.user(url, email="eve@example.com", verified=False, name="Mallory")
    with db.transaction(url) as session:
        session.get_one(User, squatter.id).password_hash = "$argon2id$x"
    held = [people.session_of(url, squatter), people.token_of(url, squatter)]
    made = data(ask("PUT", f"{w}/members", app.header, {"email": "eve@example.com", "role": "owner"}), 201)
    assert (made["user_id"], made["first_name"]) == (squatter.id, None)
    assert [ask("GET", "/workspaces", token).status_code for token in held] == [401, 401]
    with db.transaction(url) as session:
        kept = session.get_one(User, squatter.id)
        assert (kept.password_hash, kept.first_name, kept.email_verified_at) == (None, None, None)


def test_a_member_who_never_proved_the_address_keeps_the_account_when_the_role_changes(
    ask: Ask, url: str, profile: Profile, w: str, app: AppCredential
) -> None:
    eve = people.user(url, email="eve@example.com", verified=False, name="Eve")
    people.member(url, eve, profile.workspace_id, Role.VIEWER)
    held = people.session_of(url, eve)
    changed = data(ask("PUT", f"{w}/members", app.header, {"email": "eve@example.com", "role": "editor"}))
    assert (changed["user_id"], changed["role"], changed["created"]) == (eve.id, "editor", False)
    assert ask("GET", "/workspaces", held).status_code == 200


def test_the_people_of_such_a_workspace_invite_nobody(
    ask: Ask, profile: Profile, w: str, app: AppCredential, as_owner: str
) -> None:
    refused = (403, "app_provisioned_workspace", None)
    # before the body is read
    assert refusal(ask("POST", f"{w}/invitations", as_owner, {"role": 1})) == refused
    wanted = {"email": "vera@example.com", "role": "viewer"}
    assert refusal(ask("POST", f"{w}/profiles/{profile.id}/invitations", as_owner, wanted)) == refused
    assert data(ask("GET", f"{w}/invitations", as_owner)) == []
