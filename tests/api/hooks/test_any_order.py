"""In whatever order deliveries come, and however often, they end in the same state."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from random import Random
from typing import Any

import sqlalchemy as sa
import time_machine
from hypothesis import HealthCheck, given
from hypothesis import settings as trying
from hypothesis import strategies as st
from pydantic import SecretStr

from api import db
from api.hooks.settling import take
from api.hooks.stripe_events import read
from api.models import Handoff, HookDelivery, Subscription, Workspace
from sandbox.stripe_billing import signature
from tests.factories import billing as factory
from tests.factories.billing_events import (
    MONTH,
    START,
    Event,
    changed,
    checkout,
    handoff,
    invoice,
    marks,
    trialing,
)
from tests.factories.deployments import application
from tests.fixtures.sandbox import RunningSandbox
from touchledger.settings import Settings


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


@trying(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
    app, workspace = application(selling), trialing(database_url)
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
