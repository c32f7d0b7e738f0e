"""POST and DELETE /profiles/demo, against the bundled sandbox."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from api import db
from api.http import Application
from api.models import AuditEntry, Connection, ConnectionSync, Import, Profile
from api.roles import Role
from orchestration.inbox import scan_inbox
from orchestration.lake import Lake
from tests.api.v1.profiles.conftest import Ask, refusal
from tests.factories import accounts, people, served
from tests.fixtures.sandbox import RunningSandbox
from touchledger.settings import Settings

# as tests/factories/served.py says it of each of its files
BUILT_AT = datetime(2026, 11, 16, tzinfo=UTC)


@pytest.fixture
def beside(settings: Settings, sandbox: RunningSandbox) -> Settings:
    """Settings of a deployment beside which the sandbox runs."""
    return settings.model_copy(update={"sandbox_port": urlsplit(sandbox.url).port})


@pytest.fixture
def client(assembled: Application, beside: Settings, monkeypatch: pytest.MonkeyPatch) -> FlaskClient:
    monkeypatch.setitem(assembled.config, "SETTINGS", beside)
    return assembled.test_client()


@pytest.fixture
def admin_of(url: str) -> Callable[[Profile], str]:
    """The session of a new admin of the profile's workspace."""

    def make(profile: Profile) -> str:
        made = people.user(url)
        people.member(url, made, profile.workspace_id, Role.ADMIN)
        return people.session_of(url, made)

    return make


def test_the_demo_has_its_accounts_and_all_that_its_shop_sends(
    ask: Ask, url: str, profile: Profile, beside: Settings, admin_of: Callable[[Profile], str]
) -> None:
    token = admin_of(profile)
    answer = ask("POST", "/profiles/demo", token)
    assert answer.status_code == 201, answer.text
    data = answer.get_json()["data"]
    assert (data["created"], data["seeding"], data["profile"]["is_demo"]) == (True, "queued", True)
    demo_id = data["profile"]["profile_id"]
    assert answer.get_json()["meta"] == {"profile_id": demo_id}
    again = ask("POST", "/profiles/demo", token)
    assert again.get_json()["meta"] == {"profile_id": demo_id}
    assert (again.status_code, again.get_json()["data"]) == (200, {**data, "created": False})
    with db.transaction(url) as session:
        connections = session.scalars(sa.select(Connection)).all()
        assert {one.base_url for one in connections} == {
            f"{beside.sandbox_url}/{name}" for name in ("meta", "shopify", "stripe")
        }
        assert {one.profile_id for one in connections} == {demo_id}
    imports = scan_inbox(beside, Lake(beside.lake))
    assert {one.dataset for one in imports} == {"touches", "ad_referrals", "conversions", "identities", "people"}
    assert [one.errors for one in imports if one.rows_quarantined] == []
    assert all(one.rows_loaded > 0 for one in imports)
    facts = {"profile_id": demo_id, "time_zone": "UTC", "currency": "USD", "currency_digits": 2}
    served.publish(beside.published, {"profiles": [{"profile_key": 1, **facts, "settings_version": "v"}]})
    # a build of the files alone, which came before any account was asked
    assert ask("POST", "/profiles/demo", token).get_json()["data"]["seeding"] == "queued"


def test_the_demo_is_seeded_once_a_snapshot_is_newer_than_the_first_pull_of_each_account(
    ask: Ask, url: str, profile: Profile, beside: Settings, admin_of: Callable[[Profile], str]
) -> None:
    token = admin_of(profile)
    demo_id = ask("POST", "/profiles/demo", token).get_json()["data"]["profile"]["profile_id"]
    scan_inbox(beside, Lake(beside.lake))
    facts = {"profile_id": demo_id, "time_zone": "UTC", "currency": "USD", "currency_digits": 2}
    served.publish(beside.published, {"profiles": [{"profile_key": 1, **facts, "settings_version": "v"}]})

    def seeding() -> str:
        return str(ask("POST", "/profiles/demo", token).get_json()["data"]["seeding"])

    with db.transaction(url) as session:
        syncs = session.scalars(sa.select(ConnectionSync)).all()
        assert {(one.status, one.profile_id) for one in syncs} == {("queued", demo_id)}
        kinds = session.scalars(
            sa.select(Connection.kind).join(ConnectionSync, ConnectionSync.connection_id == Connection.id)
        )
        assert sorted(kinds) == ["ad_platform", "ad_platform", "payments", "store"]
        for one in syncs[1:]:
            one.status, one.finished_at = "done", BUILT_AT - timedelta(minutes=1)
    assert seeding() == "queued"
    with db.transaction(url) as session:
        last = session.get_one(ConnectionSync, syncs[0].id)
        last.status, last.finished_at = "done", BUILT_AT + timedelta(minutes=1)
    assert seeding() == "queued"
    with db.transaction(url) as session:
        session.get_one(ConnectionSync, last.id).finished_at = BUILT_AT - timedelta(minutes=1)
        # later pulls change nothing about it
        later = {"status": "done", "finished_at": BUILT_AT + timedelta(hours=1)}
        session.add(ConnectionSync(connection_id=last.connection_id, profile_id=demo_id, **later))
    assert seeding() == "done"


