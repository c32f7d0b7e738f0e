"""GET W/creative-archetypes, GET W/creative-patterns, GET W/creative-patterns/dimensions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api import responses
from api.guard import workspace_guarded
from api.http import Blueprint
from api.reading_across import opened, published_across
from api.scopes import Scope
from api.v1.creative_patterns import rows
from api.v1.creative_patterns.queries import Counted, counted
from api.v1.creative_patterns.schemas import Archetypes, Dimensions, Patterns, PatternsQuery, WindowQuery

bp = Blueprint("creative_patterns", __name__, description="What winning creatives have in common.")


@bp.route("/workspaces/<workspace_id>/creative-archetypes")
@workspace_guarded(scope=Scope.CAMPAIGNS_READ)
@bp.arguments(WindowQuery, location="query")
@responses.tagged
@bp.response(200, Archetypes)
def creative_archetypes(query: dict[str, Any], workspace_id: str) -> dict[str, Any]:
    """Archetypes of creatives and how often each wins

    An archetype is a hook, a format and an angle. With three or more profiles only what ran in three of them is told.
    """
    found = _counted("W/creative-archetypes", query, workspace_id, "archetypes")
    return {"score_window": query["window"], "archetypes": rows.archetypes(found)}


@bp.route("/workspaces/<workspace_id>/creative-patterns")
@workspace_guarded(scope=Scope.CAMPAIGNS_READ)
@bp.arguments(PatternsQuery, location="query")
@responses.tagged
@bp.response(200, Patterns)
def creative_patterns(query: dict[str, Any], workspace_id: str) -> dict[str, Any]:
    """Pairs of traits and how often they win together

    With three or more profiles only what ran in three of them is told: else businesses would be compared.
    """
    fewest = query["min_cluster_size"]
    found = _counted("W/creative-patterns", query, workspace_id, "patterns")
    return {"score_window": query["window"], "min_cluster_size": fewest, "patterns": rows.patterns(found, fewest)}


@bp.route("/workspaces/<workspace_id>/creative-patterns/dimensions")
@workspace_guarded(scope=Scope.CAMPAIGNS_READ)
@bp.arguments(WindowQuery, location="query")
@responses.tagged
@bp.response(200, Dimensions)
def winning_dimensions(query: dict[str, Any], workspace_id: str) -> dict[str, Any]:
    """Values of each dimension and how often they win

    Told from five ads on; with three or more profiles only what ran in three of them.
    """
    found = _counted("W/creative-patterns/dimensions", query, workspace_id, "dimensions")
    return {"score_window": query["window"], "dimensions": rows.dimensions(found)}


def _counted(route: str, query: Mapping[str, Any], workspace_id: str, what: str) -> Counted:
    with published_across(route, query, opened(workspace_id, query["profile_ids"])) as found:
        if found is None:
            return Counted([], included=0)
        return counted(found.reader, [one.profile_key for one in found.profiles], query["window"], what)
