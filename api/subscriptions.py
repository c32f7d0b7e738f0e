"""What a workspace's plan amounts to: facts with their moments in, the standing at one moment out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from api import audit, db, errors
from api.audit import Attempt
from api.models import Subscription, Workspace
from api.plans import PLANS

TRIAL = timedelta(days=14)
UNPAID = timedelta(days=14)
TRIED = frozenset({"growth", "agency"})


@dataclass(frozen=True, slots=True)
class Standing:
    """A plan and why it is that one. `ends_at` is when the plan falls to starter if nothing happens before."""

    plan: str = "starter"
    status: str = "none"
    billing: str = "none"
    period_start: datetime | None = None
    period_end: datetime | None = None
    trial_end: datetime | None = None
    cancel_at_period_end: bool = False
    ends_at: datetime | None = None

    @property
    def is_paying(self) -> bool:
        """Whether somebody pays, or is being asked to."""
        return self.status in {"active", "past_due"} and self.billing != "none"


def standing(subscription: Subscription | None, at: datetime) -> Standing:
    """The standing at a moment. A grant outranks what is paid for less; what was ever paid ends the trial."""
    if subscription is None:
        return Standing()
    paid = _paid(subscription, at)
    granted = subscription.granted_plan
    if granted and (paid is None or not paid.is_paying or rank(granted) >= rank(paid.plan)):
        return Standing(granted, "active", trial_end=subscription.trial_end)
    return paid or _tried(subscription, at)


def restate(workspace: Workspace, subscription: Subscription) -> Standing:
    """Give the workspace the plan of its subscription, with the moment at which it ends by itself."""
    now = standing(subscription, db.now())
    if (workspace.stated_plan, workspace.plan_ends_at) != (now.plan, now.ends_at):
        workspace.stated_plan, workspace.plan_ends_at = now.plan, now.ends_at
    return now


def restated(session: Session, workspace: Workspace, before: Standing) -> Standing:
    """Restate what a provider changed, and record it in the trail where plan or status are others than `before`."""
    session.flush()
    subscription = subscription_of(session, workspace.id)
    after = restate(workspace, subscription) if subscription else before
    if _said(before) != _said(after):
        details = {
            "target": {"kind": "workspace", "id": workspace.id, "label": workspace.name},
            "before": _said(before),
            "after": _said(after),
        }
        actor = audit.Actor("system", None, workspace.id)
        audit.record(session, actor, Attempt("subscription.changed", details, category="billing"))
    return after


def _said(one: Standing) -> dict[str, str]:
    return {"plan": one.plan, "status": one.status}


def rank(plan: str) -> int:
    """Plans from the least to the most."""
    return PLANS.index(plan)


def begin_trial(session: Session, *, workspace: Workspace, plan: str) -> Subscription | None:
    """Start a new workspace on `plan`: growth and agency are trialing for 14 days with their real limits.

    Starter needs no subscription. The workspace has been added to the session; its plan is set here.
    """
    if plan not in TRIED:
        workspace.plan = plan
        return None
    session.flush()
    begins = db.now()
    made = Subscription(workspace_id=workspace.id, trial_plan=plan, trial_start=begins, trial_end=begins + TRIAL)
    session.add(made)
    restate(workspace, made)
    return made


def grant(session: Session, *, workspace: Workspace, plan: str) -> Standing:
    """Give a workspace a plan for as long as the operator likes; starter takes the grant and any trial away.

    409 invalid_state/already_on_plan when somebody pays for as much or more: that would go on costing them. What was
    given is taken back all the same.
    """
    subscription, at = subscription_of(session, workspace.id), db.now()
    before = standing(subscription, at)
    # a grant hides what is paid for less
    paid = _paid(subscription, at) if subscription else None
    takes_back = plan == "starter" and subscription is not None and subscription.granted_plan is not None
    if paid is not None and paid.is_paying and rank(plan) <= rank(paid.plan) and not takes_back:
        raise errors.INVALID_STATE(f"The workspace pays for {paid.plan}: end that first.", reason="already_on_plan")
    if subscription is None:
        subscription = Subscription(workspace_id=workspace.id)
        session.add(subscription)
    subscription.granted_plan = plan if plan != "starter" else None
    if plan == "starter":
        subscription.trial_plan = None
    after = restate(workspace, subscription)
    details = {
        "target": {"kind": "workspace", "id": workspace.id, "label": workspace.name},
        "before": _said(before),
        "after": _said(after),
    }
    audit.record(session, audit.Actor("system", None, workspace.id), Attempt("plan.granted", details, "billing"))
    return after


def subscription_of(session: Session, workspace_id: str) -> Subscription | None:
    """The subscription of a workspace; none when it never had a trial, a grant or a payment."""
    return session.get(Subscription, workspace_id)


def _paid(subscription: Subscription, at: datetime) -> Standing | None:
    status, plan = subscription.status, subscription.paid_plan
    if status is None or plan is None:
        return None
    ends_at = _end(subscription)
    if status == "canceled" or (ends_at is not None and at >= ends_at):
        plan, status, ends_at = "starter", "canceled", None
    return Standing(
        plan,
        status,
        subscription.billing,
        subscription.period_start,
        subscription.period_end,
        subscription.trial_end,
        cancel_at_period_end=status != "canceled" and subscription.cancel_at is not None,
        ends_at=ends_at,
    )


def _end(subscription: Subscription) -> datetime | None:
    unpaid = subscription.past_due_since + UNPAID if subscription.past_due_since else None
    return min((end for end in (unpaid, subscription.cancel_at) if end is not None), default=None)


def _tried(subscription: Subscription, at: datetime) -> Standing:
    start, end, plan = subscription.trial_start, subscription.trial_end, subscription.trial_plan
    if plan is None or end is None:
        return Standing()
    if at >= end:
        return Standing(trial_end=end)
    return Standing(plan, "trialing", "none", start, end, end, ends_at=end)
