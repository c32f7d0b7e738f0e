"""GET /workspaces, PATCH W and GET W/profiles: what each caller is told, and who may change it."""

from __future__ import annotations

import re
from collections.abc import Callable

import sqlalchemy as sa

from api import db
from api.models import AuditEntry, Profile, User, Workspace
from api.roles import Role
from tests.api.v1.workspaces.conftest import Ask, data, refusal
from tests.factories import accounts, people


def another_profile(url: str, beside: Profile, name: str, **more: object) -> Profile:
    with db.transaction(url) as session:
        made = Profile(workspace_id=beside.workspace_id, name=name, timezone="UTC", reporting_currency="USD", **more)
        session.add(made)
    return made


def test_people_are_told_their_workspaces_by_name_and_nobody_elses(
    ask: Ask, url: str, profile: Profile, owner: User, session: str
) -> None:
    foreign, named = accounts.profile(url, name="Foreign"), accounts.profile(url, name="Another")
    people.member(url, owner, named.workspace_id, Role.VIEWER)
    rows = data(ask("GET", "/workspaces", session))
    assert [(row["name"], row["role"], row["profiles_count"]) for row in rows] == [
        ("Another", "viewer", 1),
        ("Shop", "owner", 1),
    ]
    assert foreign.workspace_id not in {row["workspace_id"] for row in rows}
    row = rows[1]
    assert {**row, "workspace_id": None, "created_at": None} == {
        "workspace_id": None,
        "created_at": None,
        "name": "Shop",
        "timezone": "UTC",
        "plan": "starter",
        "role": "owner",
        "is_healthcare_agency": False,
        "acquisition_source": "direct",
        "reporting_currency": "USD",
        "profiles_count": 1,
    }
    assert ask("GET", "/workspaces", session).get_json()["meta"] == {}
    only = ask("GET", f"/workspaces?workspace_id={profile.workspace_id}", session)
    assert [one["name"] for one in data(only)] == ["Shop"]
    stranger = f"/workspaces?workspace_id={foreign.workspace_id}"
    assert refusal(ask("GET", stranger, session)) == (404, "not_found", None)


def test_workspaces_are_paged_without_loss(ask: Ask, url: str, owner: User, session: str) -> None:
    for name in ("A", "B", "B", "C"):
        people.member(url, owner, accounts.profile(url, name=name).workspace_id)
    names, path = [], "/workspaces?limit=2"
    for _ in range(3):
        answer = ask("GET", path, session)
        names += [row["name"] for row in data(answer)]
        path = f"/workspaces?limit=2&cursor={answer.get_json()['pagination']['cursor']}"
    assert names == ["A", "B", "B", "C", "Shop"]
    assert answer.get_json()["pagination"] == {"cursor": None, "has_next": False}
    stranger = people.session_of(url, people.user(url))
    assert data(ask("GET", "/workspaces", stranger)) == []


def test_keys_and_apps_list_no_workspaces(ask: Ask, url: str, secret: str, session: str) -> None:
    assert refusal(ask("GET", "/workspaces", secret)) == (403, "forbidden", "api_key_not_allowed")
    app = people.app(url).header
    assert refusal(ask("GET", "/workspaces", app)) == (403, "forbidden", "app_credential_not_allowed")
    writer = people.token_of(url, people.user(url), grants=["mcp:write"])
    assert refusal(ask("GET", "/workspaces", writer)) == (403, "insufficient_scope", None)
    assert ask("GET", "/workspaces", people.token_of(url, people.user(url))).status_code == 200


def test_an_admin_renames_a_workspace_and_the_trail_tells_it(
    ask: Ask, url: str, w: str, as_role: Callable[..., str], session: str
) -> None:
    admin = as_role(Role.ADMIN)
    row = data(ask("PATCH", w, admin, json={"name": " New ", "timezone": "Europe/Madrid"}))
    assert (row["name"], row["timezone"], row["role"]) == ("New", "Europe/Madrid", "admin")
    data(ask("PATCH", w, session, json={"name": "New"}))
    with db.transaction(url) as unit:
        entries = list(unit.scalars(sa.select(AuditEntry).order_by(AuditEntry.id)))
    assert [(entry.action, entry.outcome) for entry in entries] == [
        ("workspace.changed", "done"),
        ("workspace.changed", "no_change"),
    ]
    assert entries[0].details["before"] == {"name": "Shop", "timezone": "UTC"}
    assert entries[0].details["after"] == {"name": "New", "timezone": "Europe/Madrid"}


def test_what_a_workspace_cannot_become_is_refused(
    ask: Ask, url: str, w: str, as_role: Callable[..., str], session: str
) -> None:
    for body in ({"name": " "}, {"name": "x" * 121}, {"timezone": "Mars/Base"}, {"plan": "agency"}, {"name": None}):
        assert refusal(ask("PATCH", w, session, json=body)) == (422, "validation_error", None), body
    assert refusal(ask("PATCH", w, as_role(Role.EDITOR), json={"name": "x"})) == (403, "forbidden", "role_required")
    stranger = people.session_of(url, people.user(url))
    assert refusal(ask("PATCH", w, stranger, json={"name": "x"})) == (404, "not_found", None)
    with db.transaction(url) as unit:
        assert unit.scalars(sa.select(Workspace.name)).all() == ["Shop"]


def test_the_profiles_of_a_workspace_are_those_the_person_opens(
    ask: Ask, url: str, w: str, profile: Profile, as_role: Callable[..., str]
) -> None:
    another_profile(url, profile, "Demo", is_demo=True)
    another_profile(url, profile, "Gone", archived_at=db.now())
    second = another_profile(url, profile, "Second")
    viewer, guest = as_role(Role.VIEWER), as_role(Role.GUEST)
    answer = ask("GET", f"{w}/profiles", viewer)
    assert [row["name"] for row in data(answer)] == ["Demo", "Second", "Shop"]
    assert answer.get_json()["meta"] == {"workspace_id": profile.workspace_id}
    assert [row["my_role"] for row in data(answer)] == ["viewer"] * 3
    assert [row["name"] for row in data(ask("GET", f"{w}/profiles?include_demo=false", viewer))] == ["Second", "Shop"]
    assert [row["name"] for row in data(ask("GET", f"{w}/profiles", guest))] == ["Shop"]
    only = ask("GET", f"{w}/profiles?profile_id={second.id}", viewer)
    assert [row["name"] for row in data(only)] == ["Second"]
    assert refusal(ask("GET", f"{w}/profiles?profile_id={second.id}", guest)) == (404, "not_found", None)
    pages = [ask("GET", f"{w}/profiles?limit=2", viewer)]
    cursor = pages[0].get_json()["pagination"]["cursor"]
    assert [row["name"] for row in data(ask("GET", f"{w}/profiles?limit=2&cursor={cursor}", viewer))] == ["Shop"]
    mixed = ask("GET", f"{w}/profiles?limit=2&cursor={cursor}&include_demo=false", viewer)
    assert refusal(mixed) == (400, "invalid_parameter", None)


def test_instants_leave_in_utc_to_the_millisecond(ask: Ask, session: str) -> None:
    (row,) = data(ask("GET", "/workspaces", session))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", row["created_at"])
