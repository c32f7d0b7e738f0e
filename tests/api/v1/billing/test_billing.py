"""Buying a plan: the processor's pages, what became of them, and what the workspace then has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
import time_machine

from api import db
from api.models import AuditEntry, Handoff, HookDelivery, Profile, Subscription, Workspace
from api.roles import Role
from api.scopes import Scope
from api.subscriptions import TRIAL, begin_trial
from tests.api.v1.billing.asking import UNKNOWN, Ask, data, refusal
from tests.factories import accounts, people
from tests.factories import billing as factory
from tests.factories.deployments import application
from tests.fixtures.sandbox import RunningSandbox, served
from touchledger.settings import Settings


@contextmanager
def delivering(selling: Settings, sandbox: RunningSandbox) -> Iterator[None]:
    """The API is served, and the sandbox's processor delivers to it."""
    where = f"{sandbox.url}/__sandbox__/stripe/endpoint"
    with served(application(selling)) as url, httpx.Client(trust_env=False) as control:
        hook = {"url": f"{url}/hooks/payments/stripe", "secret": factory.WEBHOOK_SECRET}
        control.put(where, json=hook).raise_for_status()
        yield
        control.put(where, json={"url": None})


def test_a_plan_is_bought_changed_and_ended_with_the_processor(
    ask: Ask, selling: Settings, sandbox: RunningSandbox, profile: Profile
) -> None:
    url = selling.operational_url
    with db.transaction(url) as session:
        begin_trial(session, workspace=session.get_one(Workspace, profile.workspace_id), plan="growth")
    before = data(ask("subscription"))
    assert (before["plan"], before["status"], before["billing"]) == ("growth", "trialing", "none")
    assert before["trial_end"] == before["current_period_end"]
    opened = ask("checkout-session", {"plan": "growth"})
    page = data(opened)
    assert (opened.status_code, page["plan"]) == (201, "growth")
    pending = data(ask(f"/handoffs/{page['id']}", whole=True))
    assert (pending["kind"], pending["status"], pending["url"]) == ("checkout", "pending", page["url"])
    with delivering(selling, sandbox):
        assert factory.decide(page["url"]).headers["Location"].endswith(page["id"])
        done = data(ask(f"/handoffs/{page['id']}", whole=True))
        assert (done["status"], done["url"], done["result"]) == ("completed", None, {"plan": "growth"})
        assert done["completed_at"] is not None
        after = data(ask("subscription"))
        assert (after["plan"], after["status"], after["billing"]) == ("growth", "active", "card")
        assert after["current_period_end"] > after["current_period_start"]
        assert refusal(ask("checkout-session", {"plan": "growth"})) == (409, "invalid_state", "already_on_plan")
        portal = data(ask("billing-portal-session", {"return_url": "https://shop.example/plan"}))
        assert portal["url"].startswith(f"{sandbox.url}/stripe/p/session/")
        with db.transaction(url) as session:
            number = session.get_one(Subscription, profile.workspace_id).subscription_ref
        seen = []
        with httpx.Client(trust_env=False) as control:
            for deed in ("fail", "renew", "price_agency_month", "cancel", "end"):
                where = f"{sandbox.url}/__sandbox__/stripe/subscriptions/{number}"
                control.post(where, json={"do": deed}).raise_for_status()
                told = data(ask("subscription"))
                seen.append((told["plan"], told["status"], told["cancel_at_period_end"]))
    # renewal and failure fall into one second here, where what was paid has the last word
    assert seen[1:] == [
        ("growth", "active", False),
        ("agency", "active", False),
        ("agency", "active", True),
        ("starter", "canceled", False),
    ]
    with db.transaction(url) as session:
        actions = [one.action for one in session.scalars(sa.select(AuditEntry).where(AuditEntry.category == "billing"))]
    assert {"checkout.opened", "billing_portal.opened", "subscription.changed"} == set(actions)


