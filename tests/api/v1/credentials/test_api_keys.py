"""API keys from mint to end."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
import time_machine
from flask.testing import FlaskClient

from api import db
from api.models import ApiKey, AuditEntry, IdempotencyRecord, Membership, Profile, User, Workspace
from api.roles import Role
from api.scopes import DEFAULT_SCOPES, Scope
from tests.api.conftest import Caller
from tests.api.v1.credentials.conftest import data, refusal
from tests.factories import accounts, people

People = Callable[..., tuple[User, Caller]]
FOREIGN = "01900000-0000-7000-8000-00000000ffff"


@pytest.fixture
def path(profile: Profile) -> str:
    return f"/workspaces/{profile.workspace_id}/api-keys"


def minted(caller: Caller, path: str, profile: Profile, **wanted: Any) -> dict[str, Any]:
    body = {"profile_id": profile.id, "name": "Server", **wanted}
    made: dict[str, Any] = data(caller.post(path, json=body), 201)
    return made


def test_a_key_is_minted_with_the_default_scopes_and_shown_once(
    person: People, client: FlaskClient, path: str, profile: Profile, url: str
) -> None:
    ada, here = person()
    body = {"profile_id": profile.id, "name": " Server "}
    answer = here.post(path, json=body, headers={"Idempotency-Key": "k"})
    made = data(answer, 201)
    assert answer.get_json()["meta"] == {"workspace_id": profile.workspace_id}
    assert (made["name"], made["profile_name"], made["status"]) == ("Server", "Shop", "active")
    assert made["scopes"] == sorted(scope.value for scope in DEFAULT_SCOPES)
    assert made["created_by"] == {"kind": "session", "id": ada.id, "display": "Ada"}
    assert made["key"].startswith(made["prefix"])
    assert Caller(client, made["key"]).get("/notes").get_json()["meta"]["profile_id"] == profile.id
    assert data(here.post(path, json=body, headers={"Idempotency-Key": "k"}), 201) == {**made, "key": None}
    with db.transaction(url) as session:
        entry = session.scalars(sa.select(AuditEntry)).one()
        assert made["key"] not in (session.scalars(sa.select(IdempotencyRecord.body)).one() or "")
    assert (entry.action, entry.category, entry.profile_id) == ("api_key.minted", "credentials", profile.id)
    assert made["key"] not in str(entry.details)


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "x" * 81},
        {"scopes": []},
        {"scopes": ["everything"]},
        {"expires_in_days": 0},
        {"expires_in_days": 3651},
        {"allowed_ips": ["10.0.0.1/8"]},
        {"allowed_ips": ["nowhere"]},
        {"allowed_ips": ["10.0.0.0/8"] * 21},
        {"profile_id": "12"},
        {"extra": 1},
    ],
)
def test_what_cannot_be_a_key_is_refused(owner: Caller, path: str, profile: Profile, wrong: dict[str, Any]) -> None:
    body = {"profile_id": profile.id, "name": "Server", **wrong}
    assert refusal(owner.post(path, json=body)) == (422, "validation_error", None)


def test_a_key_ends_when_it_was_said_to_and_works_from_its_networks(
    owner: Caller, client: FlaskClient, path: str, profile: Profile
) -> None:
    start = db.now()
    with time_machine.travel(start, tick=False) as clock:
        here = minted(owner, path, profile, expires_in_days=2, allowed_ips=["127.0.0.1", "127.0.0.1/32"])
        elsewhere = minted(owner, path, profile, allowed_ips=["2001:DB8::/32"])
        assert (here["allowed_ips"], elsewhere["allowed_ips"]) == (["127.0.0.1/32"], ["2001:db8::/32"])
        assert Caller(client, here["key"]).get("/notes").status_code == 200
        assert refusal(Caller(client, elsewhere["key"]).get("/notes")) == (403, "forbidden", "ip_not_allowed")
        clock.move_to(start + timedelta(days=2))
        assert Caller(client, here["key"]).get("/notes").status_code == 401


def test_nobody_gives_a_key_more_than_they_have(person: People, path: str, profile: Profile) -> None:
    body = {"profile_id": profile.id, "name": "Server", "scopes": ["customers:read", "goals:write", "exports:write"]}
    refused = person(Role.EDITOR)[1].post(path, json=body)
    assert refusal(refused) == (403, "insufficient_scope", None)
    assert refused.get_json()["error"]["required_scopes"] == ["customers:read", "exports:write"]
    allowed = person(Role.EDITOR, permissions=["pii.view", "exports.manage"])[1]
    assert data(allowed.post(path, json=body), 201)["scopes"] == sorted(body["scopes"])
    every = [scope.value for scope in Scope]
    assert len(minted(person(Role.ADMIN)[1], path, profile, scopes=every)["scopes"]) == 32


def test_viewers_guests_and_strangers_mint_nothing(person: People, path: str, profile: Profile, url: str) -> None:
    body = {"profile_id": profile.id, "name": "Server"}
    for role in (Role.VIEWER, Role.GUEST):
        assert refusal(person(role)[1].post(path, json=body)) == (403, "forbidden", "role_required")
    other = accounts.profile(url, name="Other")
    owner = person()[1]
    for named in (other.id, FOREIGN):
        assert refusal(owner.post(path, json={**body, "profile_id": named})) == (404, "not_found", None)
    foreign = f"/workspaces/{other.workspace_id}/api-keys"
    assert refusal(owner.post(foreign, json=body)) == (404, "not_found", None)
    assert refusal(owner.post(f"{path}?profile_id={profile.id}", json={**body, "profile_id": other.id})) == (
        400,
        "invalid_parameter",
        None,
    )


def test_keys_apps_and_tokens_mint_nothing(caller: Caller, client: FlaskClient, path: str, url: str) -> None:
    assert refusal(caller.post(path)) == (403, "forbidden", "api_key_not_allowed")
    token = people.token_of(url, people.user(url), grants=["mcp:read", "mcp:write"])
    assert refusal(Caller(client, token).post(path)) == (403, "insufficient_scope", None)
    basic = client.post(f"/api/v1{path}", headers={"Authorization": people.app(url).header})
    assert refusal(basic) == (403, "forbidden", "app_credential_not_allowed")


def test_a_healthcare_profile_gets_no_key_for_visitors(owner: Caller, path: str, profile: Profile, url: str) -> None:
    with db.transaction(url) as session:
        session.get_one(Workspace, profile.workspace_id).is_healthcare_agency = True
    body = {"profile_id": profile.id, "name": "Server", "scopes": ["visitors:read"]}
    assert refusal(owner.post(path, json=body)) == (403, "healthcare_scope_forbidden", None)
    assert minted(owner, path, profile, scopes=["customers:read"])["status"] == "active"


def test_the_plan_bounds_the_live_keys_of_a_profile(owner: Caller, path: str, profile: Profile) -> None:
    body = {"profile_id": profile.id, "name": "Server"}
    start = db.now()
    with time_machine.travel(start, tick=False) as clock:
        made = [minted(owner, path, profile, expires_in_days=1 + number) for number in range(5)]
        assert refusal(owner.post(path, json=body)) == (402, "plan_upgrade_required", None)
        data(owner.post(f"{path}/{made[4]['id']}/rotate"), 201)
        assert refusal(owner.post(path, json=body)) == (402, "plan_upgrade_required", None)
        data(owner.post(f"{path}/{made[3]['id']}/revoke"))
        minted(owner, path, profile)
        clock.move_to(start + timedelta(days=1))
        minted(owner, path, profile)


def test_a_rotated_key_works_for_48_hours_beside_the_new_one(
    owner: Caller, client: FlaskClient, path: str, profile: Profile, url: str
) -> None:
    start = db.now().replace(microsecond=0)
    with time_machine.travel(start, tick=False) as clock:
        old = minted(owner, path, profile, scopes=["campaigns:read"], allowed_ips=["127.0.0.0/8"])
        answer = data(owner.post(f"{path}/{old['id']}/rotate"), 201)
        assert answer["previous"]["id"] == old["id"]
        assert answer["previous"]["expires_at"].startswith((start + timedelta(hours=48)).isoformat()[:19])
        same = ("name", "scopes", "allowed_ips", "profile_id", "expires_at")
        assert {name: answer[name] for name in same} == {name: old[name] for name in same}
        assert answer["rotated_from_id"] == old["id"]
        both = [Caller(client, key) for key in (old["key"], answer["key"])]
        # one allowance for the two of them
        assert [one.get("/notes").headers["X-RateLimit-Remaining"] for one in both] == ["59", "58"]
        states = {row["id"]: row["status"] for row in data(owner.get(path))}
        assert states == {old["id"]: "expiring", answer["id"]: "active"}
        clock.move_to(start + timedelta(hours=47, minutes=59))
        assert [one.get("/notes").status_code for one in both] == [200, 200]
        clock.move_to(start + timedelta(hours=48, minutes=1))
        assert [one.get("/notes").status_code for one in both] == [401, 200]
        assert refusal(both[0].get("/notes")) == (401, "unauthorized", None)
        states = {row["id"]: row["status"] for row in data(owner.get(path))}
        assert states == {old["id"]: "expired", answer["id"]: "active"}
    with db.transaction(url) as session:
        found = {entry.action: entry for entry in session.scalars(sa.select(AuditEntry))}
    assert found["api_key.rotated"].details["after"]["rotated_to_id"] == answer["id"]


def test_a_rotation_outlives_no_end_that_was_set(owner: Caller, path: str, profile: Profile) -> None:
    old = minted(owner, path, profile, expires_in_days=1)
    answer = data(owner.post(f"{path}/{old['id']}/rotate"), 201)
    assert answer["previous"]["expires_at"] == answer["expires_at"] == old["expires_at"]


def test_only_an_active_key_is_rotated(owner: Caller, path: str, profile: Profile) -> None:
    start = db.now()
    with time_machine.travel(start, tick=False) as clock:
        old, revoked = minted(owner, path, profile), minted(owner, path, profile)
        data(owner.post(f"{path}/{old['id']}/rotate"), 201)
        again = owner.post(f"{path}/{old['id']}/rotate")
        assert refusal(again) == (409, "invalid_state", "already_rotated")
        data(owner.post(f"{path}/{revoked['id']}/revoke"))
        clock.move_to(start + timedelta(hours=49))
        for one in (old, revoked):
            assert refusal(owner.post(f"{path}/{one['id']}/rotate")) == (409, "invalid_state", "key_not_active")


def test_a_revoked_key_opens_nothing_from_the_next_request_on(
    owner: Caller, client: FlaskClient, path: str, profile: Profile, url: str
) -> None:
    made = minted(owner, path, profile)
    server = Caller(client, made["key"])
    assert server.get("/notes").status_code == 200
    revoked = data(owner.post(f"{path}/{made['id']}/revoke"))
    assert revoked["status"] == "revoked"
    assert server.get("/notes").status_code == 401
    assert data(owner.post(f"{path}/{made['id']}/revoke")) == revoked
    with db.transaction(url) as session:
        actions = [entry.action for entry in session.scalars(sa.select(AuditEntry).order_by(AuditEntry.at))]
    assert actions == ["api_key.minted", "api_key.revoked"]


def test_editors_end_their_own_keys_and_admins_all(person: People, path: str, profile: Profile, url: str) -> None:
    maker, editor = person(Role.EDITOR)
    own = minted(editor, path, profile)
    foreign = minted(person(Role.ADMIN)[1], path, profile)
    for act in ("revoke", "rotate"):
        refused = editor.post(f"{path}/{foreign['id']}/{act}")
        assert refusal(refused) == (403, "forbidden", "role_required")
    assert data(editor.post(f"{path}/{own['id']}/rotate"), 201)["created_by"]["id"] == maker.id
    assert data(editor.post(f"{path}/{own['id']}/revoke"))["status"] == "revoked"
    assert data(person(Role.ADMIN)[1].post(f"{path}/{foreign['id']}/revoke"))["status"] == "revoked"


def test_a_rotation_gives_nobody_scopes_they_lost(person: People, path: str, profile: Profile, url: str) -> None:
    maker, editor = person(Role.EDITOR, permissions=["pii.view"])
    own = minted(editor, path, profile, scopes=["customers:read"])
    with db.transaction(url) as session:
        session.execute(sa.update(Membership).where(Membership.user_id == maker.id).values(permissions=[]))
    refused = editor.post(f"{path}/{own['id']}/rotate")
    assert refusal(refused) == (403, "insufficient_scope", None)
    assert data(editor.post(f"{path}/{own['id']}/revoke"))["status"] == "revoked"


@pytest.mark.parametrize("act", ["revoke", "rotate"])
def test_keys_of_another_workspace_are_unknown(owner: Caller, path: str, url: str, act: str) -> None:
    other = accounts.profile(url, name="Other")
    accounts.secret(url, other)
    with db.transaction(url) as session:
        foreign = session.scalars(sa.select(ApiKey.id)).one()
    for key_id in (foreign, FOREIGN):
        assert refusal(owner.post(f"{path}/{key_id}/{act}")) == (404, "not_found", None)
    assert refusal(owner.post(f"{path}/12/{act}")) == (400, "invalid_parameter", None)


def test_the_list_is_paged_narrowed_and_without_secrets(
    owner: Caller, client: FlaskClient, path: str, profile: Profile, url: str
) -> None:
    with db.transaction(url) as session:
        sibling = Profile(
            workspace_id=profile.workspace_id, name="Sibling", timezone="UTC", reporting_currency="USD"
        )  # fmt: skip
        session.add(sibling)
    made = [minted(owner, path, one)["id"] for one in (profile, sibling, profile)]
    data(owner.post(f"{path}/{made[0]}/revoke"))
    rows = data(owner.get(path))
    assert [row["id"] for row in rows] == made[::-1]
    assert not any("key" in row or "digest" in row for row in rows)
    first = owner.get(f"{path}?limit=2").get_json()
    rest = owner.get(f"{path}?limit=2&cursor={first['pagination']['cursor']}").get_json()
    assert [row["id"] for row in first["data"] + rest["data"]] == made[::-1]
    mixed = owner.get(f"{path}?limit=2&status=active&cursor={first['pagination']['cursor']}")
    assert refusal(mixed) == (400, "invalid_parameter", None)
    assert [row["id"] for row in data(owner.get(f"{path}?profile_id={sibling.id}"))] == [made[1]]
    assert [row["id"] for row in data(owner.get(f"{path}?status=revoked"))] == [made[0]]
    assert [row["id"] for row in data(owner.get(f"{path}?status=active"))] == made[:0:-1]
    assert data(owner.get(f"{path}?status=expired")) == []
    assert refusal(owner.get(f"{path}?status=lost")) == (400, "invalid_parameter", None)


def test_user_tokens_of_editors_read_the_list(person: People, client: FlaskClient, path: str, url: str) -> None:
    for role, status in ((Role.EDITOR, 200), (Role.VIEWER, 403)):
        token = people.token_of(url, person(role)[0])
        assert Caller(client, token).get(path).status_code == status
    writer = people.token_of(url, person()[0], grants=["mcp:write"])
    assert refusal(Caller(client, writer).get(path)) == (403, "insufficient_scope", None)


def test_a_guest_with_an_editors_place_has_the_keys_of_that_profile(
    person: People, path: str, profile: Profile, url: str
) -> None:
    with db.transaction(url) as session:
        sibling = Profile(
            workspace_id=profile.workspace_id, name="Sibling", timezone="UTC", reporting_currency="USD"
        )  # fmt: skip
        session.add(sibling)
    accounts.secret(url, sibling)
    guest = person(Role.GUEST, profiles=[profile], profile_role=Role.EDITOR)[1]
    assert refusal(guest.get(path)) == (403, "forbidden", "role_required")
    own = f"{path}?profile_id={profile.id}"
    made = data(guest.post(own, json={"profile_id": profile.id, "name": "Server"}), 201)
    assert [row["id"] for row in data(guest.get(own))] == [made["id"]]
    with db.transaction(url) as session:
        foreign = session.scalars(sa.select(ApiKey.id).where(ApiKey.profile_id == sibling.id)).one()
    outside = guest.post(f"{path}/{foreign}/revoke?profile_id={profile.id}")
    assert refusal(outside) == (404, "not_found", None)
