"""POST /ads/{id}/pause and /resume."""

from __future__ import annotations

from typing import Any

from api.guard import guarded
from api.http import Blueprint
from api.roles import Role
from api.scopes import Scope
from api.v1.campaigns.change_schemas import ChangeBody, StatusChange
from api.v1.campaigns.changes import changed
from api.writing import idempotent

bp = Blueprint("ad_changes", __name__, description="Pause and resume ads at their platform.")


@bp.route("/ads/<ad_id>/pause", methods=["POST"])
@guarded(scope=Scope.CAMPAIGNS_APPLY, role=Role.EDITOR)
@bp.arguments(ChangeBody)
@idempotent()
@bp.response(200, StatusChange)
def pause_ad(body: dict[str, Any], ad_id: str) -> dict[str, Any]:
    """Pause an ad at its platform

    By the rules for campaigns, and with their codes: an ad under an archived or deleted campaign is refused too.
    """
    return changed("pause", "ad", ad_id, body)


@bp.route("/ads/<ad_id>/resume", methods=["POST"])
@guarded(scope=Scope.CAMPAIGNS_APPLY, role=Role.EDITOR)
@bp.arguments(ChangeBody)
@idempotent()
@bp.response(200, StatusChange)
def resume_ad(body: dict[str, Any], ad_id: str) -> dict[str, Any]:
    """Let a paused ad run again

    By the rules for campaigns. An ad whose campaign or ad set is paused runs only once those do.
    """
    return changed("resume", "ad", ad_id, body)
