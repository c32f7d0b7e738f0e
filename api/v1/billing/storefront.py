"""Plans of workspaces that came from the storefront's marketplace: chosen there, on the merchant's own admin page."""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import billing, db, errors
from api.models import Connection, Handoff, Profile, Subscription, Workspace
from api.models.connection import HOLDING
from api.subscriptions import restate, subscription_of
from connectors.shopify_graph import handle
from touchledger.settings import Settings

LASTS = timedelta(hours=24)


def choose(session: Session, settings: Settings, *, workspace: Workspace, plan: str) -> Handoff | None:
    """The hand-off on which the merchant confirms the plan; None for starter, which is in force from now on.

    503 service_unavailable where the deployment has no app in the marketplace, 404 not_found without a live store.
    """
    if plan == "starter":
        billing.cancel(session, workspace.id, kinds=["plan_selection"])
        _fall_to_starter(session, workspace)
        return None
    standing_open = billing.open_handoffs(session, workspace.id, db.now(), kind="plan_selection")
    for known in standing_open:
        if known.plan == plan:
            return known
    if settings.billing_storefront_app is None:
        raise errors.SERVICE_UNAVAILABLE(
            "This deployment has no app in the storefront's marketplace.", headers=billing.RETRY
        )
    store = _store(session, workspace.id)
    billing.cancel(session, workspace.id, kinds=["plan_selection"])
    made = Handoff(kind="plan_selection", workspace_id=workspace.id, plan=plan, external_ref=store)
    made.url = f"https://admin.shopify.com/store/{store}/charges/{settings.billing_storefront_app}/pricing_plans"
    made.created_at = db.now()
    made.expires_at = made.created_at + LASTS
    session.add(made)
    session.flush()
    return made


def _fall_to_starter(session: Session, workspace: Workspace) -> None:
    subscription = subscription_of(session, workspace.id)
    if subscription is None:
        subscription = Subscription(workspace_id=workspace.id)
        session.add(subscription)
    subscription.billing, subscription.trial_plan = "storefront", None
    if subscription.status is not None:
        subscription.status, subscription.past_due_since, subscription.cancel_at = "canceled", None, None
    restate(workspace, subscription)


def _store(session: Session, workspace_id: str) -> str:
    """The handle of the workspace's oldest live store."""
    chosen = (
        sa.select(Connection.external_account_id)
        .join(Profile, Profile.id == Connection.profile_id)
        .where(Profile.workspace_id == workspace_id, Profile.archived_at.is_(None))
        .where(Connection.provider == "shopify", Connection.status.in_(HOLDING))
    )
    shop = session.scalars(chosen.order_by(Connection.created_at, Connection.id).limit(1)).one_or_none()
    if shop is None:
        raise errors.NOT_FOUND("No store is connected to this workspace.")
    return handle(shop)
