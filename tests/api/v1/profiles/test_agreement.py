"""The agreement of a profile: read by admins, signed by a signed-in one, once per text."""

from __future__ import annotations

import hashlib

import pytest
import sqlalchemy as sa

from api import agreements, db
from api.models import AgreementSignature, AuditEntry, Profile
from api.roles import Role
from tests.api.v1.profiles.conftest import Ask, refusal
from tests.factories import accounts, people


@pytest.fixture
def path(profile: Profile) -> str:
    return f"/workspaces/{profile.workspace_id}/profiles/{profile.id}/agreement"


def member(url: str, profile: Profile, role: Role) -> str:
    made = people.user(url, name="Ada")
    people.member(url, made, profile.workspace_id, role)
    return people.session_of(url, made)


def test_an_admin_reads_signs_once_and_reads_the_signature(ask: Ask, url: str, profile: Profile, path: str) -> None:
    admin = member(url, profile, Role.ADMIN)
    current = ask("GET", path, admin).get_json()["data"]
    assert (current["status"], current["signed_by"], current["signed_at"]) == ("none", None, None)
    parts = [current["version"], current["texts"]["en"], current["texts"]["es"]]
    assert current["text_hash"] == hashlib.sha256("\0".join(parts).encode()).hexdigest()
    body = {name: current[name] for name in ("version", "text_hash")}
    body |= {"signatory_name": "Ada Alder", "signatory_title": "Owner"}
    first = ask("POST", path, admin, body)
    assert first.status_code == 201, first.text
    signed = first.get_json()["data"]
    assert (signed["status"], signed["signatory_name"]) == ("signed", "Ada Alder")
    assert (signed["signed_by"]["kind"], signed["signed_by"]["display"]) == ("session", "Ada")
    again = ask("POST", path, member(url, profile, Role.OWNER), {**body, "signatory_name": "Bea"})
    assert (again.status_code, again.get_json()["data"]) == (200, signed)
    assert ask("GET", path, admin).get_json()["data"] == signed
    with db.transaction(url) as session:
        assert agreements.signed(session, [profile.id]) == {profile.id}
        assert session.scalars(sa.select(AuditEntry.category)).all() == ["privacy"]


def test_only_the_current_text_is_signed(ask: Ask, url: str, profile: Profile, path: str) -> None:
    admin = member(url, profile, Role.ADMIN)
    right = {"version": agreements.VERSION, "text_hash": agreements.text_hash()}
    names = {"signatory_name": "Ada Alder", "signatory_title": "Owner"}
    for wrong in ({"version": "2020-01"}, {"text_hash": "0" * 64}):
        assert refusal(ask("POST", path, admin, {**right, **names, **wrong})) == (422, "validation_error", None)
    with db.transaction(url) as session:
        earlier = AgreementSignature(profile_id=profile.id, version="2020-01", text_hash="0" * 64, **names)
        earlier.signed_by_kind, earlier.signed_by_id = "session", "x"
        session.add(earlier)
    assert ask("GET", path, admin).get_json()["data"]["status"] == "none"


def test_it_is_for_admins_who_are_signed_in(ask: Ask, url: str, profile: Profile, path: str) -> None:
    editor = member(url, profile, Role.EDITOR)
    assert refusal(ask("GET", path, editor)) == (403, "forbidden", "role_required")
    owner = people.user(url)
    people.member(url, owner, profile.workspace_id)
    token = people.token_of(url, owner, grants=["mcp:read", "mcp:write"])
    assert ask("GET", path, token).status_code == 200
    assert ask("POST", path, token, {}).status_code == 403
    stranger = people.user(url)
    assert refusal(ask("GET", path, people.session_of(url, stranger))) == (404, "not_found", None)
    assert refusal(ask("GET", path, accounts.secret(url, profile))) == (403, "forbidden", "api_key_not_allowed")
