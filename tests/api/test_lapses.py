"""What ended by itself is noted, and nobody goes on paying at the processor for what is not given."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
import stripe
import time_machine

from api import billing, db
from api.hooks.settling import take
from api.hooks.stripe_events import read
from api.lapses import lapse
from api.models import AuditEntry, Handoff, Subscription, Workspace
from api.subscriptions import TRIAL, UNPAID, begin_trial
from api.worker import chores
from sandbox.faces import TOKENS
from tests.factories import billing as factory
from tests.fixtures.sandbox import RunningSandbox
from touchledger.settings import Settings


@pytest.fixture
def selling(settings: Settings, sandbox: RunningSandbox) -> Settings:
    return factory.selling(settings, sandbox)


@pytest.fixture
def vendor(sandbox: RunningSandbox) -> stripe.StripeClient:
    return stripe.StripeClient(TOKENS["stripe"], base_addresses={"api": f"{sandbox.url}/stripe"})


def bought(settings: Settings, vendor: stripe.StripeClient, workspace: Workspace, plan: str = "growth") -> str:
    """Buys a plan on the processor's page, takes the deliveries, and gives the subscription's id there."""
    url = settings.operational_url
    with db.transaction(url) as session:
        customer = session.scalar(sa.select(Subscription.customer_ref).where(Subscription.workspace_id == workspace.id))
    made = billing.ask_checkout(settings, workspace_id=workspace.id, plan=plan, interval="month", customer=customer)
    assert isinstance(made, Handoff)
    with db.transaction(url) as session:
        session.add(made)
    factory.decide(made.url)
    settle(settings, vendor)
    return str(vendor.v1.checkout.sessions.retrieve(str(made.external_ref)).subscription)


def settle(settings: Settings, vendor: stripe.StripeClient) -> None:
    """Takes all that the processor has to say."""
    with db.transaction(settings.operational_url) as session:
        for event in vendor.v1.events.list().data:
            take(session, settings, read(event.to_dict()), source="stripe")


def statuses(vendor: stripe.StripeClient, *refs: str) -> list[str]:
    return [vendor.v1.subscriptions.retrieve(ref).status for ref in refs]


def test_the_worker_does_it_every_hour(settings: Settings) -> None:
    assert [one.every for one in chores(settings) if one.do is lapse] == [3600.0]


def test_a_trial_and_a_page_that_ended_are_noted_once(settings: Settings) -> None:
    url, start = settings.operational_url, db.now()
    with time_machine.travel(start, tick=False) as clock:
        made = factory.workspace(url)
        with db.transaction(url) as session:
            begin_trial(session, workspace=session.get_one(Workspace, made.id), plan="agency")
            page = Handoff(kind="checkout", workspace_id=made.id, url="https://pay.example", plan="agency")
            page.expires_at = start + timedelta(days=1)
            session.add(page)
        lapse(settings)
        assert noted(url, page.id) == ("pending", None, None, [])
        clock.move_to(start + TRIAL)
        for _ in range(2):
            lapse(settings)
            entry = ({"plan": "agency"}, {"plan": "starter", "status": "none"})
            assert noted(url, page.id) == ("expired", "abandoned", start + timedelta(days=1), [entry])


def noted(url: str, handoff_id: str) -> tuple[str, str | None, datetime | None, list[tuple[object, object]]]:
    with db.transaction(url) as session:
        page = session.get_one(Handoff, handoff_id)
        found = session.scalars(sa.select(AuditEntry).where(AuditEntry.action == "plan.ended"))
        return page.status, page.reason, page.ended_at, [(one.details["before"], one.details["after"]) for one in found]


def test_a_subscription_that_a_larger_one_replaced_ends_at_the_processor(
    selling: Settings, vendor: stripe.StripeClient
) -> None:
    workspace = factory.workspace(selling.operational_url)
    small = bought(selling, vendor, workspace)
    lapse(selling)
    assert statuses(vendor, small) == ["active"]
    large = bought(selling, vendor, workspace, "agency")
    with db.transaction(selling.operational_url) as session:
        row = session.get_one(Subscription, workspace.id)
        # both began within one second here: whichever counts, the other one ends
        other = small if row.subscription_ref == large else large
        kept = row.subscription_ref
    lapse(selling)
    assert statuses(vendor, str(kept), other) == ["active", "canceled"]


def test_after_fourteen_unpaid_days_the_processor_stops_asking(
    selling: Settings, vendor: stripe.StripeClient, sandbox: RunningSandbox
) -> None:
    workspace = factory.workspace(selling.operational_url)
    ref = bought(selling, vendor, workspace)
    with db.transaction(selling.operational_url) as session:
        row = session.get_one(Subscription, workspace.id)
        row.status, row.past_due_since = "past_due", db.now() - UNPAID + timedelta(minutes=1)
    lapse(selling)
    assert statuses(vendor, ref) == ["active"]
    with db.transaction(selling.operational_url) as session:
        session.get_one(Subscription, workspace.id).past_due_since = db.now() - UNPAID
    sandbox.plan({"route": "/v1/subscriptions", "kind": "status", "status": 500, "times": None})
    lapse(selling)
    sandbox.plan()
    assert statuses(vendor, ref) == ["active"]
    lapse(selling)
    assert statuses(vendor, ref) == ["canceled"]
    lapse(selling)


def test_an_archived_workspace_pays_no_more(selling: Settings, vendor: stripe.StripeClient) -> None:
    workspace = factory.workspace(selling.operational_url)
    ref = bought(selling, vendor, workspace)
    with db.transaction(selling.operational_url) as session:
        session.get_one(Workspace, workspace.id).archived_at = db.now()
    lapse(selling)
    assert statuses(vendor, ref) == ["canceled"]


def test_a_grant_does_not_stop_what_is_paid(selling: Settings, vendor: stripe.StripeClient) -> None:
    workspace = factory.workspace(selling.operational_url)
    ref = bought(selling, vendor, workspace)
    with db.transaction(selling.operational_url) as session:
        session.get_one(Subscription, workspace.id).granted_plan = "enterprise"
    lapse(selling)
    assert statuses(vendor, ref) == ["active"]