def test_an_open_checkout_is_given_again_and_another_plan_replaces_it(
    ask: Ask, sandbox: RunningSandbox, selling: Settings, profile: Profile
) -> None:
    url, other = selling.operational_url, factory.workspace(selling.operational_url).id
    # what this workspace buys is nothing to another's pages, nor to its own of another kind
    bystanders = [("checkout", "pending", other), ("checkout", "expired", other)]
    bystanders += [("connect", "pending", profile.workspace_id)]
    with db.transaction(url) as session:
        for kind, status, whose in bystanders:
            page = Handoff(kind=kind, status=status, workspace_id=whose, plan="growth", interval="month", url="u")
            page.expires_at = db.now() + timedelta(days=1)
            session.add(page)
    first = ask("checkout-session", {"plan": "growth"})
    again = ask("checkout-session", {"plan": "growth", "interval": "month"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert data(first) == data(again)
    yearly, other = (
        ask("checkout-session", body) for body in ({"plan": "growth", "interval": "year"}, {"plan": "agency"})
    )
    told = [data(ask(f"/handoffs/{data(one)['id']}", whole=True)) for one in (first, yearly, other)]
    assert [(one["status"], one["url"] is None) for one in told] == [
        ("canceled", True),
        ("canceled", True),
        ("pending", False),
    ]
    left = httpx.get(data(first)["url"], trust_env=False)
    assert left.status_code == 200
    assert sandbox.calls("/expire") == 2
    with db.transaction(url) as session:
        found = [(one.kind, one.status, one.workspace_id) for one in session.scalars(sa.select(Handoff))]
    assert set(bystanders) <= set(found)


def test_a_replaced_checkout_stays_canceled_when_the_processor_tells_that_its_page_was_closed(
    ask: Ask, selling: Settings, sandbox: RunningSandbox
) -> None:
    with delivering(selling, sandbox):
        first = data(ask("checkout-session", {"plan": "growth"}))
        ask("checkout-session", {"plan": "agency"})
        told = data(ask(f"/handoffs/{first['id']}", whole=True))
    with db.transaction(selling.operational_url) as session:
        assert [one.kind for one in session.scalars(sa.select(HookDelivery))] == ["checkout.session.expired"]
    assert (told["status"], told["reason"]) == ("canceled", None)


def test_a_hand_off_is_expired_when_its_time_is_over(ask: Ask, selling: Settings) -> None:
    start = db.now()
    with time_machine.travel(start, tick=False) as clock:
        page = data(ask("checkout-session", {"plan": "growth"}))
        clock.move_to(start + timedelta(hours=25))
        told = data(ask(f"/handoffs/{page['id']}", whole=True))
        assert (told["status"], told["reason"], told["url"]) == ("expired", "abandoned", None)
        assert ask("checkout-session", {"plan": "growth"}).status_code == 201


def test_a_hand_off_is_seen_by_members_and_by_keys_of_its_profile_only(
    ask: Ask, selling: Settings, profile: Profile
) -> None:
    url, path = selling.operational_url, "/handoffs/{}"
    page = data(ask("checkout-session", {"plan": "growth"}))["id"]
    with db.transaction(url) as session:
        made = Handoff(
            kind="connect", workspace_id=profile.workspace_id, profile_id=profile.id, url="https://a.example"
        )
        made.expires_at = db.now() + timedelta(hours=1)
        session.add(made)
    stranger, viewer, guest = people.user(url), people.user(url), people.user(url)
    people.member(url, viewer, profile.workspace_id, Role.VIEWER)
    people.member(url, guest, profile.workspace_id, Role.GUEST)
    foreign = accounts.profile(url, name="Other")
    reading = [Scope.CONNECTIONS_READ]
    seen = {
        "viewer": (people.token_of(url, viewer), [200, 200]),
        "guest without a place on the profile": (people.session_of(url, guest), [200, 404]),
        "stranger": (people.session_of(url, stranger), [404, 404]),
        "own key": (accounts.secret(url, profile, scopes=reading), [404, 200]),
        "own key that writes": (accounts.secret(url, profile, scopes=[Scope.CONNECTIONS_WRITE]), [404, 200]),
        "own key without the scope": (accounts.secret(url, profile), [403, 403]),
        "foreign key": (accounts.secret(url, foreign, scopes=reading), [404, 404]),
    }
    for name, (token, statuses) in seen.items():
        found = [ask(path.format(one), token=token, whole=True).status_code for one in (page, made.id)]
        assert found == statuses, name
    assert refusal(ask(path.format(UNKNOWN), whole=True)) == (404, "not_found", None)
    assert refusal(ask(path.format("1"), whole=True)) == (400, "invalid_parameter", None)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ({"kind": "status", "status": 402, "code": "no"}, (502, "provider_error", "refused")),
        ({"kind": "html", "status": 200}, (502, "provider_error", "bad_response")),
        ({"kind": "status", "status": 503}, (503, "service_unavailable", None)),
    ],
)
def test_a_processor_that_says_no_or_nothing_leaves_nothing_behind(
    ask: Ask, sandbox: RunningSandbox, selling: Settings, fault: dict[str, Any], told: tuple[int, str, str | None]
) -> None:
    sandbox.plan({"route": "/sessions$", "times": None, **fault})
    answer = ask("checkout-session", {"plan": "growth"})
    assert refusal(answer) == told
    assert ("Retry-After" in answer.headers) == (told[0] == 503)
    with db.transaction(selling.operational_url) as session:
        assert session.scalars(sa.select(Handoff)).all() == []
        assert session.scalars(sa.select(AuditEntry)).all() == []


