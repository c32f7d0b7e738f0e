"""Plans and what they allow: the one table of allowances, and the refusals when one is spent."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import context, errors
from api.db import now
from api.models import ApiKey, Membership, Profile, SharedSnapshot, WebhookSubscription, Workspace
from api.shared_snapshots import in_status

PLANS = ("starter", "growth", "agency", "enterprise")
# None: without limit
ALLOWANCES: dict[str, dict[str, int | None]] = {
    "active_profiles": {"starter": 3, "growth": 15, "agency": 75, "enterprise": None},
    "members": {"starter": 3, "growth": 15, "agency": 75, "enterprise": None},
    "guests": {"starter": 5, "growth": 50, "agency": 300, "enterprise": None},
    "api_keys": {"starter": 5, "growth": 20, "agency": 50, "enterprise": 200},
    "webhook_subscriptions": {"starter": 3, "growth": 20, "agency": 100, "enterprise": 500},
    "snapshot_links": {"starter": 5, "growth": 100, "agency": 1000, "enterprise": None},
    "sender_domain": {"starter": 0, "growth": None, "agency": None, "enterprise": None},
    "bulk_reports": {"starter": 0, "growth": None, "agency": None, "enterprise": None},
}

COUNTED = frozenset({"active_profiles", "members", "guests", "api_keys", "snapshot_links", "webhook_subscriptions"})


def allowance(workspace: Workspace, name: str) -> int | None:
    """How much of `name` the plan allows; None for no limit, and for all when TOUCHLEDGER_PLAN_LIMITS is off."""
    if context.settings().plan_limits == "off":
        return None
    return ALLOWANCES[name][workspace.plan]


def used(session: Session, workspace: Workspace, name: str, *, profile_id: str | None = None) -> int:
    """How much is spent of an allowance of `COUNTED`; api_keys are the own ones of one profile."""
    return int(session.scalar(_counts(workspace, profile_id)[name]) or 0)


def require_profile_room(session: Session, workspace: Workspace) -> None:
    """403 profile_limit_reached, with the plan that would fit, when no further profile is allowed.

    Locks the workspace's row, so that of two creations at once only one takes the last place.
    """
    session.scalar(sa.select(Workspace.id).where(Workspace.id == workspace.id).with_for_update(key_share=True))
    count = used(session, workspace, "active_profiles")
    if not _fits(allowance(workspace, "active_profiles"), count):
        raise errors.PROFILE_LIMIT_REACHED(
            "plan_limit_reached: the plan's active profiles are all in use.",
            upgrade_required=True,
            upgrade={"plan": _next_that_fits("active_profiles", count)},
        )


def require_room(session: Session, workspace: Workspace, name: str, *, profile_id: str | None = None) -> None:
    """402 plan_upgrade_required when no further member, guest, API key, snapshot link or subscription is allowed."""
    session.scalar(sa.select(Workspace.id).where(Workspace.id == workspace.id).with_for_update(key_share=True))
    require(workspace, name, used(session, workspace, name, profile_id=profile_id))


def require(workspace: Workspace, name: str, count: int = 0) -> None:
    """402 plan_upgrade_required unless one more of `name` beside `count` is allowed."""
    if not _fits(allowance(workspace, name), count):
        raise errors.PLAN_UPGRADE_REQUIRED(f"The plan {workspace.plan} allows no more {name.replace('_', ' ')}.")


def _fits(limit: int | None, count: int) -> bool:
    return limit is None or count < limit


def _next_that_fits(name: str, count: int) -> str:
    return next(plan for plan in PLANS if _fits(ALLOWANCES[name][plan], count))


def _counts(workspace: Workspace, profile_id: str | None) -> dict[str, sa.Select[int]]:
    def count_of(*conditions: sa.ColumnElement[bool]) -> sa.Select[int]:
        return sa.select(sa.func.count()).where(*conditions)

    of_workspace = Membership.workspace_id == workspace.id
    return {
        "active_profiles": count_of(Profile.workspace_id == workspace.id, Profile.archived_at.is_(None)),
        "members": count_of(of_workspace, Membership.role != "guest"),
        "guests": count_of(of_workspace, Membership.role == "guest"),
        "api_keys": count_of(
            ApiKey.profile_id == (profile_id or ""),
            ApiKey.revoked_at.is_(None),
            sa.or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > now()),
            ApiKey.rotated_to_id.is_(None),
            # whoever lets an app in makes no key of their own
            ApiKey.app_id.is_(None),
        ),
        "webhook_subscriptions": count_of(
            WebhookSubscription.workspace_id == workspace.id,
            # those of an archived profile are told nothing any more
            ~sa.exists().where(Profile.id == WebhookSubscription.profile_id, Profile.archived_at.is_not(None)),
        ),
        "snapshot_links": count_of(SharedSnapshot.workspace_id == workspace.id, *in_status("active", now())),
    }
