"""The data processing agreement of an app: read, accepted as it stands, outdated by a new text, withdrawn."""

from __future__ import annotations

import hashlib
from datetime import timedelta

import pytest
import sqlalchemy as sa

from api import db, dpa
from api.models import App, AuditEntry, DpaAcceptance, Profile, User
from api.roles import Role
from tests.api.v1.members.conftest import Ask, data, refusal
from tests.factories import people


@pytest.fixture
def app(url: str, profile: Profile) -> App:
    """An app of the workspace that provisioned the profile."""
    made = people.app(url, workspace_id=profile.workspace_id).app
    people.delegate(url, made, profile)
    return made


@pytest.fixture
def path(w: str, app: App) -> str:
    return f"{w}/oauth-apps/{app.id}/dpa"


def signature(ask: Ask, path: str, token: str) -> dict[str, str]:
    text = data(ask("GET", path, token))
    return {
        "version": text["version"],
        "text_hash": text["text_hash"],
        "signatory_name": "Olga Owner",
        "signatory_title": "Director",
    }


def test_the_text_comes_in_both_languages_with_its_hash(ask: Ask, path: str, as_owner: str) -> None:
    text = data(ask("GET", path, as_owner))
    assert set(text["texts"]) == {"en", "es"}
    whole = text["texts"]["en"] + text["texts"]["es"]
    assert text["text_hash"] == hashlib.sha256(whole.encode()).hexdigest()
    clauses = [line.partition(".")[0] for line in text["texts"]["en"].splitlines() if line[:1].isdigit()]
    assert clauses == [line.partition(".")[0] for line in text["texts"]["es"].splitlines() if line[:1].isdigit()]


def test_accepting_covers_what_the_app_provisions_and_again_changes_nothing(
    ask: Ask, url: str, w: str, app: App, path: str, as_owner: str, owner: User
) -> None:
    signed = signature(ask, path, as_owner)
    first = data(ask("POST", f"{path}/accept", as_owner, signed))
    assert (first["state"], first["version"], first["profiles_covered"]) == ("accepted", dpa.VERSION, 1)
    assert first["accepted_by"] == {"kind": "session", "id": owner.id, "display": "Olga"}
    assert data(ask("POST", f"{path}/accept", as_owner, {**signed, "signatory_name": "Eve"})) == first
    (listed,) = data(ask("GET", f"{w}/oauth-apps", as_owner))
    assert listed["dpa"] == {name: value for name, value in first.items() if name != "profiles_covered"}
    with db.transaction(url) as session:
        assert not dpa.standing(session, app.id).is_gated(db.now())
        assert session.scalars(sa.select(DpaAcceptance)).one().signatory_name == "Olga Owner"
        entry = session.scalars(sa.select(AuditEntry)).one()
    assert (entry.action, entry.category) == ("dpa.accepted", "privacy")
    assert "Olga" not in str(entry.details)


def test_only_the_current_text_is_accepted(ask: Ask, path: str, as_owner: str) -> None:
    signed = signature(ask, path, as_owner)
    outdated = (409, "invalid_state", "dpa_version_outdated")
    for wrong in ({"version": "2020-01-01"}, {"text_hash": "0" * 64}):
        assert refusal(ask("POST", f"{path}/accept", as_owner, {**signed, **wrong})) == outdated
    unsigned = {name: value for name, value in signed.items() if name != "signatory_title"}
    assert refusal(ask("POST", f"{path}/accept", as_owner, unsigned))[:2] == (422, "validation_error")


def test_a_withdrawn_acceptance_gates_exports_until_the_next(
    ask: Ask, url: str, app: App, path: str, as_owner: str
) -> None:
    signed = signature(ask, path, as_owner)
    ask("POST", f"{path}/accept", as_owner, signed)
    first = data(ask("POST", f"{path}/withdraw", as_owner, {"reason": "Moving on"}))
    assert (first["state"], first["exports_gated"]) == ("withdrawn", 1)
    assert first["withdrawn_at"] is not None
    assert data(ask("POST", f"{path}/withdraw", as_owner, {})) == first
    with db.transaction(url) as session:
        assert dpa.standing(session, app.id).is_gated(db.now())
        assert session.scalars(sa.select(DpaAcceptance)).one().withdraw_reason == "Moving on"
    again = data(ask("POST", f"{path}/accept", as_owner, signed))
    assert (again["state"], again["withdrawn_at"]) == ("accepted", None)


def test_there_is_nothing_to_withdraw_before_an_acceptance(
    ask: Ask, url: str, app: App, path: str, as_owner: str
) -> None:
    answer = data(ask("POST", f"{path}/withdraw", as_owner, {}))
    assert (answer["state"], answer["withdrawn_at"]) == ("not_accepted", None)
    with db.transaction(url) as session:
        assert dpa.standing(session, app.id).is_gated(db.now())


def test_a_newer_text_leaves_thirty_days_to_sign_it(
    ask: Ask, url: str, w: str, app: App, path: str, as_owner: str, owner: User
) -> None:
    with db.transaction(url) as session:
        session.add(
            DpaAcceptance(
                app_id=app.id, version="2025-01-01", text_hash="0" * 64, signatory_name="O", signatory_title="D",
                accepted_by_kind="session", accepted_by_id=owner.id,
            )
        )  # fmt: skip
    (listed,) = data(ask("GET", f"{w}/oauth-apps", as_owner))
    assert (listed["dpa"]["state"], listed["dpa"]["version"]) == ("outdated", "2025-01-01")
    assert listed["dpa"]["current_version"] == dpa.VERSION
    with db.transaction(url) as session:
        standing = dpa.standing(session, app.id)
    over = dpa.PUBLISHED + timedelta(days=30)
    assert [standing.is_gated(over - timedelta(seconds=1)), standing.is_gated(over)] == [False, True]
    assert data(ask("POST", f"{path}/accept", as_owner, signature(ask, path, as_owner)))["state"] == "accepted"


def test_agents_sign_with_the_grant_and_only_for_admins(
    ask: Ask, url: str, profile: Profile, path: str, as_owner: str, owner: User
) -> None:
    signed = signature(ask, path, as_owner)
    viewer = people.user(url)
    people.member(url, viewer, profile.workspace_id, Role.VIEWER)
    assert refusal(ask("GET", path, people.session_of(url, viewer))) == (403, "forbidden", "role_required")
    reader, writer = people.token_of(url, owner), people.token_of(url, owner, grants=["mcp:write"])
    assert refusal(ask("POST", f"{path}/accept", reader, signed)) == (403, "insufficient_scope", None)
    assert data(ask("POST", f"{path}/accept", writer, signed))["accepted_by"]["kind"] == "user_token"
