"""POST /workspaces/{workspaceId}/customer-erasures: an admin erases a person from one profile or from all."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api import db
from api.models import AuditEntry, Erasure, IngestedRecord, Profile
from api.roles import Role
from api.v1.events.ingest import accept
from tests.api.conftest import Caller
from tests.factories import accounts, people
from touchledger.settings import Settings

EMAIL = "ann@example.com"
SELECTOR = {"selector": {"email": "Ann@Example.com "}}


@pytest.fixture
def sibling(settings: Settings, profile: Profile) -> Profile:
    with db.transaction(settings.operational_url) as session:
        made = Profile(workspace_id=profile.workspace_id, name="Second", timezone="UTC", reporting_currency="USD")
        session.add(made)
    return made


@pytest.fixture
def admin(client: FlaskClient, settings: Settings, profile: Profile) -> Caller:
    return as_member(client, settings, profile.workspace_id, Role.ADMIN)


def as_member(client: FlaskClient, settings: Settings, workspace_id: str, role: Role) -> Caller:
    user = people.user(settings.operational_url)
    people.member(settings.operational_url, user, workspace_id, role)
    return Caller(client, people.session_of(settings.operational_url, user))


def visited(settings: Settings, profile: Profile, email: str = EMAIL) -> None:
    record = {
        "touch_key": f"t{len(email)}-{email[:3]}",
        "occurred_at": "2026-03-01T09:00:00Z",
        "channel": "web",
        "origin": "web",
    }
    with db.transaction(settings.operational_url) as session:
        accept(session, profile_id=profile.id, dataset="touches", records=[{**record, "email": email}])


def erase(caller: Caller, workspace_id: str, **body: Any) -> TestResponse:
    return caller.post(f"/workspaces/{workspace_id}/customer-erasures", json=body)


def kept(settings: Settings) -> str:
    with db.transaction(settings.operational_url) as session:
        return str(session.scalars(sa.select(IngestedRecord.record)).all())


def test_a_person_goes_from_every_profile_that_knows_them_and_no_other_person_does(
    admin: Caller, settings: Settings, profile: Profile, sibling: Profile
) -> None:
    foreign = accounts.profile(settings.operational_url, name="Foreign")
    for one in (profile, sibling, foreign):
        visited(settings, one)
    visited(settings, sibling, "bob@example.com")
    answer = erase(admin, profile.workspace_id, **SELECTOR)
    assert answer.status_code == 202
    told = answer.get_json()["data"]["erasures"]
    assert {one["profile_id"] for one in told} == {profile.id, sibling.id}
    assert {one["counts"]["events_redacted"] for one in told} == {1}
    assert kept(settings).count(EMAIL) == 1, "the other workspace's customer stays"
    assert "bob@example.com" in kept(settings)
    with db.transaction(settings.operational_url) as session:
        trail = session.execute(sa.select(AuditEntry.action, AuditEntry.profile_id)).all()
    assert {tuple(row) for row in trail} == {("customer.erased", profile.id), ("customer.erased", sibling.id)}


def test_one_profile_may_be_named_and_must_be_one_of_the_workspace(
    admin: Caller, settings: Settings, profile: Profile, sibling: Profile
) -> None:
    foreign = accounts.profile(settings.operational_url, name="Foreign")
    visited(settings, profile)
    visited(settings, sibling)
    told = erase(admin, profile.workspace_id, **SELECTOR, profile_id=sibling.id).get_json()["data"]["erasures"]
    assert [one["profile_id"] for one in told] == [sibling.id]
    assert erase(admin, profile.workspace_id, **SELECTOR, profile_id=foreign.id).status_code == 404
    again = erase(admin, profile.workspace_id, **SELECTOR, profile_id=sibling.id).get_json()["error"]
    assert again["code"] == "customer_not_found"


def test_a_profile_of_the_query_is_the_only_one_too_and_is_not_another_than_the_bodys(
    admin: Caller, settings: Settings, profile: Profile, sibling: Profile
) -> None:
    for one in (profile, sibling):
        visited(settings, one)
    path = f"/workspaces/{profile.workspace_id}/customer-erasures?profile_id={sibling.id}"
    refused = admin.post(path, json={**SELECTOR, "profile_id": profile.id})
    assert (refused.status_code, refused.get_json()["error"]["code"]) == (400, "invalid_parameter")
    # nothing can be undone here: it erased the person from every profile of the workspace
    told = admin.post(path, json=SELECTOR).get_json()["data"]["erasures"]
    assert [one["profile_id"] for one in told] == [sibling.id]
    assert kept(settings).count(EMAIL) == 1


def test_names_that_mean_a_person_of_one_profile_need_the_profile(admin: Caller, profile: Profile) -> None:
    for selector in ({"external_ref": "crm-1"}, {"customer_key": "ck_x"}):
        error = erase(admin, profile.workspace_id, selector=selector).get_json()["error"]
        assert (error["code"], error["message"].partition(":")[0]) == ("validation_error", "profile_id")
    error = erase(admin, profile.workspace_id, **SELECTOR).get_json()["error"]
    assert error["code"] == "customer_not_found"


def test_an_editor_may_not_and_changes_nothing(client: FlaskClient, settings: Settings, profile: Profile) -> None:
    visited(settings, profile)
    error = erase(as_member(client, settings, profile.workspace_id, Role.EDITOR), profile.workspace_id, **SELECTOR)
    assert error.get_json()["error"]["reason"] == "role_required"
    assert EMAIL in kept(settings)


def test_an_admin_follows_the_receipt_and_an_editor_does_not(
    client: FlaskClient, admin: Caller, settings: Settings, profile: Profile
) -> None:
    visited(settings, profile)
    made = erase(admin, profile.workspace_id, **SELECTOR).get_json()["data"]["erasures"][0]
    path = f"/customers/erasures/{made['erasure_id']}?profile_id={profile.id}"
    assert admin.get(path).get_json()["data"]["status"] == "received"
    with db.transaction(settings.operational_url) as session:
        session.execute(sa.update(Erasure).values(status="completed"))
    assert admin.get(path).get_json()["data"]["status"] == "completed"
    editor = as_member(client, settings, profile.workspace_id, Role.EDITOR)
    assert editor.get(path).get_json()["error"]["reason"] == "role_required"
