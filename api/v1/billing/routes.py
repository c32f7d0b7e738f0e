"""POST W/checkout-session, W/billing-portal-session and W/shopify-plan-selection; GET W/subscription."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy.orm import Session

from api import auth, billing, context, db, errors, plans
from api.audit import Attempt, record
from api.guard import workspace_guarded
from api.http import Blueprint
from api.models import Handoff, Workspace
from api.roles import Role
from api.scopes import Scope
from api.subscriptions import Standing, rank, standing, subscription_of
from api.v1.billing import storefront
from api.v1.billing.schemas import (
    CheckoutBody,
    CheckoutSession,
    PlanAllowances,
    PlanSelection,
    PlanSelectionBody,
    PlanUsage,
    PortalBody,
    PortalSession,
    SubscriptionShape,
)
from api.writing import actor, idempotent, session
from connectors.errors import ConnectorError

bp = Blueprint("billing", __name__, description="What a workspace pays for.")

# the processor's own rule: a portal page that nobody opened within five minutes is gone
PORTAL_LASTS = timedelta(minutes=5)


@bp.route("/workspaces/<workspace_id>/subscription")
@workspace_guarded(role=Role.VIEWER)
@bp.response(200, SubscriptionShape)
def subscription_state(workspace_id: str) -> dict[str, Any]:
    """The plan, what it rests on, what it allows and what is in use

    Read from what the payment processor or the storefront told last, not asked of them now. A checkout that was just
    paid shows after the processor's call, mostly within seconds: ask the hand-off. Allowances are told whether or not
    they are in use; null is no limit.
    """
    workspace = auth.current().workspace
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        now = standing(subscription_of(reading, workspace_id), db.now())
        usage = {name: plans.used(reading, workspace, name) for name in PlanUsage().fields if name in plans.COUNTED}
    return {
        "plan": workspace.plan,
        "status": now.status,
        "billing": now.billing,
        "current_period_start": now.period_start,
        "current_period_end": now.period_end,
        "trial_end": now.trial_end,
        "cancel_at_period_end": now.cancel_at_period_end,
        "allowances": {name: _allowed(workspace, name) for name in PlanAllowances().fields},
        # what cannot be made yet is not in use
        "usage": {**dict.fromkeys(PlanUsage().fields, 0), **usage},
    }


@bp.route("/workspaces/<workspace_id>/checkout-session", methods=["POST"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN)
@bp.arguments(CheckoutBody)
@idempotent()
@bp.response(201, CheckoutSession)
@bp.alt_response(200, schema=CheckoutSession, description="The open hand-off for the same plan.")
def checkout_session(body: dict[str, Any], workspace_id: str) -> tuple[dict[str, Any], int]:
    """Make a page on which somebody pays for a plan

    An open one for the same plan is given again; one for another plan is canceled.
    """
    workspace, settings = auth.current().workspace, context.settings()
    if workspace.acquisition_source == "storefront":
        raise errors.INVALID_STATE("Its plan is chosen in the storefront's marketplace.", reason="storefront_billing")
    with db.transaction(settings.operational_url, durable=False) as reading:
        subscription = subscription_of(reading, workspace_id)
        standing_open = billing.open_handoffs(reading, workspace_id, db.now())
    _require_upgrade(standing(subscription, db.now()), body["plan"])
    for known in standing_open:
        if (known.plan, known.interval) == (body["plan"], body["interval"]):
            return _opened(known), 200
    made = billing.ask_checkout(
        settings,
        workspace_id=workspace_id,
        plan=body["plan"],
        interval=body["interval"],
        customer=subscription.customer_ref if subscription else None,
    )
    if isinstance(made, billing.Problem):
        raise billing.refusal(made)
    billing.end_pages(settings, standing_open)
    # of two that ask at once the second replaces the first
    session().get_one(Workspace, workspace_id, with_for_update={"key_share": True})
    billing.cancel(session(), workspace_id, kinds=["checkout"], closed=standing_open)
    session().add(made)
    _record(session(), "checkout.opened", workspace, {"plan": made.plan, "interval": made.interval})
    return _opened(made), 201


@bp.route("/workspaces/<workspace_id>/billing-portal-session", methods=["POST"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN)
@bp.arguments(PortalBody)
@idempotent()
@bp.response(201, PortalSession)
def billing_portal_session(body: dict[str, Any], workspace_id: str) -> dict[str, Any]:
    """Open the payment processor's customer portal

    For the card, the invoices, another plan, or the end of the subscription. Open the page within five minutes.
    """
    workspace, settings = auth.current().workspace, context.settings()
    with db.transaction(settings.operational_url, durable=False) as reading:
        subscription = subscription_of(reading, workspace_id)
    if subscription is None or subscription.customer_ref is None:
        raise errors.INVALID_STATE("Nobody has paid for this workspace yet.", reason="no_billing_account")
    back = body["return_url"] or f"{settings.base_url}/"
    try:
        with billing.processor(settings) as processor:
            url, made_at = processor.portal(subscription.customer_ref, back, key=f"portal:{db.new_id()}")
    except ConnectorError as error:
        raise billing.refusal(error) from None
    _record(session(), "billing_portal.opened", workspace, {})
    return {"url": url, "expires_at": made_at + PORTAL_LASTS}


@bp.route("/workspaces/<workspace_id>/shopify-plan-selection", methods=["POST"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN)
@bp.arguments(PlanSelectionBody)
@idempotent()
@bp.response(201, PlanSelection)
def shopify_plan_selection(body: dict[str, Any], workspace_id: str) -> dict[str, Any]:
    """Choose the plan of a workspace that came from the storefront's marketplace

    starter takes effect at once; the others when the merchant confirms them on the storefront's page. Any other
    workspace is 409 `invalid_state`/`not_marketplace_workspace`, and no route here makes one that came from there: its
    `acquisition_source` is storefront.
    """
    workspace = session().get_one(Workspace, workspace_id, with_for_update={"key_share": True})
    if workspace.acquisition_source != "storefront":
        told = "This workspace did not come from the store's marketplace; its plan is bought at checkout-session."
        raise errors.INVALID_STATE(told, reason="not_marketplace_workspace")
    chosen = storefront.choose(session(), context.settings(), workspace=workspace, plan=body["plan"])
    _record(session(), "plan.selected", workspace, {"plan": body["plan"]})
    return {"plan": body["plan"], "handoff": _opened(chosen) if chosen else None}


def _require_upgrade(now: Standing, plan: str) -> None:
    """A trial may be bought at any size; whoever pays already can only go up here, and down in the portal."""
    if now.status in {"active", "past_due"} and rank(plan) <= rank(now.plan):
        raise errors.INVALID_STATE(f"The workspace is on {now.plan} already.", reason="already_on_plan")


def _opened(handoff: Handoff) -> dict[str, Any]:
    return {"id": handoff.id, "url": handoff.url, "expires_at": handoff.expires_at, "plan": handoff.plan}


def _allowed(workspace: Workspace, name: str) -> int | bool | None:
    most = plans.allowance(workspace, name)
    return most != 0 if name in {"sender_domain", "bulk_reports"} else most


def _record(unit: Session, action: str, workspace: Workspace, after: dict[str, Any]) -> None:
    target = {"kind": "workspace", "id": workspace.id, "label": workspace.name}
    record(unit, actor(), Attempt(action, {"target": target, "after": after}, category="billing"))
