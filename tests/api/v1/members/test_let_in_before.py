"""Who lost their role after a request of theirs was let in: of two who take each other out, one is too late."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from api import db
from api.models import Invitation, Membership, Profile, ProfileMembership
from api.roles import Role
from tests.api.v1.members.conftest import Ask, asker, data, refusal
from tests.factories import accounts, people
from tests.factories.deployments import application, settings_of
from tests.fixtures.at_once import let_in_before


@dataclass
class Two:
    """An owner, and an admin whom somebody takes out; a viewer and a guest, whom the admin works on."""

    ask: Ask
    url: str
    shop: Profile
    owner: Membership
    admin: Membership
    viewer: Membership
    guest: Membership
    session: str

    def call(self, method: str, path: str, body: Any = None) -> TestResponse:
        named = path.format(viewer=self.viewer.id, guest=self.guest.id, shop=self.shop.id)
        return self.ask(method, f"/workspaces/{self.shop.workspace_id}/{named}", self.session, body)

    def rows(self, of: Any) -> list[Any]:
        with db.transaction(self.url, durable=False) as session:
            named = [one for one in of.__table__.columns if one.name != "last_seen_at"]
            return list(session.execute(sa.select(*named).order_by(of.id)))


@pytest.fixture
def two(home: Path, database_url: str) -> Two:
    shop = accounts.profile(database_url)
    made = {}
    for role in (Role.OWNER, Role.ADMIN, Role.VIEWER, Role.GUEST):
        person = people.user(database_url)
        profiles = [shop] if role is Role.GUEST else []
        made[role.word] = people.member(database_url, person, shop.workspace_id, role, profiles=profiles)
        if role is Role.ADMIN:
            session = people.session_of(database_url, person)
    ask = asker(application(settings_of(home, database_url)).test_client())
    return Two(ask, database_url, shop, **made, session=session)


WRITES: dict[str, tuple[Any, ...]] = {
    "change": ("PATCH", "memberships/{viewer}", {"role": "admin"}),
    "remove": ("DELETE", "memberships/{viewer}"),
    "change a guest": ("PATCH", "profiles/{shop}/members/{guest}", {"role": "editor"}),
    "remove a guest": ("DELETE", "profiles/{shop}/members/{guest}"),
    "invite": ("POST", "invitations", {"email": "vera@example.com", "role": "admin"}),
    "invite a guest": ("POST", "profiles/{shop}/invitations", {"email": "vera@example.com", "role": "editor"}),
}


def gone(of: Membership) -> Callable[[Session], object]:
    return lambda session: session.execute(sa.delete(Membership).where(Membership.id == of.id))


def demoted(of: Membership) -> Callable[[Session], object]:
    return lambda session: session.execute(
        sa.update(Membership).where(Membership.id == of.id).values(role=Role.VIEWER.word)
    )


@pytest.mark.parametrize("write", WRITES)
def test_who_was_taken_out_meanwhile_changes_nobody(two: Two, write: str) -> None:
    method, path, *body = WRITES[write]
    with let_in_before(two.url, gone(two.admin)):
        answer = two.call(method, path, *body)
    assert refusal(answer) == (404, "not_found", None)
    kept = [one.id for one in two.rows(Membership)]
    assert kept == sorted(one.id for one in (two.owner, two.viewer, two.guest))
    assert [one.role for one in two.rows(Membership)] == ["owner", "viewer", "guest"]
    assert [one.role for one in two.rows(ProfileMembership)] == ["guest"]
    assert two.rows(Invitation) == []


@pytest.mark.parametrize("write", WRITES)
def test_who_was_demoted_meanwhile_is_refused_as_what_they_are_now(two: Two, write: str) -> None:
    method, path, *body = WRITES[write]
    with let_in_before(two.url, demoted(two.admin)):
        answer = two.call(method, path, *body)
    assert refusal(answer) == (403, "forbidden", "role_required")
    assert [one.role for one in two.rows(Membership)] == ["owner", "viewer", "viewer", "guest"]
    assert two.rows(Invitation) == []


def test_an_invitation_stays_when_who_takes_it_back_was_demoted(two: Two) -> None:
    body = {"email": "vera@example.com", "role": "guest", "profile_ids": [two.shop.id]}
    made = data(two.call("POST", "invitations", body), 201)
    with let_in_before(two.url, demoted(two.admin)):
        answer = two.call("DELETE", f"invitations/{made['invitation_id']}")
    assert refusal(answer) == (403, "forbidden", "role_required")
    assert [one.status for one in two.rows(Invitation)] == ["pending"]


def test_who_was_demoted_meanwhile_may_still_leave(two: Two) -> None:
    with let_in_before(two.url, demoted(two.admin)):
        data(two.call("DELETE", f"memberships/{two.admin.id}"))
    assert [one.role for one in two.rows(Membership)] == ["owner", "viewer", "guest"]
