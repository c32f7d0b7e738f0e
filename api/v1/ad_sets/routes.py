"""POST /ad-sets/{id}/budget."""

from __future__ import annotations

from typing import Any

from api.guard import guarded
from api.http import Blueprint
from api.roles import Role
from api.scopes import Scope
from api.v1.campaigns.change_schemas import BudgetBody, BudgetChange
from api.v1.campaigns.changes import changed
from api.writing import idempotent

bp = Blueprint("ad_set_changes", __name__, description="Re-budget ad sets at their platform.")


@bp.route("/ad-sets/<ad_set_id>/budget", methods=["POST"])
@guarded(scope=Scope.CAMPAIGNS_APPLY, role=Role.EDITOR)
@bp.arguments(BudgetBody)
@idempotent()
@bp.response(200, BudgetChange)
def change_ad_set_budget(body: dict[str, Any], ad_set_id: str) -> dict[str, Any]:
    """Change an ad set's daily or lifetime budget

    By at most half of the live budget of that type in one step, and never under 100 minor units. Refused when the ad
    set or its campaign is archived or deleted. Audited, whatever comes of it.
    """
    return changed("budget", "ad_set", ad_set_id, body)
