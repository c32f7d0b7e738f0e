"""What agents may do in a workspace, and the record of what they changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
import time_machine
from flask.testing import FlaskClient

from api import db, writebacks
from api.auth import Kind, Principal
from api.models import AuditEntry, Profile, User, UserToken, Workspace, Writeback
from api.reach import Reach
from api.roles import Role
from tests.api.conftest import Caller
from tests.api.v1.credentials.conftest import data, refusal
from tests.factories import accounts, people

People = Callable[..., tuple[User, Caller]]
PAUSED = {"operation": "campaign.pause", "request": {"budget_minor": 100}, "dry_run": False, "request_id": "req_1"}
TARGET = {"kind": "campaign", "platform_id": "c1", "name": "Spring"}


@pytest.fixture
def settings_path(profile: Profile) -> str:
    return f"/workspaces/{profile.workspace_id}/mcp-settings"


@pytest.fixture
def path(profile: Profile) -> str:
    return f"/workspaces/{profile.workspace_id}/mcp-writeback-audits"


def agent_of(url: str, user: User, profile: Profile) -> Principal:
    """The principal of a new user token that asks about a profile."""
    people.token_of(url, user, grants=["mcp:write"])
    with db.transaction(url) as session:
        token = session.scalars(sa.select(UserToken).order_by(UserToken.id.desc()).limit(1)).one()
    return Principal(Kind.USER_TOKEN, token.id, "", frozenset(), user.id, reach=Reach(profile=profile))


def asked(url: str, by: Principal, outcome: str = "done", **more: Any) -> Writeback:
    """What an agent asked for, and how it ended."""
    with db.transaction(url) as session:
        kept = writebacks.begin(session, by=by, target=TARGET, **{**PAUSED, **more})
        assert kept is not None
        writebacks.settle(session, kept, outcome=outcome, error_code=None if outcome == "done" else "provider_error")
    return kept


def let_agents_write(url: str, profile: Profile) -> None:
    with db.transaction(url) as session:
        session.get_one(Workspace, profile.workspace_id).mcp_writeback_enabled = True


def test_agents_begin_masked_and_without_writing(person: People, settings_path: str) -> None:
    assert data(person(Role.VIEWER)[1].get(settings_path)) == {
        "pii_mode": "masked_default",
        "mcp_writeback_enabled": False,
        "updated_at": None,
        "updated_by": None,
    }


def test_an_admin_changes_one_or_both(person: People, settings_path: str, url: str) -> None:
    admin, here = person(Role.ADMIN)
    changed = data(here("PUT", settings_path, json={"mcp_writeback_enabled": True}))
    assert (changed["pii_mode"], changed["mcp_writeback_enabled"]) == ("masked_default", True)
    assert changed["updated_by"] == {"kind": "session", "id": admin.id, "display": "Ada"}
    both = {"mcp_writeback_enabled": False, "pii_mode": "full_default"}
    assert data(here("PUT", settings_path, json=both)).items() >= both.items()
    assert data(here.get(settings_path)).items() >= both.items()
    with db.transaction(url) as session:
        last = session.scalars(sa.select(AuditEntry).order_by(AuditEntry.at)).all()[-1]
    assert (last.action, last.category, last.outcome) == ("mcp_settings.changed", "privacy", "done")
    assert last.details["before"] == {"mcp_writeback_enabled": True, "pii_mode": "masked_default"}
    assert last.details["after"] == both
    for wrong in ({}, {"pii_mode": "full"}, {"mcp_writeback_enabled": "true"}, {"other": 1}):
        assert refusal(here("PUT", settings_path, json=wrong)) == (422, "validation_error", None)


def test_a_healthcare_agency_stays_masked(owner: Caller, settings_path: str, profile: Profile, url: str) -> None:
    with db.transaction(url) as session:
        session.get_one(Workspace, profile.workspace_id).is_healthcare_agency = True
    full = owner("PUT", settings_path, json={"pii_mode": "full_default", "mcp_writeback_enabled": True})
    assert refusal(full) == (409, "invalid_state", "healthcare_workspace")
    assert data(owner.get(settings_path))["mcp_writeback_enabled"] is False
    with db.transaction(url) as session:
        assert session.scalars(sa.select(AuditEntry.outcome)).all() == ["invalid_state"]
    assert data(owner("PUT", settings_path, json={"mcp_writeback_enabled": True}))["mcp_writeback_enabled"] is True


def test_tokens_read_the_settings_and_never_write_them(
    person: People, client: FlaskClient, caller: Caller, settings_path: str, url: str
) -> None:
    body = {"mcp_writeback_enabled": True}
    token = people.token_of(url, person()[0], grants=["mcp:read", "mcp:write"])
    agent = Caller(client, token)
    assert agent.get(settings_path).status_code == 200
    assert refusal(agent("PUT", settings_path, json=body)) == (403, "insufficient_scope", None)
    assert refusal(caller("PUT", settings_path, json=body)) == (403, "forbidden", "api_key_not_allowed")
    assert refusal(person(Role.EDITOR)[1]("PUT", settings_path, json=body)) == (403, "forbidden", "role_required")
    assert refusal(person(Role.GUEST)[1].get(settings_path)) == (403, "forbidden", "role_required")


def test_only_a_workspace_that_lets_them_has_agents_that_write(url: str, profile: Profile) -> None:
    by = agent_of(url, people.user(url), profile)
    with pytest.raises(Exception, match="forbidden") as refused, db.transaction(url) as session:
        writebacks.begin(session, by=by, target=TARGET, **PAUSED)
    assert getattr(refused.value, "reason", None) == "writeback_disabled"
    let_agents_write(url, profile)
    with db.transaction(url) as session:
        writebacks.begin(session, by=by, target=TARGET, **PAUSED)
    with db.transaction(url) as session:
        assert session.scalars(sa.select(Writeback.outcome)).all() == ["pending"]


def test_a_person_or_a_key_writes_without_being_an_agent(url: str, profile: Profile) -> None:
    key = Principal(Kind.API_KEY, "k", "", frozenset(), own_profile=profile, reach=Reach(profile=profile))
    with db.transaction(url) as session:
        assert writebacks.begin(session, by=key, target=TARGET, **PAUSED) is None
        assert session.scalars(sa.select(Writeback)).all() == []


def test_what_agents_asked_for_is_listed(owner: Caller, path: str, profile: Profile, url: str) -> None:
    let_agents_write(url, profile)
    ada = people.user(url)
    by = agent_of(url, ada, profile)
    done, failed = asked(url, by, idempotency_key="k"), asked(url, by, "failed")
    rows = data(owner.get(path))
    assert [row["audit_id"] for row in rows] == [failed.id, done.id]
    assert rows[1] == {
        "audit_id": done.id,
        "at": rows[1]["at"],
        "user_id": ada.id,
        "token_prefix": done.token_prefix,
        "profile_id": profile.id,
        "operation": "campaign.pause",
        "target": TARGET,
        "dry_run": False,
        "request": {"budget_minor": 100},
        "outcome": "done",
        "error_code": None,
        "idempotency_key": "k",
        "request_id": "req_1",
    }
    assert (rows[0]["outcome"], rows[0]["error_code"]) == ("failed", "provider_error")
    assert [row["audit_id"] for row in data(owner.get(f"{path}?outcome=failed"))] == [failed.id]
    assert refusal(owner.get(f"{path}?outcome=lost")) == (400, "invalid_parameter", None)


def test_the_list_is_narrowed_to_days_and_profiles_and_paged(
    owner: Caller, path: str, profile: Profile, url: str
) -> None:
    let_agents_write(url, profile)
    with db.transaction(url) as session:
        sibling = Profile(workspace_id=profile.workspace_id, name="B", timezone="UTC", reporting_currency="USD")
        session.add(sibling)
    ada = people.user(url)
    by, beside = agent_of(url, ada, profile), agent_of(url, ada, sibling)
    kept = []
    for at in ("2026-03-01T23:59:59Z", "2026-03-02T00:00:00Z", "2026-03-02T23:59:59Z", "2026-03-03T00:00:00Z"):
        with time_machine.travel(at, tick=False):
            kept.append(asked(url, by).id)
    other = asked(url, beside).id
    day = owner.get(f"{path}?date_from=2026-03-02&date_to=2026-03-02").get_json()
    assert [row["audit_id"] for row in day["data"]] == [kept[2], kept[1]]
    assert day["meta"]["date_to"] == "2026-03-02"
    assert data(owner.get(f"{path}?date_from=9999-12-31&date_to=9999-12-31")) == []
    assert [row["audit_id"] for row in data(owner.get(f"{path}?profile_id={sibling.id}"))] == [other]
    first = owner.get(f"{path}?limit=3").get_json()
    rest = owner.get(f"{path}?limit=3&cursor={first['pagination']['cursor']}").get_json()
    assert [row["audit_id"] for row in first["data"] + rest["data"]] == [other, *kept[::-1]]
    mixed = f"{path}?limit=3&outcome=done&cursor={first['pagination']['cursor']}"
    assert refusal(owner.get(mixed)) == (400, "invalid_parameter", None)


def test_admins_read_the_record_of_their_workspace_only(
    person: People, client: FlaskClient, path: str, url: str
) -> None:
    other = accounts.profile(url, name="Other")
    let_agents_write(url, other)
    asked(url, agent_of(url, people.user(url), other))
    assert data(person(Role.ADMIN)[1].get(path)) == []
    assert refusal(person(Role.EDITOR)[1].get(path)) == (403, "forbidden", "role_required")
    token = people.token_of(url, person()[0])
    assert data(Caller(client, token).get(path)) == []
    foreign = f"/workspaces/{other.workspace_id}/mcp-writeback-audits"
    assert refusal(person()[1].get(foreign)) == (404, "not_found", None)
