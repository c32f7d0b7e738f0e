"""Deliveries of the payment processor: signed, kept once, and the same end in whatever order they come."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
import sqlalchemy as sa
import time_machine
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given
from hypothesis import settings as trying
from hypothesis import strategies as st
from pydantic import SecretStr
from werkzeug.test import TestResponse

from api import db
from api.app import create_app
from api.hooks.settling import take
from api.hooks.stripe_events import read
from api.models import AuditEntry, Handoff, HookDelivery, Subscription, Workspace
from api.subscriptions import UNPAID, begin_trial, standing
from sandbox.stripe_billing import signature
from tests.factories import billing as factory
from tests.fixtures.sandbox import RunningSandbox
from touchledger.settings import Settings

START = datetime(2026, 3, 1, tzinfo=UTC)
MONTH = timedelta(days=30)
Event = dict[str, Any]


@pytest.fixture
def selling(settings: Settings, sandbox: RunningSandbox) -> Settings:
    return factory.selling(settings, sandbox)


@pytest.fixture
def client(selling: Settings) -> FlaskClient:
    return create_app(selling).test_client()


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


def event(number: str, kind: str, at: datetime, **about: Any) -> Event:
    return {"id": number, "object": "event", "type": kind, "created": int(at.timestamp()), "data": {"object": about}}


def marks(workspace: Workspace, plan: str = "growth", handoff: str = "") -> dict[str, str]:
    return {"workspace_id": workspace.id, "plan": plan, "handoff_id": handoff}


def checkout(number: str, at: datetime, of: dict[str, str], *, sub: str = "sub_1", **changed: Any) -> Event:
    about = {"id": f"cs_{number}", "metadata": of, "subscription": sub, "customer": "cus_1", "payment_status": "paid"}
    kind = changed.pop("kind", "checkout.session.completed")
    return event(number, kind, at, **{**about, "customer_details": {"email": "pat@example.com"}, **changed})


def changed(number: str, at: datetime, of: dict[str, str], status: str, *, sub: str = "sub_1", **more: Any) -> Event:
    period = {"current_period_start": int(at.timestamp()), "current_period_end": int((at + MONTH).timestamp())}
    items = {"data": [{"price": {"id": more.pop("price", "price_growth_month")}, **period}]}
    kind = "deleted" if status == "canceled" else "updated"
    about = {"id": sub, "customer": "cus_1", "metadata": of, "status": status, "items": items, **more}
    return event(number, f"customer.subscription.{kind}", at, **about)


def invoice(number: str, at: datetime, of: dict[str, str], *, is_paid: bool, sub: str = "sub_1") -> Event:
    parent = {"subscription_details": {"metadata": of, "subscription": sub}}
    kind = "invoice.paid" if is_paid else "invoice.payment_failed"
    return event(number, kind, at, id=f"in_{number}", parent=parent, customer="cus_1", customer_email="pat@example.com")


def state(url: str, workspace_id: str) -> tuple[Any, ...]:
    """Everything that deliveries change, in one comparable value."""
    with db.transaction(url) as session:
        row = session.get(Subscription, workspace_id)
        workspace = session.get_one(Workspace, workspace_id)
        columns = {column.key: getattr(row, column.key) for column in sa.inspect(Subscription).columns} if row else {}
        columns.pop("created_at", None)
        chosen = sa.select(Handoff).where(Handoff.workspace_id == workspace_id).order_by(Handoff.id)
        ends = [(one.status, one.reason, one.ended_at, one.result) for one in session.scalars(chosen)]
        return workspace.stated_plan, workspace.plan_ends_at, sorted(columns.items()), ends


def trialing(url: str, plan: str = "growth") -> Workspace:
    made = factory.workspace(url)
    with db.transaction(url) as session:
        begin_trial(session, workspace=session.get_one(Workspace, made.id), plan=plan)
    return made


def handoff(url: str, workspace: Workspace, plan: str = "growth") -> Handoff:
    with db.transaction(url) as session:
        made = Handoff(kind="checkout", workspace_id=workspace.id, plan=plan, url="https://pay.example")
        made.created_at, made.expires_at = START, START + timedelta(days=1)
        session.add(made)
    return made


def now_on(url: str, workspace: Workspace) -> tuple[str, str]:
    with db.transaction(url) as session:
        found = standing(session.get(Subscription, workspace.id), db.now())
        assert session.get_one(Workspace, workspace.id).plan == found.plan
        return found.plan, found.status


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


def test_another_processor_is_unknown_and_without_a_secret_nothing_is_taken(
    settings: Settings, client: FlaskClient
) -> None:
    assert client.post("/hooks/payments/paypal", data=b"{}").status_code == 404
    unconfigured = create_app(settings).test_client().post("/hooks/payments/stripe", data=b"{}")
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


KINDS = ("paid", "failed", "active", "past_due", "unpaid", "incomplete", "canceled", "checkout", "unsettled", "expired")


def history(workspace: Workspace, of: Handoff, drawn: Sequence[tuple[str, int, int, str]]) -> list[Event]:
    events = []
    for index, (kind, second, sub, plan) in enumerate(drawn):
        at, name, number = START + timedelta(seconds=second), f"sub_{sub}", f"evt_{index}"
        mark = marks(workspace, plan, of.id)
        if kind in ("paid", "failed"):
            events.append(invoice(number, at, mark, is_paid=kind == "paid", sub=name))
        elif kind in ("checkout", "unsettled"):
            money = "paid" if kind == "checkout" else "unpaid"
            events.append(checkout(number, at, mark, sub=name, payment_status=money))
        elif kind == "expired":
            events.append(checkout(number, at, mark, sub=name, kind="checkout.session.expired"))
        else:
            events.append(changed(number, at, mark, kind, sub=name, price=f"price_{plan}_month"))
    return events


@trying(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    drawn=st.lists(
        st.tuples(
            st.sampled_from(KINDS), st.integers(0, 6), st.integers(1, 2), st.sampled_from(["growth", "agency"])
        ),
        min_size=1,
        max_size=7,
    ),
    order=st.randoms(use_true_random=False),
)  # fmt: skip
def test_any_order_with_repetitions_ends_as_the_order_of_events_does(
    selling: Settings, drawn: list[tuple[str, int, int, str]], order: Random
) -> None:
    url, ends = selling.operational_url, []
    for shuffled in (False, True):
        with time_machine.travel(START, tick=False):
            workspace = trialing(url)
            page = handoff(url, workspace)
        events = history(workspace, page, drawn)
        if shuffled:
            events += order.choices(events, k=3)
            order.shuffle(events)
        else:
            events.sort(key=lambda one: one["created"])
        with db.transaction(url) as session:
            for one in events:
                # ids are once for all workspaces: each has its own
                take(session, selling, read({**one, "id": f"{one['id']}:{workspace.id}"}), source="stripe")
        seen = json.dumps(state(url, workspace.id), default=str)
        ends.append(seen.replace(workspace.id, "W").replace(page.id, "H"))
    assert ends[0] == ends[1]


def test_two_deliveries_at_once_leave_nothing_out(
    database_url: str, sandbox: RunningSandbox, settings: Settings
) -> None:

    selling = factory.selling(settings, sandbox).model_copy(update={"database_url": SecretStr(database_url)})
    app, workspace = create_app(selling), trialing(database_url)
    of = marks(workspace)
    events = [checkout("evt_1", START, of), invoice("evt_2", START + MONTH, of, is_paid=False)]
    events += [changed(f"evt_{n}", START + MONTH + timedelta(seconds=n), of, "past_due") for n in range(3, 7)]

    def send(one: Event) -> int:
        body = json.dumps(one).encode()
        headers = {"Stripe-Signature": signature(factory.WEBHOOK_SECRET, body, int(time.time()))}
        return app.test_client().post("/hooks/payments/stripe", data=body, headers=headers).status_code

    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(send, events * 2)) == {200}
    with db.transaction(database_url) as session:
        row = session.get_one(Subscription, workspace.id)
        assert (row.status, row.past_due_since) == ("past_due", START + MONTH)
        assert len(session.scalars(sa.select(HookDelivery)).all()) == 6
