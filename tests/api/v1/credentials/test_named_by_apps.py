"""An app that names an address locks its owner out of nothing, and lets nobody in who did not prove it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from pydantic import SecretStr

from api import db
from api.models import Membership, OutgoingMail, User
from tests.api.conftest import Caller
from tests.api.v1.credentials.conftest import data, refusal
from tests.factories import accounts, people
from tests.factories.deployments import application
from touchledger.settings import Settings

ADA = {"email": "ada@example.com", "password": "a long walk by the sea", "first_name": "Ada"}
RESET = {"email": ADA["email"]}


@pytest.fixture
def url(database_url: str) -> str:
    return database_url


@pytest.fixture
def client(home: Path, url: str) -> FlaskClient:
    return application(Settings(home=home, database_url=SecretStr(url), smtp_host="127.0.0.1")).test_client()


def by_app(client: FlaskClient, header: str) -> str:
    """The workspace that an app makes for Ada, under a name of the app's."""
    body = {"name": "Dealer", "user": {**RESET, "first_name": "Marta"}}
    answer = client.post("/api/v1/workspaces", headers={"Authorization": header}, json=body)
    return str(data(answer, 201)["workspace_id"])


def mailed(url: str) -> list[str]:
    """The codes of all letters, the newest last."""
    with db.transaction(url) as session:
        texts = session.scalars(sa.select(OutgoingMail.text).order_by(OutgoingMail.id)).all()
    return [found for text in texts for found in re.findall(r"^tl_rst_[0-9A-Za-z]{38}$", text or "", re.MULTILINE)]


def seen(caller: Caller) -> list[Any]:
    return [row["name"] for row in data(caller.get("/workspaces"))]


def test_whom_an_app_named_signs_up_and_comes_in_once_the_address_is_proved(
    client: FlaskClient, anonymous: Caller, url: str
) -> None:
    others = accounts.profile(url)
    people.member(url, people.user(url), others.workspace_id)
    app = people.app(url)
    workspace = by_app(client, app.header)
    data(anonymous.post("/auth/password-reset", json=RESET), 202)
    assert mailed(url) == []
    ada = Caller(client, data(anonymous.post("/auth/sign-up", json=ADA), 201)["session"]["token"])
    assert refusal(anonymous.post("/auth/sign-up", json=ADA)) == (409, "invalid_state", "sign_up_refused")
    # whoever types an address learns nothing of what apps say of it, and opens nothing of theirs
    me = data(ada.get("/me"))
    assert (me["first_name"], me["last_name"], me["memberships"], seen(ada)) == ("Ada", None, [], [])
    assert refusal(ada.get(f"/workspaces/{workspace}/profiles")) == (404, "not_found", None)
    (code,) = mailed(url)
    data(anonymous.post("/auth/verify-email", json={"token": code}))
    assert seen(ada) == ["Dealer"]
    assert ada.get(f"/workspaces/{workspace}/profiles").status_code == 200


def test_who_lost_an_unproven_account_to_an_app_signs_up_again(
    client: FlaskClient, anonymous: Caller, url: str
) -> None:
    for _ in range(2):
        ada = Caller(client, data(anonymous.post("/auth/sign-up", json=ADA), 201)["session"]["token"])
        by_app(client, people.app(url).header)
        assert ada.get("/me").status_code == 401
    data(anonymous.post("/auth/sign-up", json=ADA), 201)


def test_no_app_takes_away_an_account_of_somebody_with_a_workspace(
    client: FlaskClient, anonymous: Caller, url: str
) -> None:
    ada = Caller(client, data(anonymous.post("/auth/sign-up", json=ADA), 201)["session"]["token"])
    data(ada.post("/workspaces", json={"name": "Own"}), 201)
    app = people.app(url)
    by_app(client, app.header)
    by_app(client, app.header)
    assert (seen(ada), data(ada.get("/me"))["first_name"]) == (["Own"], "Ada")
    data(anonymous.post("/auth/sign-in", json={name: ADA[name] for name in ("email", "password")}), 201)
    # who reads its mail has the account, and with it what the apps gave
    data(anonymous.post("/auth/password-reset", json=RESET), 202)
    new = {"token": mailed(url)[-1], "new_password": "another long password"}
    data(anonymous.post("/auth/password-reset/confirm", json=new))
    owner = data(anonymous.post("/auth/sign-in", json={**RESET, "password": new["new_password"]}), 201)
    assert seen(Caller(client, owner["token"])) == ["Dealer", "Dealer", "Own"]
    assert ada.get("/me").status_code == 401


def test_an_app_that_names_an_account_keeps_no_reset_from_it(client: FlaskClient, anonymous: Caller, url: str) -> None:
    data(anonymous.post("/auth/sign-up", json=ADA), 201)
    data(anonymous.post("/auth/verify-email", json={"token": mailed(url)[-1]}))
    by_app(client, people.app(url).header)
    data(anonymous.post("/auth/password-reset", json=RESET), 202)
    assert len(mailed(url)) == 2
    # who has come in is one of its people, whom the service sends no mail
    with db.transaction(url) as session:
        session.execute(sa.update(Membership).values(last_seen_at=db.now()))
    data(anonymous.post("/auth/password-reset", json=RESET), 202)
    assert len(mailed(url)) == 2


def test_an_address_of_a_workspace_that_no_app_made_is_not_taken_by_signing_up(anonymous: Caller, url: str) -> None:
    # older versions took passwords away from people who had a workspace of their own
    known = people.user(url, email=ADA["email"], verified=False)
    caller = Caller(anonymous.client, people.session_of(url, known))
    data(caller.post("/workspaces", json={"name": "Own"}), 201)
    assert refusal(anonymous.post("/auth/sign-up", json=ADA)) == (409, "invalid_state", "sign_up_refused")
    with db.transaction(url) as session:
        assert session.scalars(sa.select(User.password_hash)).all() == [None]
