"""What people, apps and keys reach: one answer for whatever is not theirs, roles and scopes after it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
import time_machine
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api import db, reach
from api.models import App, Profile, ProfileMembership, UserSession, Workspace
from api.roles import Role, scopes_of
from api.scopes import PII, Scope
from tests.factories import accounts, people
from touchledger.settings import Settings

UNKNOWN = "01900000-0000-7000-8000-00000000ffff"


@pytest.fixture
def url(settings: Settings) -> str:
    return settings.operational_url


@pytest.fixture
def ask(client: FlaskClient) -> Callable[..., TestResponse]:
    """Asks a path with a header: a bearer token, or a whole header of another scheme."""

    def asked(path: str, token: str, method: str = "GET") -> TestResponse:
        header = token if token.startswith("Basic ") else f"Bearer {token}"
        return client.open(f"/api/v1{path}", method=method, headers={"Authorization": header})

    return asked


def refusal(response: TestResponse) -> tuple[int, str, str | None]:
    error = response.get_json()["error"]
    return response.status_code, error["code"], error.get("reason")


NOT_FOUND = (404, "not_found", None)


def test_a_person_reads_the_profile_they_name(ask: Callable[..., TestResponse], url: str, profile: Profile) -> None:
    ada = people.user(url)
    people.member(url, ada, profile.workspace_id, Role.VIEWER)
    for token in (people.session_of(url, ada), people.token_of(url, ada)):
        answer = ask(f"/notes?profile_id={profile.id.upper()}", token)
        assert answer.status_code == 200
        assert answer.get_json()["meta"]["profile_id"] == profile.id
        assert refusal(ask("/notes", token)) == (400, "invalid_request", "profile_id_required")
        assert refusal(ask(f"/notes?profile_id={UNKNOWN}", token)) == NOT_FOUND


def test_whatever_is_not_theirs_is_answered_as_unknown(
    ask: Callable[..., TestResponse], url: str, profile: Profile
) -> None:
    foreign, ada = accounts.profile(url, name="Other"), people.user(url)
    people.member(url, ada, profile.workspace_id)
    token = people.session_of(url, ada)
    asked = [
        f"/notes?profile_id={foreign.id}",
        f"/notes?profile_id={profile.id}&workspace_id={foreign.workspace_id}",
        f"/workspaces/{foreign.workspace_id}/notes",
        f"/workspaces/{UNKNOWN}/notes",
        f"/workspaces/{profile.workspace_id}/profiles/{foreign.id}/notes",
        f"/workspaces/{profile.workspace_id}/notes?profile_id={foreign.id}",
    ]
    assert [refusal(ask(path, token)) for path in asked] == [NOT_FOUND] * len(asked)
    differs = f"/workspaces/{profile.workspace_id}/notes?workspace_id={foreign.workspace_id}"
    assert refusal(ask(differs, token)) == (400, "invalid_parameter", None)


def test_a_guest_sees_only_the_profiles_they_have_a_place_on(
    ask: Callable[..., TestResponse], url: str, profile: Profile
) -> None:
    with db.transaction(url) as session:
        sibling = Profile(
            workspace_id=profile.workspace_id, name="Sibling", timezone="UTC", reporting_currency="USD"
        )  # fmt: skip
        session.add(sibling)
    guest, another, stranger = people.user(url), people.user(url), people.user(url)
    people.member(url, guest, profile.workspace_id, Role.GUEST, profiles=[profile], profile_role=Role.VIEWER)
    people.member(url, another, profile.workspace_id, Role.GUEST, profiles=[sibling])
    token = people.session_of(url, guest)
    assert ask(f"/notes?profile_id={profile.id}", token).status_code == 200
    assert ask(f"/workspaces/{profile.workspace_id}/profiles/{profile.id}/notes", token).status_code == 200
    assert refusal(ask(f"/notes?profile_id={sibling.id}", token)) == NOT_FOUND
    own_affairs = ask(f"/workspaces/{profile.workspace_id}/notes?profile_id={profile.id}", token).get_json()
    assert own_affairs["data"][0]["title"] == "guest", "a place on a profile is none in the workspace"
    with db.transaction(url) as session:
        assert [one.id for one in session.scalars(reach.profiles_of(guest.id))] == [profile.id]
        outside = [reach.on_profile(session, guest.id, sibling), reach.on_profile(session, stranger.id, profile)]
    assert [(one.role, one.scopes) for one in outside] == [(None, frozenset()), (None, frozenset())]


@pytest.mark.parametrize("place", [Role.GUEST, Role.EDITOR])
def test_no_permission_shows_people_to_a_guest(
    ask: Callable[..., TestResponse], url: str, profile: Profile, place: Role
) -> None:
    guest, viewer = people.user(url), people.user(url)
    given = people.member(url, guest, profile.workspace_id, Role.GUEST, permissions=["pii.view"])
    people.member(url, viewer, profile.workspace_id, Role.VIEWER, permissions=["pii.view"])
    with db.transaction(url) as session:
        on_it = ProfileMembership(membership_id=given.id, profile_id=profile.id, role=place.word)
        on_it.permissions = ["pii.view", "goals.manage"]
        session.add(on_it)
        session.flush()
        held, others = (reach.on_profile(session, one.id, profile).scopes for one in (guest, viewer))
    assert held.isdisjoint(PII)
    assert {Scope.GOALS_WRITE, Scope.COMMERCE_READ} < held
    assert Scope.CUSTOMERS_READ in others
    about = f"/notes/customers?profile_id={profile.id}"
    token = people.token_of(url, guest, grants=["mcp:read_pii"])
    answer = ask(about, token).get_json()["error"]
    assert (answer["code"], answer["required_scopes"]) == ("insufficient_scope", ["customers:read"])


def test_a_role_too_low_is_told_so_after_reach(ask: Callable[..., TestResponse], url: str, profile: Profile) -> None:
    admin, workspace = people.user(url), profile.workspace_id
    people.member(url, admin, workspace, Role.ADMIN)
    session, path = people.session_of(url, admin), f"/workspaces/{workspace}/notes"
    assert ask(path, session).get_json()["data"][0]["title"] == "admin"
    assert refusal(ask(path, session, "DELETE")) == (403, "forbidden", "owner_required")
    reader = people.token_of(url, admin)
    assert refusal(ask(path, reader, "DELETE")) == (403, "insufficient_scope", None)
    editor = people.user(url)
    people.member(url, editor, workspace, Role.EDITOR, permissions=["pii.view"])
    about = f"/notes/customers?profile_id={profile.id}"
    assert refusal(ask(about, people.session_of(url, editor))) == (403, "forbidden", "role_required")


def test_both_halves_of_a_user_token_must_give_the_scope(
    ask: Callable[..., TestResponse], url: str, profile: Profile
) -> None:
    viewer, owner = people.user(url), people.user(url)
    people.member(url, viewer, profile.workspace_id, Role.VIEWER)
    people.member(url, owner, profile.workspace_id, Role.OWNER)
    path = f"/notes/customers?profile_id={profile.id}"
    grant = people.token_of(url, viewer, grants=["mcp:read", "mcp:read_pii"])
    error = ask(path, grant).get_json()["error"]
    assert (error["code"], error["required_scopes"]) == ("insufficient_scope", ["customers:read"])
    assert "grant gives" in error["message"]
    assert "membership gives" in error["message"]
    assert ask(path, people.token_of(url, owner)).get_json()["error"]["code"] == "insufficient_scope"
    assert ask(path, people.token_of(url, owner, grants=["mcp:read_pii"])).status_code == 200
    never = ask(f"/notes/visitors?profile_id={profile.id}", people.token_of(url, owner, grants=["mcp:write"]))
    assert refusal(never) == (403, "insufficient_scope", None)


def test_of_a_user_token_that_asks_about_no_membership_only_the_grant_is_told(
    ask: Callable[..., TestResponse], url: str, profile: Profile
) -> None:
    owner = people.user(url)
    people.member(url, owner, profile.workspace_id, Role.OWNER)
    error = ask("/workspaces", people.token_of(url, owner), "POST").get_json()["error"]
    assert (error["code"], error["required_scopes"]) == ("insufficient_scope", ["workspaces:write"])
    assert "grant gives" in error["message"]
    assert "membership" not in error["message"], "the owner was told that the membership gives none"


@pytest.mark.parametrize(
    ("method", "path", "scopes"),
    [
        ("GET", "/visitors", ["visitors:read"]),
        ("POST", "/events", ["events:write"]),
        ("GET", "/webhooks/subscriptions", ["connections:read"]),
        ("GET", "/commerce/products", ["commerce:read"]),
        # closed by name, and not for want of the scope
        ("POST", "/workspaces/{workspace}/api-keys", None),
        ("GET", "/me/mcp-tokens", None),
    ],
)
def test_a_user_token_that_never_reaches_a_route_is_told_the_scope_that_no_grant_gives(
    ask: Callable[..., TestResponse], url: str, profile: Profile, method: str, path: str, scopes: list[str] | None
) -> None:
    owner = people.user(url)
    people.member(url, owner, profile.workspace_id, Role.OWNER)
    token = people.token_of(url, owner, grants=["mcp:read", "mcp:read_pii", "mcp:write"])
    answer = ask(path.format(workspace=profile.workspace_id), token, method)
    assert refusal(answer) == (403, "insufficient_scope", None)
    assert answer.get_json()["error"].get("required_scopes") == scopes


def test_a_creation_asks_the_grant_alone(ask: Callable[..., TestResponse], url: str) -> None:
    nobody = people.user(url)
    assert ask("/notes/made", people.session_of(url, nobody), "POST").status_code == 200
    assert ask("/notes/made", people.token_of(url, nobody, grants=["mcp:write"]), "POST").status_code == 200
    assert refusal(ask("/notes/made", people.token_of(url, nobody), "POST")) == (403, "insufficient_scope", None)


def test_the_wrong_kind_of_credential_is_refused_by_name(
    ask: Callable[..., TestResponse], url: str, profile: Profile, secret: str
) -> None:
    ada, app = people.user(url), people.app(url)
    people.member(url, ada, profile.workspace_id)
    session, token = people.session_of(url, ada), people.token_of(url, ada, grants=["mcp:read", "mcp:write"])
    workspace = f"/workspaces/{profile.workspace_id}/notes"
    assert refusal(ask(workspace, secret)) == (403, "forbidden", "api_key_not_allowed")
    assert refusal(ask("/notes/mine", secret)) == (403, "forbidden", "session_required")
    assert refusal(ask("/notes/mine", app.header)) == (403, "forbidden", "app_credential_not_allowed")
    assert refusal(ask("/notes/mine", token)) == (403, "insufficient_scope", None)
    assert ask("/notes/mine", session).get_json()["data"]["id"] == ada.id
    for other in (secret, token, session):
        assert refusal(ask("/notes/app", other)) == (403, "forbidden", "app_credential_required")
    answer = ask("/notes/app", app.header).get_json()
    assert (answer["data"]["id"], answer["meta"]) == (
        app.app.id,
        {"client_id": app.app.client_id},
    )


def test_a_suspended_app_is_told_so(ask: Callable[..., TestResponse], url: str) -> None:
    app = people.app(url)
    with db.transaction(url) as session:
        session.get_one(App, app.app.id).status = "suspended"
    assert refusal(ask("/notes/app", app.header)) == (403, "forbidden", "app_suspended")
    assert refusal(ask("/notes/app", "Basic bm9ib2R5Om5vdGhpbmc=")) == (401, "unauthorized", None)


def test_an_archived_workspace_is_gone_but_for_its_owners_repetition(
    ask: Callable[..., TestResponse], url: str, profile: Profile
) -> None:
    owner, admin = people.user(url), people.user(url)
    people.member(url, owner, profile.workspace_id)
    people.member(url, admin, profile.workspace_id, Role.ADMIN)
    with db.transaction(url) as session:
        workspace = session.get_one(Workspace, profile.workspace_id)
        workspace.archived_at, workspace.archived_owner_ids = db.now(), [owner.id]
    path = f"/workspaces/{profile.workspace_id}/notes"
    assert ask(path, people.session_of(url, owner), "DELETE").status_code == 200
    assert refusal(ask(path, people.session_of(url, owner))) == NOT_FOUND
    assert refusal(ask(path, people.session_of(url, admin), "DELETE")) == NOT_FOUND


def test_sessions_end_when_idle_and_tokens_when_due(ask: Callable[..., TestResponse], url: str) -> None:
    start = db.now()
    with time_machine.travel(start, tick=False) as clock:
        ada = people.user(url)
        session, token = people.session_of(url, ada), people.token_of(url, ada, grants=["mcp:write"], days=9)
        clock.move_to(start + timedelta(days=6, hours=23))
        assert ask("/notes/mine", session).status_code == 200
        clock.move_to(start + timedelta(days=13))
        assert ask("/notes/mine", session).status_code == 200
        assert ask("/notes/made", token, "POST").status_code == 401
        clock.move_to(start + timedelta(days=20, minutes=1))
        assert ask("/notes/mine", session).status_code == 401
    with db.transaction(url) as unit:
        kept = unit.query(UserSession).one()
        kept.last_seen_at, kept.expires_at = db.now(), db.now()
    assert ask("/notes/mine", session).status_code == 401


def test_healthcare_withholds_visitors_from_everyone_and_customers_from_partners(
    ask: Callable[..., TestResponse], url: str, profile: Profile
) -> None:
    both = [Scope.VISITORS_READ, Scope.CUSTOMERS_READ]
    own = accounts.secret(url, profile, scopes=both)
    partner = accounts.secret(url, profile, scopes=both, app_id=people.app(url).app.id)
    assert [ask("/notes/visitors", key).status_code for key in (own, partner)] == [200, 200]
    with db.transaction(url) as session:
        session.get_one(Workspace, profile.workspace_id).is_healthcare_agency = True
    for key, path in ((own, "visitors"), (partner, "visitors"), (partner, "customers")):
        assert refusal(ask(f"/notes/{path}", key)) == (403, "healthcare_scope_forbidden", None)
    assert ask("/notes/customers", own).status_code == 200


def test_a_key_for_named_networks_works_only_from_them(
    ask: Callable[..., TestResponse], url: str, profile: Profile
) -> None:
    inside = accounts.secret(url, profile, allowed_ips=["127.0.0.0/8", "::1/128"])
    outside = accounts.secret(url, profile, allowed_ips=["10.0.0.0/8"])
    assert ask("/notes", inside).status_code == 200
    assert refusal(ask("/notes", outside)) == (403, "forbidden", "ip_not_allowed")


def test_permissions_add_and_take_scopes_and_admins_keep_all() -> None:
    assert Scope.CUSTOMERS_READ not in scopes_of(Role.VIEWER)
    assert Scope.CUSTOMERS_READ in scopes_of(Role.VIEWER, ["pii.view"])
    assert Scope.GOALS_WRITE not in scopes_of(Role.EDITOR, ["goals.manage", "-goals.manage"])
    assert scopes_of(Role.ADMIN, ["-pii.view"]) == frozenset(Scope)