def test_two_workspaces_get_the_same_demo(
    ask: Ask, profile: Profile, beside: Settings, url: str, admin_of: Callable[[Profile], str]
) -> None:
    trees = []
    for owner in (profile, accounts.profile(url)):
        made = ask("POST", "/profiles/demo", admin_of(owner)).get_json()["data"]["profile"]
        folder = beside.inbox / made["profile_id"]
        trees.append({str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.*")})
    assert trees[0] == trees[1]
    assert len(trees[0]) == 6


def test_a_deleted_demo_is_gone_and_may_be_made_again(
    ask: Ask, url: str, profile: Profile, beside: Settings, admin_of: Callable[[Profile], str]
) -> None:
    token = admin_of(profile)
    assert refusal(ask("DELETE", "/profiles/demo", token)) == (404, "not_found", None)
    made = ask("POST", "/profiles/demo", token).get_json()["data"]["profile"]
    loaded = sum(one.rows_loaded for one in scan_inbox(beside, Lake(beside.lake)))
    answer = ask("DELETE", "/profiles/demo", token).get_json()
    assert answer["meta"] == {"profile_id": made["profile_id"]}
    gone = answer["data"]
    assert (gone["profile_id"], gone["archived"]) == (made["profile_id"], True)
    # six imports and the first sync of four accounts
    assert gone["rows_removed"] == loaded + 6 + 4
    assert refusal(ask("DELETE", "/profiles/demo", token)) == (404, "not_found", None)
    assert ask("GET", f"/profiles/{made['profile_id']}", token).status_code == 404
    with db.transaction(url) as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Import)) == 0
        assert set(session.scalars(sa.select(Connection.status))) == {"disconnected"}
        actions = session.scalars(sa.select(AuditEntry.action).order_by(AuditEntry.id)).all()
    assert actions == ["profile.created", "demo.deleted"]
    second = ask("POST", "/profiles/demo", token)
    assert second.status_code == 201
    assert second.get_json()["data"]["profile"]["profile_id"] != made["profile_id"]


def test_the_demo_counts_as_a_profile_and_may_share_a_name(
    ask: Ask, profile: Profile, admin_of: Callable[[Profile], str]
) -> None:
    token = admin_of(profile)
    assert ask("POST", "/profiles", token, {"name": "Demo: Alder & Finch"}).status_code == 201
    assert ask("POST", "/profiles", token, {"name": "Third"}).status_code == 201
    refused = ask("POST", "/profiles/demo", token)
    assert refusal(refused) == (403, "profile_limit_reached", None)


def test_without_a_sandbox_there_is_no_demo(
    ask: Ask,
    assembled: Application,
    beside: Settings,
    profile: Profile,
    url: str,
    admin_of: Callable[[Profile], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(assembled.config, "SETTINGS", beside.model_copy(update={"sandbox_port": 1}))
    answer = ask("POST", "/profiles/demo", admin_of(profile))
    assert refusal(answer) == (503, "service_unavailable", None)
    assert answer.headers["Retry-After"] == "60"
    with db.transaction(url) as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Profile)) == 1


def test_admins_alone_make_and_delete_the_demo(ask: Ask, url: str, profile: Profile) -> None:
    editor, admin = people.user(url), people.user(url)
    people.member(url, editor, profile.workspace_id, Role.EDITOR)
    people.member(url, admin, profile.workspace_id, Role.ADMIN)
    for method in ("POST", "DELETE"):
        refused = ask(method, "/profiles/demo", people.session_of(url, editor))
        assert refusal(refused) == (403, "forbidden", "role_required")
        reader = ask(method, "/profiles/demo", people.token_of(url, admin))
        assert refusal(reader)[1] == "insufficient_scope"
        key = ask(method, "/profiles/demo", accounts.secret(url, profile))
        assert refusal(key) == (403, "forbidden", "api_key_not_allowed")
    two = accounts.profile(url)
    people.member(url, admin, two.workspace_id, Role.ADMIN)
    token = people.session_of(url, admin)
    assert refusal(ask("POST", "/profiles/demo", token))[2] == "workspace_id_required"
    assert ask("POST", f"/profiles/demo?workspace_id={two.workspace_id}", token).status_code == 201


def test_the_document_says_which_workspace_is_meant(client: FlaskClient) -> None:
    operations = client.get("/openapi.json").get_json()["paths"]["/api/v1/profiles/demo"]
    for operation in operations.values():
        (told,) = [one for one in operation["parameters"] if one["name"] == "workspace_id"]
        assert told["description"].startswith("The workspace of the demo profile")
