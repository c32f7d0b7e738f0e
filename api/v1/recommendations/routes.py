"""GET W/recommendations, POST /recommendations/{id}/apply, POST /recommendations/{id}/dismiss."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from flask import request

from api import auth, context, db, idempotency, op_lists
from api.guard import guarded, workspace_guarded
from api.http import Blueprint
from api.models import Recommendation
from api.op_lists import By
from api.reading_across import opened
from api.roles import Role
from api.scopes import Scope
from api.v1.recommendations import deciding
from api.v1.recommendations.schemas import ApplyBody, Decided, DismissBody, RecommendationRow, RecommendationsQuery
from api.v1.recommendations.shape import told
from api.writing import actor, idempotent, session

bp = Blueprint("recommendations", __name__, description="What the scores suggest doing.")

ORDER = (
    By(Recommendation.created_at.expression, lambda row: row.created_at, descending=True),
    By(Recommendation.id.expression, lambda row: row.id),
)


@bp.route("/workspaces/<workspace_id>/recommendations")
@workspace_guarded(scope=Scope.CAMPAIGNS_READ)
@bp.arguments(RecommendationsQuery, location="query")
@bp.response(200, RecommendationRow(many=True))
def recommendations(query: dict[str, Any], workspace_id: str) -> list[dict[str, Any]]:
    """What the scores suggest doing, across profiles

    Made anew from each snapshot of the 28-day scores; an ad has at most one open recommendation.
    """
    profiles = [one.id for one in opened(workspace_id, query["profile_ids"])]
    wanted = sa.select(Recommendation).where(
        Recommendation.profile_id.in_(profiles), Recommendation.score_window == query["window"]
    )
    if query["status"] != "all":
        wanted = wanted.where(Recommendation.status == query["status"])
    if query["kinds"] is not None:
        wanted = wanted.where(Recommendation.kind.in_(query["kinds"]))
    filters = {name: query[name] for name in ("status", "kinds", "window", "profile_ids")}
    filters["seen"] = sorted(profiles)
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        rows = op_lists.page(
            reading, wanted, ORDER, query, route="W/recommendations", owner=workspace_id, filters=filters
        )
        return told(reading, rows)


@bp.route("/recommendations/<recommendation_id>/apply", methods=["POST"])
@guarded(scope=Scope.CAMPAIGNS_APPLY, role=Role.EDITOR, uuids=["recommendation_id"])
@bp.arguments(ApplyBody)
@idempotent()
@bp.response(200, Decided)
def apply_recommendation(body: dict[str, Any], recommendation_id: str) -> dict[str, Any]:
    """Apply a recommendation

    A budget is changed and an ad paused at its platform, by the rules and with the refusals of those routes; what the
    platform refuses leaves the recommendation open. Kinds without an action are only marked. With `dry_run` nothing
    changes, and `change` says what would.
    """
    settings, caller, who = context.settings(), auth.current(), actor()
    row = deciding.standing(settings, by=caller, recommendation_id=recommendation_id)
    key = idempotency.read_key(request.headers.get("Idempotency-Key"))
    change = deciding.change(settings, row, by=caller, actor=who, body=body, idempotency_key=key)
    if not body["dry_run"]:
        said = {name: body[name] for name in ("note", "applied_by") if body[name] is not None}
        row = deciding.decide(
            session(),
            recommendation_id=recommendation_id,
            by=caller,
            actor=who,
            status="applied",
            said=said,
            is_done=change is not None,
            request_id=context.request_id(),
        )
    return {**told(session(), [row])[0], "change": change}


@bp.route("/recommendations/<recommendation_id>/dismiss", methods=["POST"])
@guarded(scope=Scope.CAMPAIGNS_APPLY, role=Role.EDITOR, uuids=["recommendation_id"])
@bp.arguments(DismissBody)
@idempotent()
@bp.response(200, Decided)
def dismiss_recommendation(body: dict[str, Any], recommendation_id: str) -> dict[str, Any]:
    """Dismiss a recommendation: the same is not suggested for the ad again for 14 days

    Nothing is changed at the platform. Whoever decides first decides: one that was applied, dismissed or has expired
    answers 409 `invalid_state`/`recommendation_closed`, and there is no way to open it again. An agent's decision is
    listed among its write-backs and needs them to be switched on.
    """
    settings, caller = context.settings(), auth.current()
    deciding.standing(settings, by=caller, recommendation_id=recommendation_id)
    row = deciding.decide(
        session(),
        recommendation_id=recommendation_id,
        by=caller,
        actor=actor(),
        status="dismissed",
        said={"reason": body["reason"]} if body["reason"] is not None else {},
        request_id=context.request_id(),
    )
    return {**told(session(), [row])[0], "change": None}