def test_a_deployment_without_a_processor_says_so(settings: Settings, owner: str, profile: Profile) -> None:
    client, headers = application(settings).test_client(), {"Authorization": f"Bearer {owner}"}
    path = f"/api/v1/workspaces/{profile.workspace_id}"
    answer = client.post(f"{path}/checkout-session", json={"plan": "growth"}, headers=headers)
    assert refusal(answer) == (503, "service_unavailable", None)
    portal = client.post(f"{path}/billing-portal-session", json={}, headers=headers)
    assert refusal(portal) == (409, "invalid_state", "no_billing_account")
    with db.transaction(settings.operational_url) as session:
        session.add(Subscription(workspace_id=profile.workspace_id, customer_ref="cus_1"))
    portal = client.post(f"{path}/billing-portal-session", json={}, headers=headers)
    assert refusal(portal) == (503, "service_unavailable", None)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"plan": "starter"},
        {"plan": "enterprise"},
        {"plan": "growth", "interval": "week"},
        {"plan": "growth", "x": 1},
    ],
)
def test_a_body_that_names_no_plan_on_sale_is_refused(ask: Ask, body: dict[str, Any]) -> None:
    assert refusal(ask("checkout-session", body))[:2] == (422, "validation_error")


@pytest.mark.parametrize("address", ["http://shop.example", "javascript:alert(1)", "https://user@shop.example", "shop"])
def test_the_portal_leads_back_to_https_only(ask: Ask, address: str) -> None:
    assert refusal(ask("billing-portal-session", {"return_url": address}))[:2] == (422, "validation_error")


def test_billing_is_for_admins_and_its_state_for_viewers(ask: Ask, selling: Settings, profile: Profile) -> None:
    url = selling.operational_url
    tokens = {}
    for role in (Role.GUEST, Role.VIEWER, Role.EDITOR, Role.ADMIN):
        person = people.user(url)
        people.member(url, person, profile.workspace_id, role)
        tokens[role] = people.session_of(url, person)
        if role is Role.ADMIN:
            reader = people.token_of(url, person)
    assert [ask("subscription", token=one).status_code for one in tokens.values()] == [403, 200, 200, 200]
    paths = {
        "checkout-session": {"plan": "growth"},
        "billing-portal-session": {},
        "shopify-plan-selection": {"plan": "growth"},
    }
    for path, body in paths.items():
        assert refusal(ask(path, body, token=tokens[Role.EDITOR])) == (403, "forbidden", "role_required")
        assert refusal(ask(path, body, token=reader))[:2] == (403, "insufficient_scope")
    assert ask("checkout-session", {"plan": "growth"}, token=tokens[Role.ADMIN]).status_code == 201


def test_allowances_and_usage_are_those_of_the_plan_now(ask: Ask, selling: Settings, profile: Profile) -> None:
    start, url = db.now(), selling.operational_url
    with time_machine.travel(start, tick=False) as clock:
        with db.transaction(url) as session:
            begin_trial(session, workspace=session.get_one(Workspace, profile.workspace_id), plan="agency")
        viewer = people.user(url)
        people.member(url, viewer, profile.workspace_id, Role.VIEWER)
        token = people.token_of(url, viewer)
        tried = data(ask("subscription", token=token))
        assert (tried["allowances"]["active_profiles"], tried["allowances"]["sender_domain"]) == (75, True)
        assert tried["usage"] == {
            "active_profiles": 1, "members": 2, "guests": 0, "webhook_subscriptions": 0, "snapshot_links": 0,
        }  # fmt: skip
        clock.move_to(start + TRIAL - timedelta(hours=1))
        assert data(ask("subscription", token=token))["status"] == "trialing"
        # the session is idle no longer than it may be
        clock.move_to(start + TRIAL)
        over = data(ask("subscription", token=token))
        assert (over["plan"], over["status"], over["allowances"]["active_profiles"]) == ("starter", "none", 3)
        assert over["allowances"]["sender_domain"] is False
