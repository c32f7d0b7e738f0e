"""Events as the payment processor tells them, and what they are about."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from api import db
from api.models import Handoff, Workspace
from api.subscriptions import begin_trial
from tests.factories import billing as factory

START = datetime(2026, 3, 1, tzinfo=UTC)
MONTH = timedelta(days=30)
Event = dict[str, Any]


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


def older_invoice(number: str, at: datetime, of: dict[str, str], *, is_paid: bool, sub: str = "sub_1") -> Event:
    """The same from an endpoint whose version of the interface is older than 2025-03-31."""
    told = invoice(number, at, of, is_paid=is_paid)
    about = told["data"]["object"]
    del about["parent"]
    about |= {"subscription": sub, "subscription_details": {"metadata": of}}
    return told


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
