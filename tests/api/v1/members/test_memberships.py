"""People of a workspace: listed, changed, removed, never above one's own role, and never without an owner."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from api import db
from api.models import AuditEntry, Membership, OAuthAuthorization, Profile, User, UserToken, Workspace
from api.roles import Role
from tests.api.v1.members.conftest import Ask, data, refusal
from tests.factories import accounts, people

UNKNOWN = "01900000-0000-7000-8000-00000000ffff"


def sibling(url: str, profile: Profile, name: str = "Sibling") -> Profile:
    with db.transaction(url) as session:
        made = Profile(workspace_id=profile.workspace_id, name=name, timezone="UTC", reporting_currency="USD")
        session.add(made)
    return made


def test_members_are_listed_in_the_order_they_came(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str, owner: User
) -> None:
    guest = people.user(url, email="guest@example.com", name="Gus")
    people.member(url, guest, profile.workspace_id, Role.GUEST, profiles=[profile])
    first = data(ask("GET", f"{w}/memberships?limit=1", as_owner))
    assert [(row["user_id"], row["role"], row["profile_ids"]) for row in first] == [(owner.id, "owner", None)]
    assert first[0]["last_seen_at"] is not None
    page = ask("GET", f"{w}/memberships?limit=1", as_owner).get_json()["pagination"]
    (last,) = data(ask("GET", f"{w}/memberships?limit=1&cursor={page['cursor']}", as_owner))
    assert last["email"] == "guest@example.com"
    assert (last["first_name"], last["last_name"], last["last_seen_at"]) == ("Gus", None, None)
    assert last["profile_ids"] == [profile.id]
    other = sibling(url, profile)
    narrowed = [data(ask("GET", f"{w}/memberships?profile_id={one.id}", as_owner)) for one in (profile, other)]
    assert [len(rows) for rows in narrowed] == [2, 1]


def test_only_admins_see_and_change_members(ask: Ask, url: str, profile: Profile, w: str, as_owner: str) -> None:
    editor = people.user(url)
    place = people.member(url, editor, profile.workspace_id, Role.EDITOR)
    token = people.session_of(url, editor)
    assert refusal(ask("GET", f"{w}/memberships", token)) == (403, "forbidden", "role_required")
    path = f"{w}/memberships/{place.id}"
    assert refusal(ask("PATCH", path, token, {"role": "admin"})) == (403, "forbidden", "role_required")
    agent = people.token_of(url, editor, grants=["mcp:read"])
    assert refusal(ask("PATCH", path, agent, {"role": "admin"})) == (403, "insufficient_scope", None)
    assert ask("PATCH", path, as_owner, {"role": "viewer"}).status_code == 200


def test_a_role_changes_and_the_change_is_audited(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str, owner: User
) -> None:
    viewer = people.user(url)
    place = people.member(url, viewer, profile.workspace_id, Role.VIEWER)
    changed = data(
        ask("PATCH", f"{w}/memberships/{place.id}", as_owner, {"role": "editor", "permissions": ["pii.view"]})
    )
    assert (changed["role"], changed["permissions"]) == ("editor", ["pii.view"])
    kept = data(ask("PATCH", f"{w}/memberships/{place.id}", as_owner, {"role": "admin"}))
    assert (kept["role"], kept["permissions"]) == ("admin", ["pii.view"])
    with db.transaction(url) as session:
        entry = session.scalars(sa.select(AuditEntry).where(AuditEntry.action == "member.changed")).first()
    assert entry is not None
    assert (entry.actor_id, entry.workspace_id, entry.category) == (owner.id, profile.workspace_id, "members")
    assert entry.details["target"]["id"] == viewer.id
    assert (entry.details["before"]["role"], entry.details["after"]["role"]) == ("viewer", "editor")


def test_the_trail_says_which_profiles_a_guest_got_and_lost(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str
) -> None:
    other, guest = sibling(url, profile), people.user(url)
    place = people.member(url, guest, profile.workspace_id, Role.GUEST, profiles=[profile])
    path = f"{w}/memberships/{place.id}"
    data(ask("PATCH", path, as_owner, {"profile_ids": [other.id]}))
    data(ask("DELETE", path, as_owner))
    trail = data(ask("GET", f"{w}/audit?category=members", as_owner))
    # the profile is all that was changed: before and after read the same
    told = [(row["action"], row["before"]["profile_ids"], row["after"]) for row in reversed(trail)]
    assert [(action, before) for action, before, _ in told] == [
        ("member.changed", [profile.id]),
        ("member.removed", [other.id]),
    ]
    assert told[0][2] == {"role": "guest", "permissions": [], "profile_ids": [other.id]}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"role": "king"},
        {"permissions": ["everything"]},
        {"permissions": "pii.view"},
        {"profile_ids": []},
        {"profile_ids": ["1"]},
        {"rank": 1},
    ],
)
def test_a_wrong_change_is_refused(ask: Ask, url: str, profile: Profile, w: str, as_owner: str, body: object) -> None:
    place = people.member(url, people.user(url), profile.workspace_id, Role.VIEWER)
    answer = ask("PATCH", f"{w}/memberships/{place.id}", as_owner, body)
    assert refusal(answer)[:2] == (422, "validation_error")


def test_nobody_gives_or_touches_a_role_above_their_own(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str, owner: User
) -> None:
    admin = people.user(url)
    own = people.member(url, admin, profile.workspace_id, Role.ADMIN)
    token = people.session_of(url, admin)
    above = (403, "forbidden", "role_above_own")
    assert refusal(ask("PATCH", f"{w}/memberships/{own.id}", token, {"role": "owner"})) == above
    with db.transaction(url) as session:
        of_owner = session.scalars(sa.select(Membership).where(Membership.user_id == owner.id)).one()
    assert refusal(ask("PATCH", f"{w}/memberships/{of_owner.id}", token, {"role": "viewer"})) == above
    assert refusal(ask("DELETE", f"{w}/memberships/{of_owner.id}", token)) == above
    assert data(ask("PATCH", f"{w}/memberships/{own.id}", as_owner, {"role": "owner"}))["role"] == "owner"


def test_the_last_owner_stays(ask: Ask, url: str, profile: Profile, w: str, as_owner: str, owner: User) -> None:
    people.member(url, people.user(url), accounts.profile(url).workspace_id)
    with db.transaction(url) as session:
        own = session.scalars(sa.select(Membership).where(Membership.user_id == owner.id)).one()
    last = (409, "invalid_state", "last_owner")
    assert refusal(ask("DELETE", f"{w}/memberships/{own.id}", as_owner)) == last
    assert refusal(ask("PATCH", f"{w}/memberships/{own.id}", as_owner, {"role": "admin"})) == last
    assert data(ask("PATCH", f"{w}/memberships/{own.id}", as_owner, {"role": "owner"}))["role"] == "owner"
    people.member(url, people.user(url), profile.workspace_id)
    assert data(ask("DELETE", f"{w}/memberships/{own.id}", as_owner)) == {"membership_id": own.id, "removed": True}
    assert refusal(ask("GET", f"{w}/memberships", as_owner)) == (404, "not_found", None)


def test_everybody_may_leave_but_not_send_others_away(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str
) -> None:
    guest, viewer = people.user(url), people.user(url)
    own = people.member(url, guest, profile.workspace_id, Role.GUEST, profiles=[profile])
    other = people.member(url, viewer, profile.workspace_id, Role.VIEWER)
    token = people.session_of(url, guest)
    for one in (other.id, UNKNOWN):
        assert refusal(ask("DELETE", f"{w}/memberships/{one}", token)) == (403, "forbidden", "role_required")
    assert ask("DELETE", f"{w}/memberships/{own.id}", token).status_code == 200
    assert refusal(ask("DELETE", f"{w}/memberships/{own.id}", as_owner)) == (404, "not_found", None)


def test_a_membership_of_another_workspace_is_unknown(ask: Ask, url: str, w: str, as_owner: str) -> None:
    foreign = accounts.profile(url, name="Other")
    place = people.member(url, people.user(url), foreign.workspace_id)
    for one in (place.id, UNKNOWN):
        path = f"{w}/memberships/{one}"
        assert refusal(ask("PATCH", path, as_owner, {"role": "viewer"})) == (404, "not_found", None)
        assert refusal(ask("DELETE", path, as_owner)) == (404, "not_found", None)
    assert refusal(ask("DELETE", f"{w}/memberships/12", as_owner)) == (400, "invalid_parameter", None)


def test_a_guest_has_profiles_and_nobody_else(ask: Ask, url: str, profile: Profile, w: str, as_owner: str) -> None:
    second, foreign = sibling(url, profile), accounts.profile(url, name="Other")
    viewer = people.user(url)
    path = f"{w}/memberships/{people.member(url, viewer, profile.workspace_id, Role.VIEWER).id}"
    assert refusal(ask("PATCH", path, as_owner, {"role": "guest"}))[:2] == (422, "validation_error")
    assert refusal(ask("PATCH", path, as_owner, {"profile_ids": [profile.id]}))[:2] == (422, "validation_error")
    far = {"role": "guest", "profile_ids": [profile.id, foreign.id]}
    assert refusal(ask("PATCH", path, as_owner, far)) == (404, "not_found", None)
    near = {"role": "guest", "profile_ids": [profile.id.upper(), second.id]}
    assert data(ask("PATCH", path, as_owner, near))["profile_ids"] == sorted([profile.id, second.id])
    token = people.session_of(url, viewer)
    assert ask("GET", f"/notes?profile_id={second.id}", token).status_code == 200
    fewer = data(ask("PATCH", path, as_owner, {"profile_ids": [profile.id]}))
    assert fewer["profile_ids"] == [profile.id]
    less = data(ask("PATCH", path, as_owner, {"permissions": ["-goals.manage"]}))
    assert (less["profile_ids"], less["permissions"]) == ([profile.id], ["-goals.manage"])
    assert refusal(ask("GET", f"/notes?profile_id={second.id}", token)) == (404, "not_found", None)
    assert data(ask("PATCH", path, as_owner, {"role": "viewer"}))["profile_ids"] is None
    assert ask("GET", f"/notes?profile_id={second.id}", token).status_code == 200


def test_a_removed_person_reaches_nothing_and_the_keys_they_made_stay(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str
) -> None:
    editor, elsewhere = people.user(url), accounts.profile(url, name="Other")
    place = people.member(url, editor, profile.workspace_id, Role.EDITOR)
    people.member(url, editor, elsewhere.workspace_id, Role.EDITOR)
    session, token = people.session_of(url, editor), people.token_of(url, editor)
    key = accounts.secret(url, profile)
    own, other = f"/notes?profile_id={profile.id}", f"/notes?profile_id={elsewhere.id}"
    assert [ask("GET", own, one).status_code for one in (session, token)] == [200, 200]
    assert ask("DELETE", f"{w}/memberships/{place.id}", as_owner).status_code == 200
    for one in (session, token):
        assert refusal(ask("GET", own, one)) == (404, "not_found", None)
        assert ask("GET", other, one).status_code == 200
    assert ask("GET", "/notes", key).status_code == 200


def test_whoever_belongs_nowhere_any_more_loses_their_tokens(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str
) -> None:
    viewer = people.user(url)
    place = people.member(url, viewer, profile.workspace_id, Role.VIEWER)
    session, token = people.session_of(url, viewer), people.token_of(url, viewer)
    with db.transaction(url) as unit:
        held = OAuthAuthorization(kind="agent", client_id="c", client_name="Agent", user_id=viewer.id)
        held.status = "granted"
        unit.add(held)
    assert ask("DELETE", f"{w}/memberships/{place.id}", as_owner).status_code == 200
    assert ask("GET", f"/notes?profile_id={profile.id}", token).status_code == 401
    assert ask("GET", f"/notes?profile_id={profile.id}", session).status_code == 404
    with db.transaction(url) as unit:
        assert unit.scalars(sa.select(UserToken)).one().revoked_at is not None
        assert unit.scalars(sa.select(OAuthAuthorization)).one().status == "revoked"


def test_the_plan_bounds_who_becomes_a_member(ask: Ask, url: str, profile: Profile, w: str, as_owner: str) -> None:
    guest = people.user(url)
    place = people.member(url, guest, profile.workspace_id, Role.GUEST, profiles=[profile])
    for _ in range(2):
        people.member(url, people.user(url), profile.workspace_id, Role.VIEWER)
    full = ask("PATCH", f"{w}/memberships/{place.id}", as_owner, {"role": "viewer"})
    assert refusal(full) == (402, "plan_upgrade_required", None)
    with db.transaction(url) as session:
        session.get_one(Workspace, profile.workspace_id).plan = "growth"
    assert data(ask("PATCH", f"{w}/memberships/{place.id}", as_owner, {"role": "viewer"}))["role"] == "viewer"


def test_people_of_a_profile_are_its_guests_and_the_workspace_roles(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str
) -> None:
    second = sibling(url, profile)
    here, there = people.user(url, name="Here"), people.user(url, name="There")
    people.member(url, here, profile.workspace_id, Role.GUEST, profiles=[profile], profile_role=Role.EDITOR)
    people.member(url, there, profile.workspace_id, Role.GUEST, profiles=[second])
    rows = data(ask("GET", f"{w}/profiles/{profile.id}/members", as_owner))
    assert [(row["name"], row["role"], row["inherited"]) for row in rows] == [
        ("Olga", "owner", True),
        ("Here", "editor", False),
    ]
    editor = people.user(url)
    people.member(url, editor, profile.workspace_id, Role.EDITOR)
    assert ask("GET", f"{w}/profiles/{profile.id}/members", people.session_of(url, editor)).status_code == 403


def test_a_place_on_a_profile_changes_and_ends(ask: Ask, url: str, profile: Profile, w: str, as_owner: str) -> None:
    second, guest = sibling(url, profile), people.user(url)
    place = people.member(url, guest, profile.workspace_id, Role.GUEST, profiles=[profile, second])
    path = f"{w}/profiles/{profile.id}/members/{place.id}"
    changed = data(ask("PATCH", path, as_owner, {"role": "editor", "permissions": ["goals.manage"]}))
    assert changed == {
        "membership_id": place.id,
        "user_id": guest.id,
        "profile_id": profile.id,
        "role": "editor",
        "permissions": ["goals.manage"],
    }
    assert refusal(ask("PATCH", path, as_owner, {"role": "admin"}))[:2] == (422, "validation_error")
    token = people.session_of(url, guest)
    assert data(ask("DELETE", path, as_owner)) == {"membership_id": place.id, "removed": True}
    assert refusal(ask("GET", f"/notes?profile_id={profile.id}", token)) == (404, "not_found", None)
    assert ask("GET", f"/notes?profile_id={second.id}", token).status_code == 200
    assert refusal(ask("DELETE", path, as_owner)) == (404, "not_found", None)
    assert ask("DELETE", f"{w}/profiles/{second.id}/members/{place.id}", as_owner).status_code == 200
    rows = data(ask("GET", f"{w}/memberships", as_owner))
    assert guest.id not in {row["user_id"] for row in rows}


def test_a_workspace_role_is_not_taken_from_one_profile(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str
) -> None:
    place = people.member(url, people.user(url), profile.workspace_id, Role.VIEWER)
    path = f"{w}/profiles/{profile.id}/members/{place.id}"
    inherited = (409, "invalid_state", "inherited_membership")
    assert refusal(ask("PATCH", path, as_owner, {"role": "guest"})) == inherited
    assert refusal(ask("DELETE", path, as_owner)) == inherited


def test_a_guest_gets_and_is_told_only_profiles_that_were_not_archived_meanwhile(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str
) -> None:
    gone, guest = sibling(url, profile), people.user(url, email="gus@example.com")
    body = {"email": "gus@example.com", "role": "guest", "profile_ids": [gone.id, profile.id]}
    token = str(data(ask("POST", f"{w}/invitations", as_owner, body), 201)["accept_url"]).partition("#")[2]
    with db.transaction(url) as session:
        session.get_one(Profile, gone.id).archived_at = db.now()
    accepted = data(ask("POST", "/invitations/accept", people.session_of(url, guest), {"token": token}))
    member = next(row for row in data(ask("GET", f"{w}/memberships", as_owner)) if row["user_id"] == guest.id)
    assert accepted["profile_ids"] == member["profile_ids"] == [profile.id]
