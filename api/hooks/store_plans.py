"""What a storefront tells of the plan that a merchant chose there: the workspace's plan, and how the hand-off ended.

A subscription of the storefront never comes back once it ended: another plan is another subscription. So of two that
are told of, the later made one counts, and of two deliveries of one the later.
"""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import billing, db
from api.models import Connection, Profile, StoreDelivery, Subscription, Workspace
from api.plans import PLANS
from api.subscriptions import restated, standing, subscription_of
from touchledger.settings import Settings

TOPIC = "app_subscriptions/update"
_ENDED = {"CANCELLED": ("canceled", None), "DECLINED": ("failed", "abandoned"), "EXPIRED": ("expired", "abandoned")}


def plan_told(_: Settings, session: Session, connection: Connection, delivery: StoreDelivery) -> str:
    """The outcome of a delivery of `TOPIC`; only of workspaces that came from the storefront, whose plans it sells."""
    profile = session.get_one(Profile, connection.profile_id)
    workspace = session.get_one(Workspace, profile.workspace_id, with_for_update={"key_share": True})
    if workspace.acquisition_source != "storefront":
        return "noted"
    ref, state, plan = (delivery.facts.get(name) for name in ("subscription_ref", "state", "plan"))
    begun = datetime.fromisoformat(delivery.facts["begun_at"]) if delivery.facts.get("begun_at") else None
    if ref is None or state is None or begun is None:
        return "unreadable"
    if plan not in PLANS:
        return "unknown_plan"
    if _is_outdated(session, delivery, ref):
        return "outdated"
    _end_handoff(session, workspace.id, plan, state, delivery.occurred_at)
    subscription = subscription_of(session, workspace.id)
    before = standing(subscription, db.now())
    if not _move(session, workspace, subscription, ref, state, plan, begun, delivery.occurred_at):
        return "known"
    restated(session, workspace, before)
    return "told"


def _move(
    session: Session,
    workspace: Workspace,
    row: Subscription | None,
    ref: str,
    state: str,
    plan: str,
    begun: datetime,
    at: datetime,
) -> bool:
    """Whether the subscription is the one in force, or the one that follows it, and says something of it."""
    is_current = row is not None and row.subscription_ref == ref
    if state == "ACTIVE":
        if not is_current and row is not None and row.period_start is not None and row.period_start > begun:
            return False
        row = row or Subscription(workspace_id=workspace.id)
        session.add(row)
        row.billing, row.subscription_ref, row.paid_plan = "storefront", ref, plan
        row.status, row.period_start, row.past_due_since, row.cancel_at = "active", begun, None, None
    elif not is_current or row is None or row.status == "canceled":
        return False
    elif state == "FROZEN":
        # the storefront did not get its money from the merchant
        row.status, row.past_due_since = "past_due", row.past_due_since or at
    elif state in _ENDED:
        row.status, row.past_due_since = "canceled", None
    else:
        return False
    return True


def _is_outdated(session: Session, delivery: StoreDelivery, ref: str) -> bool:
    chosen = sa.select(StoreDelivery).where(
        StoreDelivery.connection_id == delivery.connection_id,
        StoreDelivery.topic == TOPIC,
        StoreDelivery.processed_at.is_not(None),
        StoreDelivery.occurred_at > delivery.occurred_at,
    )
    return any(one.facts.get("subscription_ref") == ref for one in session.scalars(chosen))


def _end_handoff(session: Session, workspace_id: str, plan: str, state: str, at: datetime) -> None:
    for one in billing.open_handoffs(session, workspace_id, at, kind="plan_selection"):
        ends = ("completed", None) if state == "ACTIVE" else _ENDED.get(state) if state != "CANCELLED" else None
        # what was told of before somebody was sent to the page says nothing of it
        if one.plan == plan and ends is not None and one.created_at <= at:
            one.status, one.reason = ends
            one.ended_at = at
            one.result = {"plan": plan} if state == "ACTIVE" else None
