"""DELETE W on SQLite and on Postgres: what ends, what stays, and who is told what afterwards."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from werkzeug.test import TestResponse

from api import db
from api.models import (
    AuditEntry,
    IngestedRecord,
    Invitation,
    Membership,
    PiiAccess,
    Profile,
    ProfileMembership,
    Purge,
    User,
    Workspace,
)
from api.roles import Role
from tests.api.v1.workspaces.conftest import data, refusal
from tests.factories import accounts, people
from tests.factories.deployments import application, settings_of
from tests.fixtures.at_once import let_in_before

COUNTS = {
    "profiles_archived": 3,
    "memberships_removed": 4,
    "invitations_revoked": 2,
    "api_keys_revoked": 3,
    "webhook_subscriptions_paused": 0,
    "retained_conversion_exports": 0,
    "retained_signal_audit_rows": 0,
}
RECORDS = 40


@dataclass
class Agency:
    """A workspace with three profiles, its people, and a way to ask."""

    url: str
    ask: Callable[..., TestResponse]
    workspace_id: str
    profiles: list[Profile]
    users: dict[str, User] = field(default_factory=dict)
    sessions: dict[str, str] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)

    @property
    def path(self) -> str:
        return f"/workspaces/{self.workspace_id}"

    def count(self, model: Any, *where: Any) -> int:
        with db.transaction(self.url) as session:
            return session.scalar(sa.select(sa.func.count()).select_from(model).where(*where)) or 0


@pytest.fixture
def agency(database_url: str, home: Path) -> Iterator[Agency]:
    settings = settings_of(home, database_url)
    app = application(settings)

    def ask(method: str, path: str, token: str, **options: Any) -> TestResponse:
        headers = {"Authorization": f"Bearer {token}", **options.pop("headers", {})}
        return app.test_client().open(f"/api/v1{path}", method=method, headers=headers, **options)

    first = accounts.profile(database_url, name="One")
    made = Agency(database_url, ask, first.workspace_id, [first])
    with db.transaction(database_url) as session:
        for name in ("Two", "Three"):
            more = Profile(workspace_id=first.workspace_id, name=name, timezone="UTC", reporting_currency="USD")
            session.add(more)
            made.profiles.append(more)
        for status, days in (("pending", 1), ("pending", 2), ("pending", -1), ("accepted", 1)):
            invitation = Invitation(workspace_id=first.workspace_id, email="new@example.com", role="viewer")
            invitation.status, invitation.digest = status, db.new_id()
            invitation.invited_by_kind, invitation.expires_at = "system", db.now() + timedelta(days=days)
            session.add(invitation)
    _fill(made)
    yield made


def _fill(agency: Agency) -> None:
    for name, role in (
        ("owner", Role.OWNER),
        ("partner", Role.OWNER),
        ("admin", Role.ADMIN),
        ("guest", Role.GUEST),
    ):
        agency.users[name] = people.user(agency.url, name=name)
        placed = agency.profiles[:1] if role is Role.GUEST else ()
        people.member(agency.url, agency.users[name], agency.workspace_id, role, profiles=placed)
        agency.sessions[name] = people.session_of(agency.url, agency.users[name])
    agency.keys += [accounts.secret(agency.url, profile) for profile in agency.profiles]
    other = accounts.profile(agency.url, name="Other")
    with db.transaction(agency.url) as session:
        for profile in (*agency.profiles, other):
            for n in range(RECORDS):
                sent = {"dataset": "touches", "record_key": f"{n}", "fingerprint": "f", "record": {"n": n}}
                session.add(IngestedRecord(profile_id=profile.id, **sent))
        kept = {"workspace_id": agency.workspace_id, "profile_id": agency.profiles[0].id}
        session.add(AuditEntry(**kept, actor_kind="system", action="goal.updated", outcome="done"))
        session.add(
            PiiAccess(**kept, actor_kind="session", actor_id="u", method="GET", route="/payments", subject="payment",
                      record_count=1, pii_level="masked")
        )  # fmt: skip


def test_an_owner_archives_all_that_is_in_a_workspace(agency: Agency) -> None:
    before = db.now()
    answer = agency.ask("DELETE", agency.path, agency.sessions["owner"])
    done = data(answer)
    assert answer.get_json()["meta"] == {"workspace_id": agency.workspace_id}
    assert (done["workspace_id"], done["archived"], done["profiles_purged"]) == (agency.workspace_id, True, 3)
    assert done["counts"] == COUNTS
    with db.transaction(agency.url) as session:
        workspace = session.get_one(Workspace, agency.workspace_id)
        assert workspace.archived_at is not None and workspace.archived_at >= before
        assert workspace.archived_owner_ids == sorted(agency.users[name].id for name in ("owner", "partner"))
        reasons = session.scalars(sa.select(Invitation.revoke_reason).where(Invitation.status == "revoked")).all()
        assert reasons == ["workspace_archived"] * 2
        kept = session.scalars(sa.select(IngestedRecord.profile_id).distinct()).all()
        assert len(kept) == 1 and kept[0] not in {profile.id for profile in agency.profiles}
    assert agency.count(IngestedRecord) == RECORDS
    assert agency.count(Membership, Membership.workspace_id == agency.workspace_id) == 0
    assert agency.count(ProfileMembership) == 0
    assert agency.count(Purge) == 3


def test_what_was_recorded_stays_and_the_archive_is_recorded_too(agency: Agency) -> None:
    data(agency.ask("DELETE", agency.path, agency.sessions["owner"]))
    assert agency.count(PiiAccess) == 1
    with db.transaction(agency.url) as session:
        entries = session.scalars(sa.select(AuditEntry).order_by(AuditEntry.id)).all()
    assert [entry.action for entry in entries] == ["goal.updated", "workspace.archived"]
    assert entries[1].actor_id == agency.users["owner"].id
    assert entries[1].details["after"] == {**COUNTS, "profiles_purged": 3}


def test_only_its_owners_are_told_again_and_nobody_reaches_anything(agency: Agency) -> None:
    first = data(agency.ask("DELETE", agency.path, agency.sessions["owner"]))
    for name in ("owner", "partner"):
        assert data(agency.ask("DELETE", agency.path, agency.sessions[name])) == {**first, "archived": False}
    unknown = (404, "not_found", None)
    for name in ("admin", "guest"):
        assert refusal(agency.ask("DELETE", agency.path, agency.sessions[name])) == unknown
    profile_id = agency.profiles[0].id
    for name, session in agency.sessions.items():
        assert data(agency.ask("GET", "/workspaces", session)) == [], name
        for path in (f"{agency.path}/profiles", f"{agency.path}/audit", f"/campaigns?profile_id={profile_id}"):
            assert refusal(agency.ask("GET", path, session)) == unknown, (name, path)
        assert refusal(agency.ask("PATCH", agency.path, session, json={"name": "x"})) == unknown
    assert [agency.ask("GET", "/campaigns", key).status_code for key in agency.keys] == [401] * 3
    assert agency.count(AuditEntry, AuditEntry.action == "workspace.archived") == 1


def test_only_an_owner_may_and_only_with_the_scope(agency: Agency) -> None:
    stranger = people.session_of(agency.url, people.user(agency.url))
    reader = people.token_of(agency.url, agency.users["owner"])
    assert refusal(agency.ask("DELETE", agency.path, agency.sessions["admin"])) == (403, "forbidden", "owner_required")
    assert refusal(agency.ask("DELETE", agency.path, stranger)) == (404, "not_found", None)
    assert refusal(agency.ask("DELETE", agency.path, reader)) == (403, "insufficient_scope", None)
    assert refusal(agency.ask("DELETE", agency.path, agency.keys[0])) == (403, "forbidden", "api_key_not_allowed")
    assert agency.count(Workspace, Workspace.archived_at.is_not(None)) == 0
    writer = people.token_of(agency.url, agency.users["owner"], grants=["mcp:write"])
    assert data(agency.ask("DELETE", agency.path, writer))["archived"] is True


@pytest.mark.parametrize(
    ("meanwhile", "refused"),
    [
        (sa.delete(Membership), (404, "not_found", None)),
        (sa.update(Membership).values(role="admin"), (403, "forbidden", "owner_required")),
    ],
    ids=["taken out", "demoted"],
)
def test_who_is_no_owner_any_more_archives_nothing(
    agency: Agency, meanwhile: sa.Delete | sa.Update, refused: tuple[int, str, str | None]
) -> None:
    of_partner = meanwhile.where(Membership.user_id == agency.users["partner"].id)
    with let_in_before(agency.url, lambda session: session.execute(of_partner)):
        answer = agency.ask("DELETE", agency.path, agency.sessions["partner"])
    assert refusal(answer) == refused
    assert agency.count(Workspace, Workspace.archived_at.is_not(None)) == 0
    assert agency.count(Profile, Profile.archived_at.is_not(None)) == 0


def test_two_owners_at_once_archive_it_once(agency: Agency) -> None:
    together = threading.Barrier(2)

    def archive(name: str) -> Any:
        together.wait()
        return data(agency.ask("DELETE", agency.path, agency.sessions[name]))

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(archive, ["owner", "partner"]))
    assert sorted(answer["archived"] for answer in answers) == [False, True]
    assert [answer["counts"] for answer in answers] == [COUNTS] * 2
    assert answers[0]["archived_at"] == answers[1]["archived_at"]


def test_one_key_is_one_archive(agency: Agency) -> None:
    headers = {"Idempotency-Key": "archive-once-0001"}
    first = agency.ask("DELETE", agency.path, agency.sessions["owner"], headers=headers)
    again = agency.ask("DELETE", agency.path, agency.sessions["owner"], headers=headers)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert data(again) == data(first)
