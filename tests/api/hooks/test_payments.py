"""Deliveries of the payment processor: signed, kept once, and the same end in whatever order they come."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
import time_machine
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api import db
from api.models import AuditEntry, Handoff, HookDelivery, Subscription, Workspace
from api.subscriptions import UNPAID, standing
from sandbox.stripe_billing import signature
from tests.factories import billing as factory
from tests.factories import documented
from tests.factories.billing_events import (
    MONTH,
    START,
    Event,
    changed,
    checkout,
    event,
    handoff,
    invoice,
    marks,
    older_invoice,
    trialing,
)
from tests.factories.deployments import application
from touchledger.settings import Settings


@pytest.fixture
def client(selling: Settings) -> FlaskClient:
    return application(selling).test_client()


@pytest.fixture
def post(client: FlaskClient) -> Callable[..., TestResponse]:
    """Delivers an event, signed now with the right secret unless told otherwise."""

    def posted(
        event: Event | bytes, *, secret: str = factory.WEBHOOK_SECRET, late: int = 0, **more: Any
    ) -> TestResponse:
        body = event if isinstance(event, bytes) else json.dumps(event).encode()
        headers = {"Stripe-Signature": signature(secret, body, int(time.time()) - late)}
        return client.post("/hooks/payments/stripe", data=body, headers=headers)

    return posted


def now_on(url: str, workspace: Workspace) -> tuple[str, str]:
    with db.transaction(url) as session:
        found = standing(session.get(Subscription, workspace.id), db.now())
        assert session.get_one(Workspace, workspace.id).plan == found.plan
        return found.plan, found.status


def test_what_one_workspace_pays_is_no_other_workspaces_plan(
    post: Callable[..., TestResponse], selling: Settings
) -> None:
    url = selling.operational_url
    with time_machine.travel(START, tick=False):
        payer, other = trialing(url), trialing(url)
        before = now_on(url, other)
        told = (
            changed("evt_1", START, marks(payer, "agency"), "active", price="price_agency_month"),
            invoice("evt_2", START, marks(payer, "agency"), is_paid=True),
            checkout("evt_3", START, marks(other), sub="sub_2", kind="checkout.session.expired"),
        )
        assert [post(one).status_code for one in told] == [200] * 3
        assert (now_on(url, payer), now_on(url, other)) == (("agency", "active"), before)


@pytest.mark.parametrize(
    ("secret", "late", "status"),
    [
        (factory.WEBHOOK_SECRET, 0, 200),
        (factory.WEBHOOK_SECRET, 299, 200),
        (factory.WEBHOOK_SECRET, 302, 401),
        (factory.WEBHOOK_SECRET, -302, 401),
        ("whsec_another", 0, 401),
    ],
)
def test_only_what_was_signed_with_the_secret_within_five_minutes_is_taken(
    post: Callable[..., TestResponse], selling: Settings, secret: str, late: int, status: int
) -> None:
    with time_machine.travel(START, tick=False):
        answer = post(event("evt_1", "charge.succeeded", START, id="ch_1"), secret=secret, late=late)
    assert answer.status_code == status
    with db.transaction(selling.operational_url) as session:
        assert len(session.scalars(sa.select(HookDelivery)).all()) == (status == 200)


def test_the_signature_is_of_the_bytes_and_checked_before_they_are_read(client: FlaskClient) -> None:
    body = b'{"id": "evt_1"}'
    signed = signature(factory.WEBHOOK_SECRET, body, int(time.time()))
    for header in (signed, "", "t=1", "v1=00", "t=now,v1=00", f"t=1,{signed}", signed.replace("v1", "v0")):
        sent = client.post("/hooks/payments/stripe", data=b"not json", headers={"Stripe-Signature": header})
        assert (sent.status_code, sent.get_json()["error"]["code"]) == (401, "unauthorized"), header
    rotated = f"{signed},v1={'0' * 64}"
    assert client.post("/hooks/payments/stripe", data=body, headers={"Stripe-Signature": rotated}).status_code == 400


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b"null", b'{"id": 1', json.dumps(event("e", "x", START) | {"created": "soon"}).encode()]
)
def test_signed_nonsense_is_no_event(post: Callable[..., TestResponse], body: bytes) -> None:
    answer = post(body)
    assert (answer.status_code, answer.get_json()["error"]["code"]) == (400, "invalid_request")


def test_the_document_describes_what_is_taken_and_what_is_refused(
    post: Callable[..., TestResponse], client: FlaskClient
) -> None:
    for body, status in ((event("evt_1", "charge.refunded", START, id="ch_1"), 200), (b"null", 400)):
        answer = post(body)
        assert answer.status_code == status
        documented.check(client, answer, "/hooks/payments/{provider}")


def test_another_processor_is_unknown_and_without_a_secret_nothing_is_taken(
    settings: Settings, client: FlaskClient
) -> None:
    assert client.post("/hooks/payments/paypal", data=b"{}").status_code == 404
    unconfigured = application(settings).test_client().post("/hooks/payments/stripe", data=b"{}")
    assert (unconfigured.status_code, unconfigured.get_json()["error"]["code"]) == (503, "service_unavailable")


def test_a_delivery_is_kept_once_and_says_nothing_of_people(
    post: Callable[..., TestResponse], selling: Settings
) -> None:
    workspace = trialing(selling.operational_url)
    paid = checkout("evt_1", START, marks(workspace))
    for sent in (paid, paid, event("evt_2", "charge.refunded", START, id="ch_1", receipt_email="pat@example.com")):
        answer = post(sent)
        assert (answer.status_code, answer.get_json()) == (200, {"received": True})
    with db.transaction(selling.operational_url) as session:
        kept = {one.delivery_id: one for one in session.scalars(sa.select(HookDelivery))}
        assert set(kept) == {"evt_1", "evt_2"}
        assert (kept["evt_1"].processed_at is not None, kept["evt_1"].workspace_id) == (True, workspace.id)
        refund = kept["evt_2"]
        assert (refund.processed_at, refund.kind, refund.object_ref) == (None, "charge.refunded", "ch_1")
        assert "pat@" not in json.dumps([one.facts for one in kept.values()])
        audited = session.scalars(sa.select(AuditEntry)).all()
        assert [(one.action, one.category, one.actor_kind) for one in audited] == [
            ("subscription.changed", "billing", "system")
        ]
        assert audited[0].details["after"] == {"plan": "growth", "status": "active"}


def test_an_event_of_nobodys_workspace_is_kept_and_moves_nothing(
    post: Callable[..., TestResponse], selling: Settings
) -> None:
    stranger = Workspace(id="01900000-0000-7000-8000-00000000ffff", name="Nobody")
    assert post(checkout("evt_1", START, marks(stranger))).status_code == 200
    with db.transaction(selling.operational_url) as session:
        (kept,) = session.scalars(sa.select(HookDelivery))
        assert (kept.workspace_id, kept.processed_at) == (None, None)
        assert session.scalars(sa.select(Subscription)).all() == []


def test_a_subscription_walks_through_its_states(post: Callable[..., TestResponse], selling: Settings) -> None:
    url = selling.operational_url
    with time_machine.travel(START, tick=False) as clock:
        workspace = trialing(url)
        of = marks(workspace, handoff=handoff(url, workspace).id)
        assert now_on(url, workspace) == ("growth", "trialing")
        post(checkout("evt_1", START, of))
        assert now_on(url, workspace) == ("growth", "active")
        clock.move_to(START + MONTH)
        assert now_on(url, workspace) == ("growth", "active")
        post(invoice("evt_2", db.now(), of, is_paid=False))
        assert now_on(url, workspace) == ("growth", "past_due")
        post(invoice("evt_3", db.now() + timedelta(days=2), of, is_paid=False))
        clock.move_to(START + MONTH + UNPAID)
        assert now_on(url, workspace) == ("starter", "canceled")
        post(invoice("evt_4", db.now(), of, is_paid=True))
        assert now_on(url, workspace) == ("growth", "active")
        leaving = int((db.now() + MONTH).timestamp())
        post(changed("evt_5", db.now(), of, "active", cancel_at_period_end=True, price="price_agency_year"))
        assert now_on(url, workspace) == ("agency", "active")
        clock.move_to(datetime.fromtimestamp(leaving, UTC))
        assert now_on(url, workspace) == ("starter", "canceled")
        post(changed("evt_6", db.now(), of, "canceled"))
        assert now_on(url, workspace) == ("starter", "canceled")
        post(invoice("evt_7", db.now(), of, is_paid=True))
        assert now_on(url, workspace) == ("starter", "canceled")
        post(checkout("evt_8", db.now(), marks(workspace, "agency"), sub="sub_2"))
        assert now_on(url, workspace) == ("agency", "active")


def test_an_invoice_of_an_older_version_of_the_interface_moves_its_subscription(
    post: Callable[..., TestResponse], selling: Settings
) -> None:
    url = selling.operational_url
    with time_machine.travel(START, tick=False) as clock:
        workspace = trialing(url)
        of = marks(workspace)
        post(checkout("evt_1", START, of))
        clock.move_to(START + MONTH)
        post(older_invoice("evt_2", db.now(), of, is_paid=False))
        assert now_on(url, workspace) == ("growth", "past_due")
        clock.move_to(START + MONTH + UNPAID)
        post(older_invoice("evt_3", db.now(), of, is_paid=True))
        assert now_on(url, workspace) == ("growth", "active")


def test_a_checkout_ends_as_its_session_did(post: Callable[..., TestResponse], selling: Settings) -> None:
    url, later = selling.operational_url, START + timedelta(hours=1)
    workspace = trialing(url)
    paid, left, refused, slow = (handoff(url, workspace, plan) for plan in ("growth", "agency", "growth", "growth"))
    failed, unpaid = "checkout.session.async_payment_failed", {"payment_status": "unpaid"}
    post(checkout("evt_1", later, marks(workspace, "growth", paid.id)))
    post(checkout("evt_2", later, marks(workspace, "agency", left.id), kind="checkout.session.expired", sub=None))
    post(checkout("evt_3", START, marks(workspace, "growth", refused.id), sub="sub_3", **unpaid))
    post(checkout("evt_4", later, marks(workspace, "growth", refused.id), kind=failed, sub="sub_3", **unpaid))
    post(checkout("evt_5", later, marks(workspace, "growth", slow.id), sub="sub_5", **unpaid))
    with db.transaction(url) as session:
        found = [session.get_one(Handoff, one.id) for one in (paid, left, refused, slow)]
        assert [(one.status, one.reason) for one in found] == [
            ("completed", None),
            ("expired", "abandoned"),
            ("failed", "payment_refused"),
            ("pending", None),
        ]
        assert (found[0].result, found[0].ended_at) == ({"plan": "growth"}, later)


def test_a_page_that_was_replaced_stays_canceled_and_what_is_paid_there_counts(
    post: Callable[..., TestResponse], selling: Settings
) -> None:
    url, workspace = selling.operational_url, trialing(selling.operational_url)
    old, foreign = handoff(url, workspace), handoff(url, factory.workspace(url))
    with db.transaction(url) as session:
        one = session.get_one(Handoff, old.id)
        one.status, one.ended_at = "canceled", START + timedelta(hours=1)
    post(checkout("evt_1", START + timedelta(hours=2), marks(workspace, handoff=old.id)))
    post(checkout("evt_2", START, marks(workspace, handoff=foreign.id)))
    with db.transaction(url) as session:
        assert [session.get_one(Handoff, one.id).status for one in (old, foreign)] == ["canceled", "pending"]
        assert session.get_one(Subscription, workspace.id).status == "active"


def test_what_was_paid_before_its_page_was_replaced_was_completed(
    post: Callable[..., TestResponse], selling: Settings
) -> None:
    url, workspace = selling.operational_url, trialing(selling.operational_url)
    old = handoff(url, workspace)
    with db.transaction(url) as session:
        one = session.get_one(Handoff, old.id)
        one.status, one.ended_at = "canceled", START + timedelta(hours=2)
    post(checkout("evt_1", START + timedelta(hours=1), marks(workspace, handoff=old.id)))
    with db.transaction(url) as session:
        found = session.get_one(Handoff, old.id)
        assert (found.status, found.ended_at) == ("completed", START + timedelta(hours=1))


def test_a_canceled_page_that_the_processor_closes_in_the_same_second_stays_canceled(
    post: Callable[..., TestResponse], selling: Settings
) -> None:
    url, workspace = selling.operational_url, trialing(selling.operational_url)
    left = handoff(url, workspace)
    with db.transaction(url) as session:
        one = session.get_one(Handoff, left.id)
        one.status, one.ended_at = "canceled", START + timedelta(milliseconds=300)
    post(checkout("evt_1", START, marks(workspace, handoff=left.id), kind="checkout.session.expired", sub=None))
    with db.transaction(url) as session:
        found = session.get_one(Handoff, left.id)
        assert (found.status, found.reason) == ("canceled", None)


def test_what_is_paid_within_the_second_that_its_page_was_made_in_is_not_paid_before(
    post: Callable[..., TestResponse], selling: Settings
) -> None:
    url, workspace = selling.operational_url, trialing(selling.operational_url)
    page = handoff(url, workspace)
    with db.transaction(url) as session:
        session.get_one(Handoff, page.id).created_at = made = START + timedelta(milliseconds=600)
    post(checkout("evt_1", START, marks(workspace, handoff=page.id)))
    with db.transaction(url) as session:
        found = session.get_one(Handoff, page.id)
        assert (found.status, found.ended_at) == ("completed", made)
