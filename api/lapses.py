"""What time alone does to plans: noted where somebody may look, and ended at the processor where it still costs.

Nothing depends on this running on time: plans and hand-offs end at the moment they are read.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
import structlog
from sqlalchemy.orm import Session

from api import audit, billing, connecting, db, paid
from api.audit import Attempt
from api.hooks.settling import plans_of_prices
from api.models import Handoff, HookDelivery, Subscription, Workspace
from api.subscriptions import restate, standing
from connectors.errors import ConnectorError, Refused
from touchledger.settings import Settings

log = structlog.get_logger("api.lapses")


@dataclass(frozen=True, slots=True)
class Leftover:
    """A subscription that the processor still asks money for, and nobody here is given anything for.

    `gives_back` where it was replaced by another one that is paid too.
    """

    ref: str
    gives_back: bool


def lapse(settings: Settings) -> None:
    """Note what has ended since, and end at the processor what nobody is given anything for."""
    at = db.now()
    with db.transaction(settings.operational_url) as session:
        connecting.end_abandoned(session, settings, at)
    # not in one transaction: hand-offs come after their workspaces, which are held next
    with db.transaction(settings.operational_url) as session:
        note(session, at)
    if settings.billing_secret is not None:
        end_leftovers(settings)


def note(session: Session, at: datetime) -> None:
    """Put plans that ended into the audit trail, and store as expired what has expired."""
    ended = sa.select(Workspace, Subscription).join(Subscription, Subscription.workspace_id == Workspace.id)
    # whoever settles a payment holds the workspace too, before its hand-offs; what another worker noted is over no more
    held = ended.where(Workspace.plan_ends_at <= at).order_by(Workspace.id)
    for workspace, subscription in session.execute(held.with_for_update(of=Workspace, key_share=True)).all():
        before = {"plan": workspace.stated_plan}
        after = restate(workspace, subscription)
        details = {
            "target": {"kind": "workspace", "id": workspace.id, "label": workspace.name},
            "before": before,
            "after": {"plan": after.plan, "status": after.status},
        }
        audit.record(session, audit.Actor("system", None, workspace.id), Attempt("plan.ended", details, "billing"))
    over = sa.update(Handoff).where(Handoff.status == "pending", Handoff.expires_at <= at)
    session.execute(over.values(status="expired", reason="abandoned", ended_at=Handoff.expires_at))


def end_leftovers(settings: Settings) -> None:
    """End what is left over at the processor, one by one; its own delivery says when it is done."""
    with db.transaction(settings.operational_url, durable=False) as session:
        found = leftovers(session, settings, db.now())
    if not found:
        return
    with billing.processor(settings) as processor:
        for one in found:
            try:
                # what is ended already is refused, and nothing is left to do
                with suppress(Refused):
                    processor.end_subscription(one.ref, gives_back=one.gives_back)
            except ConnectorError as problem:
                log.warning("subscription_not_ended", ref=one.ref, reason=problem.reason)


def leftovers(session: Session, settings: Settings, at: datetime) -> list[Leftover]:
    """Live subscriptions at the processor that are 14 days unpaid, replaced, or of an archived workspace."""
    found: list[Leftover] = []
    chosen = sa.select(Workspace, Subscription).join(Subscription, Subscription.workspace_id == Workspace.id)
    live = Subscription.status.in_(("active", "past_due"))
    for workspace, subscription in session.execute(chosen.where(live, Subscription.billing == "card")).all():
        deliveries = session.scalars(sa.select(HookDelivery).where(HookDelivery.workspace_id == workspace.id))
        for one in paid.subscriptions(deliveries, plans_of_prices(settings)):
            counts = one.ref == subscription.subscription_ref
            if not one.is_live or (counts and _gives(workspace, subscription, at)):
                continue
            found.append(Leftover(one.ref, gives_back=not counts and one.status == "active"))
    return sorted(found, key=lambda one: one.ref)


def _gives(workspace: Workspace, subscription: Subscription, at: datetime) -> bool:
    unpaid = subscription.status == "past_due" and standing(subscription, at).status == "canceled"
    return workspace.archived_at is None and not unpaid
