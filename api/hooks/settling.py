"""What a delivery of the payment processor changes: the subscription it is about, and the hand-off it ends."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import db, paid
from api.hooks.stripe_events import Event
from api.models import Handoff, HookDelivery, Subscription, Workspace
from api.subscriptions import Standing, restated, standing, subscription_of
from touchledger.settings import Settings

# how a checkout session ends: the hand-off's status and reason
_ENDS = {
    "checkout.session.completed": ("completed", None),
    "checkout.session.async_payment_succeeded": ("completed", None),
    "checkout.session.async_payment_failed": ("failed", "payment_refused"),
    "checkout.session.expired": ("expired", "abandoned"),
}


def take(session: Session, settings: Settings, event: Event, *, source: str) -> bool:
    """Keep a delivery and let it have its effect; False when it is here already.

    An event of no workspace of ours, or of a kind that moves nothing, is kept and not processed.
    """
    workspace = _workspace(session, event)
    delivery = HookDelivery(source=source, delivery_id=event.id, kind=event.kind, occurred_at=event.at)
    delivery.object_ref, delivery.facts = event.object_ref, event.facts
    delivery.workspace_id = workspace.id if workspace else None
    try:
        with session.begin_nested():
            session.add(delivery)
    except sa.exc.IntegrityError:
        return False
    if workspace is not None:
        delivery.processed_at = db.now()
        settle(session, settings, workspace, source=source)
    return True


def settle(session: Session, settings: Settings, workspace: Workspace, *, source: str) -> Standing:
    """Compute what a workspace pays for, and how its checkouts ended, from every delivery that is kept."""
    chosen = sa.select(HookDelivery).where(HookDelivery.workspace_id == workspace.id, HookDelivery.source == source)
    deliveries = list(session.scalars(chosen))
    _end_handoffs(session, workspace.id, deliveries)
    before = standing(subscription_of(session, workspace.id), db.now())
    one = paid.current(paid.subscriptions(deliveries, plans_of_prices(settings)))
    _keep(session, workspace.id, one)
    return restated(session, workspace, before)


def plans_of_prices(settings: Settings) -> dict[str, str]:
    """The plan of each price of this deployment."""
    return {price: name.rpartition("_")[0] for name, price in settings.billing_prices.items()}


def _workspace(session: Session, event: Event) -> Workspace | None:
    """The workspace that our own marks on the event name, locked: of two deliveries at once the second sees both."""
    named = event.facts.get("workspace_id")
    return session.get(Workspace, named, with_for_update={"key_share": True}) if named else None


def _keep(session: Session, workspace_id: str, one: paid.Paid | None) -> None:
    row = subscription_of(session, workspace_id)
    if row is None:
        row = Subscription(workspace_id=workspace_id)
        session.add(row)
    # an event that came late may undo what an earlier delivery seemed to say
    row.billing = "card" if one else "none"
    one = one or paid.Paid("")
    row.status, row.paid_plan = one.status, one.plan
    row.customer_ref, row.subscription_ref = one.customer_ref, one.ref or None
    row.period_start, row.period_end, row.cancel_at = one.period_start, one.period_end, one.cancel_at
    row.past_due_since = one.past_due_since


def _end_handoffs(session: Session, workspace_id: str, deliveries: list[HookDelivery]) -> None:
    first: dict[str, HookDelivery] = {}
    for one in paid.ordered(deliveries):
        if one.facts.get("handoff_id") and _ends(one):
            first.setdefault(one.facts["handoff_id"], one)
    for number, one in first.items():
        handoff = session.get(Handoff, number)
        if handoff is None or handoff.workspace_id != workspace_id:
            continue
        if handoff.status == "canceled" and _is_after(handoff, one):
            # a page that was replaced stays canceled, also when somebody pays there later
            continue
        handoff.status, handoff.reason = _ENDS[one.kind]
        # the processor's clock is another one and leaves out parts of a second: nothing ends before it began
        handoff.ended_at = max(one.occurred_at, handoff.created_at)
        handoff.result = {"plan": handoff.plan} if handoff.status == "completed" else None


def _is_after(canceled: Handoff, one: HookDelivery) -> bool:
    # what was canceled had time left, so only we can have closed its page, which the processor dates to the second
    is_closed = one.kind == "checkout.session.expired"
    return is_closed or (canceled.ended_at is not None and canceled.ended_at <= one.occurred_at)


def _ends(one: HookDelivery) -> bool:
    unsettled = one.kind == "checkout.session.completed" and not one.facts.get("is_paid")
    return one.kind in _ENDS and not unsettled
