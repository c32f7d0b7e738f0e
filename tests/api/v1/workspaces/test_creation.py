"""POST /workspaces: a person's own workspace, and the one an app makes for its user."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
import time_machine

from api import db
from api.models import App, AuditEntry, Handoff, Membership, Subscription, User, UserSession, UserToken, Workspace
from tests.api.v1.workspaces.conftest import Ask, data, refusal
from tests.factories import billing, people
from tests.factories.deployments import application
from tests.fixtures.sandbox import RunningSandbox
from touchledger.settings import Settings


@pytest.fixture
def ada(url: str) -> User:
    return people.user(url)


def only(url: str, model: Any) -> Any:
    with db.transaction(url) as session:
        return session.scalars(sa.select(model)).one()


def test_a_person_owns_what_they_create(ask: Ask, url: str, ada: User) -> None:
    token = people.session_of(url, ada)
    answer = ask("POST", "/workspaces", token, json={"name": " Cafe\u0301 ", "timezone": "Europe/Madrid"})
    made = data(answer, 201)
    workspace = only(url, Workspace)
    assert made == {"workspace_id": workspace.id, "name": "Caf\u00e9", "created": True, "checkout": None}
    assert answer.get_json()["meta"] == {"workspace_id": workspace.id}
    assert (workspace.timezone, workspace.plan, workspace.reporting_currency) == ("Europe/Madrid", "starter", "USD")
    assert (workspace.acquisition_source, workspace.mcp_writeback_enabled) == ("direct", False)
    place = only(url, Membership)
    assert (place.user_id, place.workspace_id, place.role) == (ada.id, workspace.id, "owner")
    entry = only(url, AuditEntry)
    assert (entry.action, entry.workspace_id, entry.actor_id) == ("workspace.created", workspace.id, ada.id)


def test_an_agent_may_write_back_where_it_made_the_workspace(ask: Ask, url: str, ada: User) -> None:
    token = people.token_of(url, ada, grants=["mcp:write"])
    data(ask("POST", "/workspaces", token, json={"name": "A", "currency": "EUR"}), 201)
    workspace = only(url, Workspace)
    assert (workspace.acquisition_source, workspace.mcp_writeback_enabled) == ("agent", True)
    assert workspace.reporting_currency == "EUR"
    reader = people.token_of(url, ada)
    assert refusal(ask("POST", "/workspaces", reader, json={"name": "B"})) == (403, "insufficient_scope", None)


def test_the_same_name_within_ten_minutes_is_the_same_workspace(ask: Ask, url: str, ada: User) -> None:
    token, other = people.session_of(url, ada), people.session_of(url, people.user(url))
    start = db.now()
    with time_machine.travel(start, tick=False) as clock:
        first = data(ask("POST", "/workspaces", token, json={"name": "Shop", "plan": "growth"}), 201)
        clock.move_to(start + timedelta(minutes=9, seconds=59))
        again = data(ask("POST", "/workspaces", token, json={"name": " Shop"}), 200)
        assert again == {"workspace_id": first["workspace_id"], "name": "Shop", "created": False, "checkout": None}
        assert data(ask("POST", "/workspaces", token, json={"name": "shop"}), 201)["created"]
        assert data(ask("POST", "/workspaces", other, json={"name": "Shop"}), 201)["created"]
        clock.move_to(start + timedelta(minutes=10))
        later = data(ask("POST", "/workspaces", token, json={"name": "Shop"}), 201)
        assert later["workspace_id"] != first["workspace_id"]


def test_an_archived_workspace_is_not_found_again(ask: Ask, url: str, ada: User) -> None:
    token = people.session_of(url, ada)
    first = data(ask("POST", "/workspaces", token, json={"name": "Shop"}), 201)
    data(ask("DELETE", f"/workspaces/{first['workspace_id']}", token))
    second = data(ask("POST", "/workspaces", token, json={"name": "Shop"}), 201)
    assert second["workspace_id"] != first["workspace_id"]


def test_a_paid_plan_is_tried_at_once_and_never_waits_for_billing(ask: Ask, url: str, ada: User) -> None:
    made = data(ask("POST", "/workspaces", people.session_of(url, ada), json={"name": "A", "plan": "agency"}), 201)
    assert only(url, Workspace).plan == "agency"
    trial = only(url, Subscription)
    assert (trial.workspace_id, trial.trial_plan) == (made["workspace_id"], "agency")
    assert trial.trial_end - trial.trial_start == timedelta(days=14)
    assert made["checkout"] is None
    assert [warning["code"] for warning in made["warnings"]] == ["checkout_unavailable"]


def test_where_plans_are_sold_the_answer_names_the_page_to_pay_on_once(
    settings: Settings, sandbox: RunningSandbox, url: str, ada: User
) -> None:
    seller = application(billing.selling(settings, sandbox)).test_client()
    headers = {"Authorization": f"Bearer {people.session_of(url, ada)}"}

    def create(**body: str) -> Any:
        return seller.post("/api/v1/workspaces", json=body, headers=headers)

    made = data(create(name="A", plan="growth"), 201)
    handoff = only(url, Handoff)
    assert "warnings" not in made
    assert (made["checkout"]["id"], made["checkout"]["url"]) == (handoff.id, handoff.url)
    assert (handoff.workspace_id, handoff.plan) == (made["workspace_id"], "growth")
    assert data(create(name="A", plan="growth"), 200)["checkout"] is None
    assert data(create(name="B"), 201)["checkout"] is None
    sandbox.plan({"route": "checkout/sessions$", "kind": "status", "status": 500, "times": None})
    refused = data(create(name="C", plan="growth"), 201)
    assert (refused["checkout"], refused["warnings"][0]["code"]) == (None, "checkout_unavailable")
    assert only(url, Handoff).id == handoff.id
    seller.delete(f"/api/v1/workspaces/{made['workspace_id']}", headers=headers)
    assert only(url, Handoff).status == "canceled"


def test_each_caller_has_a_body_of_its_own(ask: Ask, url: str, ada: User) -> None:
    person, app, user = people.session_of(url, ada), people.app(url).header, {"email": "bob@example.com"}
    wrong = [
        (person, {}),
        (person, {"name": ""}),
        (person, {"name": "A", "plan": "enterprise"}),
        (person, {"name": "A", "timezone": "Nowhere"}),
        (person, {"name": "A", "currency": "XXY"}),
        (person, {"name": "A", "user": user}),
        (app, {"name": "A"}),
        (app, {"name": "A", "user": {"email": "bob"}}),
        (app, {"name": "A", "user": {**user, "role": "owner"}}),
        (app, {"name": "A", "user": user, "plan": "growth"}),
        (app, {"name": "A", "user": user, "currency": "USD"}),
    ]
    for token, body in wrong:
        assert refusal(ask("POST", "/workspaces", token, json=body)) == (422, "validation_error", None), body
    message = ask("POST", "/workspaces", person, json={"name": "A", "plan": "enterprise"}).get_json()["error"][
        "message"
    ]
    assert message.startswith("plan: ")
    with db.transaction(url) as session:
        assert session.scalars(sa.select(Workspace)).all() == []


def test_a_key_creates_no_workspace(ask: Ask, secret: str) -> None:
    assert refusal(ask("POST", "/workspaces", secret, json={"name": "A"})) == (403, "forbidden", "api_key_not_allowed")


def test_an_app_makes_a_workspace_for_a_new_person_every_time(ask: Ask, url: str) -> None:
    app = people.app(url)
    body = {"name": "Dealer", "user": {"email": "Bob@Example.com", "first_name": "Bob"}}
    answers = [ask("POST", "/workspaces", app.header, json=body) for _ in range(2)]
    first, second = (data(answer, 201) for answer in answers)
    assert first["workspace_id"] != second["workspace_id"]
    assert [first["user_id"], first["created"], first["checkout"]] == [second["user_id"], True, None]
    assert answers[0].get_json()["meta"] == {"client_id": app.app.client_id, "workspace_id": first["workspace_id"]}
    bob = only(url, User)
    assert (bob.email, bob.first_name, bob.password_hash, bob.email_verified_at) == (
        "bob@example.com",
        "Bob",
        None,
        None,
    )
    with db.transaction(url) as session:
        made = session.scalars(sa.select(Workspace)).all()
        places = session.scalars(sa.select(Membership)).all()
        entries = session.scalars(sa.select(AuditEntry)).all()
    assert {one.provisioned_by_app_id for one in made} == {app.app.id}
    assert {one.acquisition_source for one in made} == {"oauth"}
    assert {(one.user_id, one.role) for one in places} == {(bob.id, "owner")}
    assert {(one.actor_kind, one.actor_id) for one in entries} == {("app", app.app.id)}
    assert {one.workspace_id for one in entries} == {one.id for one in made}


def test_a_verified_person_keeps_their_account_and_a_squatter_loses_theirs(ask: Ask, url: str) -> None:
    app = people.app(url)
    known = people.user(url, email="known@example.com", name="Known")
    squatter = people.user(url, email="squat@example.com", verified=False, name="Mallory")
    with db.transaction(url) as session:
        for one in (known, squatter):
            session.get_one(User, one.id).password_hash = "argon"
    tokens = {}
    for one in (known, squatter):
        tokens[one.id] = [people.session_of(url, one), people.token_of(url, one)]
        body = {"name": "Dealer", "user": {"email": one.email, "first_name": "New"}}
        assert data(ask("POST", "/workspaces", app.header, json=body), 201)["user_id"] == one.id
    with db.transaction(url) as session:
        kept, lost = (session.get_one(User, one.id) for one in (known, squatter))
        assert (kept.password_hash, kept.first_name) == ("argon", "Known")
        assert (lost.password_hash, lost.first_name, lost.email_verified_at) == (None, "New", None)
        for model in (UserSession, UserToken):
            ended = session.scalars(sa.select(model.user_id).where(model.revoked_at.is_not(None))).all()
            assert ended == [squatter.id]
    assert [ask("GET", "/workspaces", token).status_code for token in tokens[squatter.id]] == [401, 401]
    assert [ask("GET", "/workspaces", token).status_code for token in tokens[known.id]] == [200, 200]


def test_a_suspended_app_makes_nothing(ask: Ask, url: str) -> None:
    app = people.app(url)
    with db.transaction(url) as session:
        session.get_one(App, app.app.id).status = "suspended"
    body = {"name": "Dealer", "user": {"email": "bob@example.com"}}
    assert refusal(ask("POST", "/workspaces", app.header, json=body)) == (403, "forbidden", "app_suspended")


def test_a_workspace_of_an_app_is_no_repeat_of_a_persons_own(ask: Ask, url: str, ada: User) -> None:
    body = {"name": "Dealer", "user": {"email": ada.email}}
    made = data(ask("POST", "/workspaces", people.app(url).header, json=body), 201)
    own = data(ask("POST", "/workspaces", people.session_of(url, ada), json={"name": "Dealer"}), 201)
    assert own["workspace_id"] != made["workspace_id"]
