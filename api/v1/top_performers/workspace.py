"""GET W/top-performers, GET W/top-performers/brief."""

from __future__ import annotations

from typing import Any

from api import auth, context, responses
from api.guard import workspace_guarded
from api.http import Blueprint
from api.reading_across import opened, published_across
from api.scopes import Scope
from api.v1.top_performers import queries
from api.v1.top_performers.across import EMPTY, leaderboard
from api.v1.top_performers.schemas import Brief, BriefQuery, WorkspaceTopPerformer, WorkspaceTopPerformersQuery

bp = Blueprint("top_performers_across", __name__, description="The best ads of all profiles of a workspace.")


@bp.route("/workspaces/<workspace_id>/top-performers")
@workspace_guarded(scope=Scope.CAMPAIGNS_READ)
@bp.arguments(WorkspaceTopPerformersQuery, location="query")
@responses.tagged
@bp.response(200, WorkspaceTopPerformer(many=True))
def workspace_top_performers(query: dict[str, Any], workspace_id: str) -> list[dict[str, Any]]:
    """The best ads across profiles, by the scores they have in their own

    Ads are compared with ads of the same profile, and these scores share one scale. Money is converted to the
    workspace's currency at the newest rates; where none is known it is null.
    """
    profiles, currency = opened(workspace_id, query["profile_ids"]), auth.current().workspace.reporting_currency
    context.meta(score_window=query["window"], **EMPTY.meta())
    with published_across("W/top-performers", query, profiles) as found:
        if found is None:
            return []
        answer = leaderboard(found, currency, query)
        context.meta(**answer.meta())
        return list(answer.rows)


@bp.route("/workspaces/<workspace_id>/top-performers/brief")
@workspace_guarded(scope=Scope.CAMPAIGNS_READ)
@bp.arguments(BriefQuery, location="query")
@responses.tagged
@bp.response(200, Brief)
def top_performers_brief(query: dict[str, Any], workspace_id: str) -> dict[str, Any]:
    """Six counters that sum the leaderboard up

    Counts the ads that delivered in the window, of every profile of the workspace that the caller can open, or of those
    in `profile_ids`; with zeros before anything is published or scored. It changes when the scores do, once a day: the
    webhook `top_performers.updated` says so.
    """
    profiles = opened(workspace_id, query["profile_ids"])
    with published_across("W/top-performers/brief", query, profiles) as found:
        if found is None:
            return {"score_window": query["window"], **dict.fromkeys(Brief.COUNTERS, 0)}
        keys = [one.profile_key for one in found.profiles]
        return {"score_window": query["window"], **queries.brief(found.reader, keys, query["window"])}
