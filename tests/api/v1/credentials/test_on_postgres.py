"""One person's whole way through their credentials, on SQLite and on Postgres."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from api import db
from api.app import create_app
from api.models import ApiKey, CredentialUse, User
from api.roles import Role
from tests.api.conftest import Caller
from tests.api.v1.credentials.conftest import data, refusal
from tests.factories import accounts, notes, people
from touchledger.settings import Settings

ADA = {"email": "ada@example.com", "password": "a long walk by the sea"}


@pytest.fixture
def deployment(database_url: str, home: Path) -> Settings:
    return Settings(home=home, database_url=SecretStr(database_url), smtp_host="127.0.0.1")


def test_from_sign_up_to_a_revoked_key(deployment: Settings, database_url: str) -> None:
    client = create_app(deployment, more=[notes.bp]).test_client()
    anonymous, profile = Caller(client, None), accounts.profile(database_url)
    made = data(anonymous.post("/auth/sign-up", json=ADA), 201)
    assert refusal(anonymous.post("/auth/sign-up", json=ADA)) == (409, "invalid_state", "sign_up_refused")
    with db.transaction(database_url) as session:
        user = session.get_one(User, made["user_id"])
    people.member(database_url, user, profile.workspace_id, Role.OWNER)
    here = Caller(client, data(anonymous.post("/auth/sign-in", json=ADA), 201)["token"])
    assert len(data(here.get("/me/sessions"))) == 2
    assert data(anonymous.post("/auth/password-reset", json={"email": ADA["email"]}), 202) == {}
    data(here.post("/me/mcp-tokens", json={}), 201)
    path = f"/workspaces/{profile.workspace_id}/api-keys"
    key = data(here.post(path, json={"profile_id": profile.id, "name": "Server", "expires_in_days": 9}), 201)
    new = data(here.post(f"{path}/{key['id']}/rotate"), 201)
    assert [row["status"] for row in data(here.get(path))] == ["active", "expiring"]
    for status in ("active", "expiring"):
        assert [row["status"] for row in data(here.get(f"{path}?status={status}"))] == [status]
    assert Caller(client, new["key"]).get("/notes").status_code == 200
    assert Caller(client, new["key"]).get("/notes?limt=1").status_code == 400
    usage = data(here.get(f"/workspaces/{profile.workspace_id}/api-usage?key_id={new['id']}"))["keys"][0]
    assert (usage["requests"], usage["units"], usage["refused_4xx"]) == (2, 2, 1)
    data(here.post(f"{path}/{new['id']}/revoke"))
    assert Caller(client, new["key"]).get("/notes").status_code == 401


def test_of_two_rotations_at_once_one_happens(deployment: Settings, database_url: str) -> None:
    app, profile = create_app(deployment), accounts.profile(database_url)
    ada = people.user(database_url)
    people.member(database_url, ada, profile.workspace_id)
    here = people.session_of(database_url, ada)
    accounts.secret(database_url, profile)
    with db.transaction(database_url) as session:
        key_id = session.scalars(sa.select(ApiKey.id)).one()
    path, together = f"/workspaces/{profile.workspace_id}/api-keys/{key_id}/rotate", threading.Barrier(2)

    def rotate(_: int) -> int:
        together.wait()
        return Caller(app.test_client(), here).post(path).status_code

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(rotate, range(2))) == [201, 409]
    with db.transaction(database_url) as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(ApiKey)) == 2


def test_requests_at_once_are_all_counted(deployment: Settings, database_url: str) -> None:
    app, profile = create_app(deployment, more=[notes.bp]), accounts.profile(database_url)
    secret = accounts.secret(database_url, profile)

    def ask(number: int) -> int:
        return Caller(app.test_client(), secret).get(f"/notes?{'limt' if number % 2 else 'limit'}=1").status_code

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(ask, range(20))) == [200] * 10 + [400] * 10
    with db.transaction(database_url) as session:
        kept = session.scalars(sa.select(CredentialUse)).one()
    assert (kept.requests, kept.units, kept.refused_4xx) == (20, 20, 10)
