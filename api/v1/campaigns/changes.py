"""POST /campaigns/{id}/pause, /resume and /budget."""

from __future__ import annotations

from typing import Any

from flask import request

from api import auth, context, idempotency, platform_writes
from api.guard import guarded
from api.http import Blueprint
from api.platform_rules import Verb, Wanted
from api.roles import Role
from api.scopes import Scope
from api.v1.campaigns.change_schemas import BudgetBody, BudgetChange, ChangeBody, StatusChange
from api.writing import actor, idempotent
from connectors.ad_platform import Level

bp = Blueprint("campaign_changes", __name__, description="Pause, resume and re-budget campaigns at their platform.")


@bp.route("/campaigns/<path:campaign_id>/pause", methods=["POST"])
@guarded(scope=Scope.CAMPAIGNS_APPLY, role=Role.EDITOR)
@bp.arguments(ChangeBody)
@idempotent()
@bp.response(200, StatusChange)
def pause_campaign(body: dict[str, Any], campaign_id: str) -> dict[str, Any]:
    """Pause a campaign at its platform

    Decided by the live status: a paused one stays as it is, an archived or deleted one is refused. Audited, whatever
    comes of it.
    """
    return changed("pause", "campaign", campaign_id, body)


@bp.route("/campaigns/<path:campaign_id>/resume", methods=["POST"])
@guarded(scope=Scope.CAMPAIGNS_APPLY, role=Role.EDITOR)
@bp.arguments(ChangeBody)
@idempotent()
@bp.response(200, StatusChange)
def resume_campaign(body: dict[str, Any], campaign_id: str) -> dict[str, Any]:
    """Let a paused campaign run again

    An active one stays as it is; an archived or deleted one is never brought back. Audited, whatever comes of it.
    """
    return changed("resume", "campaign", campaign_id, body)


@bp.route("/campaigns/<path:campaign_id>/budget", methods=["POST"])
@guarded(scope=Scope.CAMPAIGNS_APPLY, role=Role.EDITOR)
@bp.arguments(BudgetBody)
@idempotent()
@bp.response(200, BudgetChange)
def change_campaign_budget(body: dict[str, Any], campaign_id: str) -> dict[str, Any]:
    """Change a campaign's daily or lifetime budget

    By at most half of the live budget of that type in one step, and never under 100 minor units. Audited, whatever
    comes of it.
    """
    return changed("budget", "campaign", campaign_id, body)


def changed(verb: Verb, level: Level, id_: str, body: dict[str, Any]) -> dict[str, Any]:
    """Ask for one change on behalf of the caller of this request."""
    budget = {name: body[name] for name in ("budget_type", "amount_minor") if name in body}
    return platform_writes.change(
        context.settings(),
        wanted=Wanted(verb, level, id_, **budget),
        by=auth.current(),
        actor=actor(),
        dry_run=body["dry_run"],
        note=body["note"],
        applied_by=body["applied_by"],
        idempotency_key=idempotency.read_key(request.headers.get("Idempotency-Key")),
    )
