"""GET /campaigns/platform-comparison."""

from __future__ import annotations

from typing import Any

from api import auth, context, pagination, responses
from api.guard import guarded
from api.http import Blueprint
from api.reading import Source, published
from api.scopes import Scope
from api.v1.campaigns import comparison_queries as queries
from api.v1.campaigns import comparison_rows as rows
from api.v1.campaigns.comparison_schemas import ComparisonQuery, PlatformComparison
from api.v1.campaigns.queries import Slice
from api.windows import DateRange, DateRangeQuery

ROUTE = "/campaigns/platform-comparison"

bp = Blueprint("platform_comparison", __name__, description="What ad platforms claim, beside what we credit them.")


@bp.route("/campaigns/platform-comparison")
@guarded(scope=Scope.CAMPAIGNS_READ)
@bp.arguments(DateRangeQuery, location="query")
@bp.arguments(ComparisonQuery, location="query")
@responses.tagged
@bp.response(200, PlatformComparison)
def platform_comparison(window: DateRange, query: dict[str, Any]) -> dict[str, Any]:
    """What each platform claims, beside what the service credits it

    The two sides are never added. Rows are the entities of the level with delivery or credit; rows and unassigned
    credit add up to the platform's total: cash under every model, conversions under the single-credit ones.
    """
    of = Slice(window, query["level"], query["model"])
    free = {"cursor", "limit"}
    filters = {name: value for name, value in query.items() if name not in free}
    dates = {"date_from": window.date_from, "date_to": window.date_to}
    listing = pagination.Listing(ROUTE, auth.current().profile.id, {**filters, **dates})
    resume = pagination.read(_key(), listing, query["cursor"]) if query["cursor"] is not None else None
    with published(ROUTE, {"window": window, **query}, resume=resume) as source:
        context.meta(**dates, level=of.level, model=of.model, rows_total=0, next_cursor=None)
        if source is None:
            return {"platforms": [], "rows": []}
        totals = queries.platform_totals(source.reader, source.profile, of)
        return {
            "platforms": [rows.platform_total(total, source.profile) for total in totals],
            "rows": _entity_rows(source, of, listing, resume, query["limit"]),
        }


def _entity_rows(
    source: Source, of: Slice, listing: pagination.Listing, resume: pagination.Place | None, limit: int
) -> list[dict[str, Any]]:
    after = resume.position if resume else None
    found = queries.entity_page(source.reader, source.profile, of, most=limit + 1, after=after)
    page = found[:limit]
    next_cursor = None
    if len(found) > len(page):
        next_cursor = pagination.issue(_key(), listing, queries.position(page[-1]), source.reader.snapshot_id)
    context.meta(rows_total=found[0]["rows_total"] if found else 0, next_cursor=next_cursor)
    return [rows.entity_row(row, of.level, source.profile.digits) for row in page]


def _key() -> bytes:
    return context.settings().signing_key()
