"""GET W/experiments: lift and split studies of the ad platforms, with our result and the platform's apart."""

from __future__ import annotations

from typing import Any

from api import context, pagination, responses
from api.guard import workspace_guarded
from api.http import Blueprint
from api.reading_across import Across, opened, published_across
from api.scopes import Scope
from api.v1.workspaces import experiment_queries, experiment_rows
from api.v1.workspaces.experiment_schemas import Experiment, ExperimentsQuery

ROUTE = "/workspaces/experiments"

bp = Blueprint("experiments", __name__, description="Studies that ad platforms ran.")


@bp.route("/workspaces/<workspace_id>/experiments")
@workspace_guarded(scope=Scope.CAMPAIGNS_READ)
@bp.arguments(ExperimentsQuery, location="query")
@responses.tagged
@bp.response(200, Experiment(many=True))
def experiments(query: dict[str, Any], workspace_id: str) -> list[dict[str, Any]]:
    """Lift and split studies of the workspace's profiles, newest first

    `service_result` is ours, of finished studies: the platform's counts of a holdout, since only it knows who saw
    nothing, and our own credit of a split. `platform_result` is what the platform concludes. Neither is ever added to
    the other.
    """
    profiles = opened(workspace_id, query["profile_ids"])
    filters = {name: value for name, value in query.items() if name not in ("cursor", "limit")}
    listing = pagination.Listing(ROUTE, workspace_id, {**filters, "opened": [one.id for one in profiles]})
    key = context.settings().signing_key()
    resume = pagination.read(key, listing, query["cursor"]) if query["cursor"] is not None else None
    context.paginate(cursor=None, has_next=False)
    with published_across(ROUTE, query, profiles, resume=resume) as source:
        return _page(source, query, listing, resume) if source else []


def _page(
    source: Across, query: dict[str, Any], listing: pagination.Listing, resume: pagination.Place | None
) -> list[dict[str, Any]]:
    found = experiment_queries.listed(
        source, query["kind"], query["status"], after=resume.position if resume else None, most=query["limit"] + 1
    )
    page = found[: query["limit"]]
    if len(found) > len(page):
        position = [page[-1]["start_date"].isoformat(), page[-1]["experiment_id"]]
        key = context.settings().signing_key()
        cursor = pagination.issue(key, listing, position, source.reader.snapshot_id)
        context.paginate(cursor=cursor, has_next=True)
    arms = experiment_queries.arms_of(source, [row["experiment_id"] for row in page])
    built_at = experiment_queries.built_at(source)
    by_key = {one.profile_key: one for one in source.profiles}
    return [experiment_rows.row(one, by_key[one["profile_key"]], arms, built_at) for one in page]
