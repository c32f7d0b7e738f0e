"""Invitations: made, listed, taken back and accepted, over HTTP."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
import time_machine

from api import db
from api.models import AuditEntry, IdempotencyRecord, Invitation, Membership, Profile, User, Workspace
from api.roles import Role
from tests.api.v1.members.conftest import Ask, data, refusal
from tests.factories import accounts, people

UNKNOWN = "01900000-0000-7000-8000-00000000ffff"
NOT_FOUND = (404, "not_found", None)
VIEWER = {"email": "Vera@Example.com", "role": "viewer"}


def token_in(invitation: dict[str, Any]) -> str:
    return str(invitation["accept_url"]).partition("#")[2]


@pytest.fixture
def vera(url: str) -> User:
    return people.user(url, email="vera@example.com", verified=False)


@pytest.fixture
def as_vera(url: str, vera: User) -> str:
    return people.session_of(url, vera)


def invited(ask: Ask, w: str, token: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    found: dict[str, Any] = data(ask("POST", f"{w}/invitations", token, body or VIEWER), 201)
    return found


def test_an_invitation_is_shown_once_and_opens_the_workspace(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str, owner: User, vera: User, as_vera: str
) -> None:
    made = invited(ask, w, as_owner)
    assert made["accept_url"].startswith("http://127.0.0.1:8000/invitations#tl_inv_")
    assert (made["email"], made["scope"], made["status"]) == ("vera@example.com", "workspace", "pending")
    assert made["email_status"] == "not_configured"
    assert made["invited_by"] == {"kind": "session", "id": owner.id, "display": "Olga"}
    (listed,) = data(ask("GET", f"{w}/invitations", as_owner))
    assert "accept_url" not in listed
    answer = ask("POST", "/invitations/accept", as_vera, {"token": token_in(made)})
    accepted = data(answer)
    assert answer.get_json()["meta"] == {"workspace_id": profile.workspace_id}
    assert (accepted["workspace_id"], accepted["workspace_name"]) == (profile.workspace_id, "Shop")
    assert (accepted["role"], accepted["profile_ids"]) == ("viewer", None)
    assert ask("GET", f"/notes?profile_id={profile.id}", as_vera).status_code == 200
    assert len(data(ask("GET", f"{w}/invitations?status=accepted", as_owner))) == 1
    with db.transaction(url) as session:
        assert session.get_one(User, vera.id).email_verified_at is None
        assert session.get_one(Membership, accepted["membership_id"]).role == "viewer"
        entry = session.scalars(sa.select(AuditEntry).where(AuditEntry.action == "invitation.accepted")).one()
        assert entry.workspace_id == profile.workspace_id
        kept = " ".join(str(row.details) for row in session.scalars(sa.select(AuditEntry)))
        assert "vera" not in kept
        assert session.scalars(sa.select(Invitation)).one().digest not in made["accept_url"]


def test_a_replayed_invitation_carries_no_secret(ask: Ask, url: str, w: str, as_owner: str) -> None:
    first = ask("POST", f"{w}/invitations", as_owner, VIEWER, Idempotency_Key="one")
    again = ask("POST", f"{w}/invitations", as_owner, VIEWER, Idempotency_Key="one")
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.get_json()["data"] == {**first.get_json()["data"], "accept_url": None}
    with db.transaction(url) as session:
        assert "tl_inv_" not in str(session.scalars(sa.select(IdempotencyRecord)).one().body)


def test_an_agent_needs_the_grant_to_invite(ask: Ask, url: str, w: str, owner: User) -> None:
    reader, writer = people.token_of(url, owner), people.token_of(url, owner, grants=["mcp:write"])
    assert refusal(ask("POST", f"{w}/invitations", reader, VIEWER)) == (403, "insufficient_scope", None)
    assert invited(ask, w, writer)["invited_by"]["kind"] == "user_token"
    assert len(data(ask("GET", f"{w}/invitations", reader))) == 1


def test_an_owner_is_invited_by_an_owner_only(ask: Ask, url: str, profile: Profile, w: str, as_owner: str) -> None:
    admin = people.user(url)
    people.member(url, admin, profile.workspace_id, Role.ADMIN)
    as_admin, above = people.session_of(url, admin), (403, "forbidden", "role_above_own")
    body = {"email": "new@example.com", "role": "owner"}
    assert refusal(ask("POST", f"{w}/invitations", as_admin, body)) == above
    made = invited(ask, w, as_owner, body)
    assert refusal(ask("DELETE", f"{w}/invitations/{made['invitation_id']}", as_admin)) == above
    assert ask("DELETE", f"{w}/invitations/{made['invitation_id']}", as_owner).status_code == 200


def test_nobody_is_invited_twice_or_as_a_member(ask: Ask, url: str, w: str, as_owner: str, owner: User) -> None:
    made, elsewhere = invited(ask, w, as_owner), accounts.profile(url).workspace_id
    people.member(url, owner, elsewhere)
    there = ask("DELETE", f"/workspaces/{elsewhere}/invitations/{made['invitation_id']}", as_owner)
    assert refusal(there) == NOT_FOUND, "an admin of one workspace takes back no invitation to another"
    state = (409, "invalid_state")
    assert refusal(ask("POST", f"{w}/invitations", as_owner, VIEWER)) == (*state, "already_invited")
    member = {"email": owner.email, "role": "viewer"}
    assert refusal(ask("POST", f"{w}/invitations", as_owner, member)) == (*state, "already_member")
    revoked = data(ask("DELETE", f"{w}/invitations/{made['invitation_id']}", as_owner))
    assert (revoked["status"], revoked["revoke_reason"]) == ("revoked", "person")
    assert data(ask("GET", f"{w}/audit?category=members", as_owner))[0]["action"] == "invitation.revoked"
    repeated = ask("DELETE", f"{w}/invitations/{made['invitation_id']}", as_owner)
    assert refusal(repeated) == (*state, "already_revoked")
    invited(ask, w, as_owner)


def test_an_answered_invitation_stays_answered(ask: Ask, w: str, as_owner: str, as_vera: str) -> None:
    made = invited(ask, w, as_owner)
    accept = {"token": token_in(made)}
    assert ask("POST", "/invitations/accept", as_vera, accept).status_code == 200
    answered = (409, "invalid_state", "already_accepted")
    assert refusal(ask("POST", "/invitations/accept", as_vera, accept)) == answered
    assert refusal(ask("DELETE", f"{w}/invitations/{made['invitation_id']}", as_owner)) == answered


def test_a_revoked_invitation_opens_nothing(ask: Ask, w: str, as_owner: str, as_vera: str) -> None:
    made = invited(ask, w, as_owner)
    ask("DELETE", f"{w}/invitations/{made['invitation_id']}", as_owner)
    answer = ask("POST", "/invitations/accept", as_vera, {"token": token_in(made)})
    assert refusal(answer) == (409, "invalid_state", "already_revoked")


def test_an_invitation_lasts_fourteen_days(ask: Ask, url: str, w: str, owner: User, vera: User) -> None:
    start = db.now()
    with time_machine.travel(start, tick=False) as clock:
        as_owner = people.session_of(url, owner)
        made = invited(ask, w, as_owner)
        clock.move_to(start + timedelta(days=14))
        as_owner, as_vera = people.session_of(url, owner), people.session_of(url, vera)
        answer = ask("POST", "/invitations/accept", as_vera, {"token": token_in(made)})
        assert refusal(answer) == (409, "invalid_state", "invitation_expired")
        assert data(ask("GET", f"{w}/invitations", as_owner)) == []
        (told,) = data(ask("GET", f"{w}/invitations?status=revoked", as_owner))
        assert (told["revoke_reason"], told["revoked_at"]) == ("expired", told["expires_at"])
        invited(ask, w, as_owner)
        clock.move_to(start + timedelta(days=28, seconds=-1))
        last = data(ask("GET", f"{w}/invitations?status=all", people.session_of(url, owner)))
        assert [row["status"] for row in last] == ["pending", "revoked"]


def test_only_the_invited_address_may_accept(ask: Ask, url: str, w: str, as_owner: str, as_vera: str) -> None:
    made = invited(ask, w, as_owner, {"email": "other@example.com", "role": "viewer"})
    answer = ask("POST", "/invitations/accept", as_vera, {"token": token_in(made)})
    assert refusal(answer) == (403, "forbidden", "email_mismatch")
    other = people.session_of(url, people.user(url, email="other@example.com"))
    assert ask("POST", "/invitations/accept", other, {"token": token_in(made)}).status_code == 200


@pytest.mark.parametrize("token", ["", "x", "tl_inv_" + "A" * 38, "tl_live_" + "A" * 38])
def test_an_unknown_token_is_not_found(ask: Ask, as_vera: str, token: str) -> None:
    assert refusal(ask("POST", "/invitations/accept", as_vera, {"token": token})) == NOT_FOUND


def test_accepting_needs_a_person(ask: Ask, url: str, secret: str, as_vera: str, vera: User) -> None:
    accept = {"token": "x"}
    assert refusal(ask("POST", "/invitations/accept", secret, accept))[1] == "forbidden"
    reader = people.token_of(url, vera)
    assert refusal(ask("POST", "/invitations/accept", reader, accept)) == (403, "insufficient_scope", None)
    assert refusal(ask("POST", "/invitations/accept", as_vera, {"token": 7}))[:2] == (422, "validation_error")


def test_an_archived_workspace_takes_nobody_in(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str, as_vera: str
) -> None:
    accept = {"token": token_in(invited(ask, w, as_owner))}
    with db.transaction(url) as session:
        session.get_one(Workspace, profile.workspace_id).archived_at = db.now()
    assert refusal(ask("POST", "/invitations/accept", as_vera, accept)) == (410, "workspace_archived", None)
    with db.transaction(url) as session:
        row = session.scalars(sa.select(Invitation)).one()
        row.status, row.revoke_reason, row.revoked_at = "revoked", "workspace_archived", db.now()
    assert refusal(ask("POST", "/invitations/accept", as_vera, accept)) == (410, "workspace_archived", None)


def test_members_and_open_invitations_together_fill_the_plan(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str, as_vera: str
) -> None:
    # what another workspace invited, and who belongs to it, counts for nothing here
    ben, elsewhere = people.user(url, email="b@example.com"), accounts.profile(url).workspace_id
    people.member(url, ben, elsewhere)
    invited(ask, f"/workspaces/{elsewhere}", people.session_of(url, ben))
    made = invited(ask, w, as_owner)
    invited(ask, w, as_owner, {"email": "b@example.com", "role": "admin"})
    full = (402, "plan_upgrade_required", None)
    third = {"email": "c@example.com", "role": "viewer"}
    assert refusal(ask("POST", f"{w}/invitations", as_owner, third)) == full
    guest = {"email": "c@example.com", "role": "guest", "profile_ids": [profile.id]}
    invited(ask, w, as_owner, guest)
    for _ in range(2):
        people.member(url, people.user(url), profile.workspace_id, Role.VIEWER)
    accept = {"token": token_in(made)}
    assert refusal(ask("POST", "/invitations/accept", as_vera, accept)) == full
    with db.transaction(url) as session:
        session.get_one(Workspace, profile.workspace_id).plan = "growth"
    assert ask("POST", "/invitations/accept", as_vera, accept).status_code == 200


def test_a_guest_is_invited_to_profiles(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str, as_vera: str
) -> None:
    foreign = accounts.profile(url, name="Other")
    body: dict[str, Any] = {"email": "vera@example.com", "role": "guest"}
    assert refusal(ask("POST", f"{w}/invitations", as_owner, body))[:2] == (422, "validation_error")
    far = {**body, "profile_ids": [foreign.id]}
    assert refusal(ask("POST", f"{w}/invitations", as_owner, far)) == NOT_FOUND
    made = invited(ask, w, as_owner, {**body, "profile_ids": [profile.id]})
    accepted = data(ask("POST", "/invitations/accept", as_vera, {"token": token_in(made)}))
    assert (accepted["role"], accepted["profile_ids"]) == ("guest", [profile.id])
    assert ask("GET", f"/notes?profile_id={profile.id}", as_vera).status_code == 200


def test_an_invitation_to_a_profile_makes_a_guest_of_it_alone(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str, as_vera: str
) -> None:
    with db.transaction(url) as session:
        second = Profile(workspace_id=profile.workspace_id, name="Second", timezone="UTC", reporting_currency="USD")
        session.add(second)
    path = f"{w}/profiles/{profile.id}/invitations"
    admin = ask("POST", path, as_owner, {"email": "vera@example.com", "role": "admin"})
    assert refusal(admin)[:2] == (422, "validation_error")
    body = {"email": "vera@example.com", "role": "editor", "permissions": ["-goals.manage"]}
    made = data(ask("POST", path, as_owner, body), 201)
    assert (made["scope"], made["profile_id"], made["profile_ids"]) == ("profile", profile.id, None)
    assert [row["invitation_id"] for row in data(ask("GET", path, as_owner))] == [made["invitation_id"]]
    assert data(ask("GET", f"{w}/profiles/{second.id}/invitations", as_owner)) == []
    assert len(data(ask("GET", f"{w}/invitations", as_owner))) == 1
    assert data(ask("GET", f"{w}/invitations?profile_id={second.id}", as_owner)) == []
    other = f"{w}/profiles/{second.id}/invitations/{made['invitation_id']}"
    assert refusal(ask("DELETE", other, as_owner)) == NOT_FOUND
    accepted = data(ask("POST", "/invitations/accept", as_vera, {"token": token_in(made)}))
    assert (accepted["role"], accepted["profile_ids"]) == ("editor", [profile.id])
    assert ask("GET", f"/notes?profile_id={profile.id}", as_vera).status_code == 200
    assert refusal(ask("GET", f"/notes?profile_id={second.id}", as_vera)) == NOT_FOUND
    again = (409, "invalid_state", "already_member")
    assert refusal(ask("POST", path, as_owner, body)) == again
    onto = data(ask("POST", f"{w}/profiles/{second.id}/invitations", as_owner, body), 201)
    assert ask("POST", "/invitations/accept", as_vera, {"token": token_in(onto)}).status_code == 200
    assert ask("GET", f"/notes?profile_id={second.id}", as_vera).status_code == 200


def test_a_guest_whom_an_earlier_invitation_makes_a_viewer_opens_all(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str, as_vera: str
) -> None:
    viewer = invited(ask, w, as_owner)
    guest = data(ask("POST", f"{w}/profiles/{profile.id}/invitations", as_owner, {**VIEWER, "role": "guest"}), 201)
    first = data(ask("POST", "/invitations/accept", as_vera, {"token": token_in(guest)}))
    second = data(ask("POST", "/invitations/accept", as_vera, {"token": token_in(viewer)}))
    assert first["membership_id"] == second["membership_id"]
    rows = data(ask("GET", f"{w}/memberships", as_owner))
    assert [(row["role"], row["profile_ids"]) for row in rows] == [("owner", None), ("viewer", None)]


def test_who_got_in_another_way_accepts_nothing_more(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str, vera: User, as_vera: str
) -> None:
    made = invited(ask, w, as_owner)
    path = f"{w}/profiles/{profile.id}/invitations"
    of_profile = data(ask("POST", path, as_owner, {"email": "vera@example.com", "role": "guest"}), 201)
    people.member(url, vera, profile.workspace_id, Role.EDITOR)
    for one in (made, of_profile):
        answer = ask("POST", "/invitations/accept", as_vera, {"token": token_in(one)})
        assert refusal(answer) == (409, "invalid_state", "already_member")
    assert len(data(ask("GET", f"{w}/invitations", as_owner))) == 2


def test_pages_of_invitations_go_from_the_newest_to_the_oldest(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str
) -> None:
    with db.transaction(url) as session:
        session.get_one(Workspace, profile.workspace_id).plan = "growth"
    made = [
        invited(ask, w, as_owner, {"email": f"{n}@example.com", "role": "viewer"})["invitation_id"] for n in range(5)
    ]
    seen, query = [], "limit=2"
    for _ in range(3):
        answer = ask("GET", f"{w}/invitations?{query}", as_owner)
        seen += [row["invitation_id"] for row in data(answer)]
        query = f"limit=2&cursor={answer.get_json()['pagination']['cursor']}"
    assert seen == made[::-1]
    assert answer.get_json()["pagination"] == {"cursor": None, "has_next": False}
    first = ask("GET", f"{w}/invitations?limit=2", as_owner).get_json()["pagination"]["cursor"]
    mixed = ask("GET", f"{w}/invitations?limit=2&status=all&cursor={first}", as_owner)
    assert refusal(mixed)[:2] == (400, "invalid_parameter")
    assert refusal(ask("GET", f"{w}/invitations?status=open", as_owner))[:2] == (400, "invalid_parameter")
