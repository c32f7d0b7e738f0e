"""GET /top-performers."""

from __future__ import annotations

from typing import Any

from api import context, responses
from api.guard import guarded
from api.http import Blueprint
from api.money import Unit
from api.reading import Source, published
from api.scopes import Scope
from api.v1.top_performers import queries, rows
from api.v1.top_performers.asking import wanted
from api.v1.top_performers.schemas import TopPerformer, TopPerformersQuery

bp = Blueprint("top_performers", __name__, description="Ads ranked against comparable ads, and why they rank so.")


@bp.route("/top-performers")
@guarded(scope=Scope.CAMPAIGNS_READ)
@bp.arguments(TopPerformersQuery, location="query")
@responses.tagged
@bp.response(200, TopPerformer(many=True))
def top_performers(query: dict[str, Any]) -> list[dict[str, Any]]:
    """The best ads of one profile by their score

    An empty list usually means that nothing is scored yet. Act on mature and calibrated ads; cold ones are provisional.
    """
    context.meta(score_window=query["window"], score_date=None, config_version=None)
    with published("/top-performers", query) as source:
        return _ranked(source, query) if source else []


def _ranked(source: Source, query: dict[str, Any]) -> list[dict[str, Any]]:
    reader, key = source.reader, source.profile.profile_key
    unit = Unit.own(source.profile.digits)
    if state := queries.states(reader, [key], query["window"]).get(key):
        context.meta(score_date=state.score_date, config_version=state.config_version)
    return [rows.row(found, unit) for found in queries.ranked(reader, {key: unit}, wanted(query))]
