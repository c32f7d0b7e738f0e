"""GET /campaigns, GET /campaigns/trend, GET /campaigns/unattributed."""

from __future__ import annotations

from typing import Any

from flask import Response

from api import auth, context, pagination, responses
from api.guard import guarded
from api.http import Blueprint, written
from api.reading import Source, published
from api.scopes import Scope
from api.v1.campaigns import queries, rows
from api.v1.campaigns.schemas import (
    CampaignRow,
    CampaignsQuery,
    TrendQuery,
    TrendRow,
    UnattributedQuery,
    UnattributedRemainder,
)
from api.windows import DateRange, DateRangeQuery

bp = Blueprint("campaigns", __name__, description="Spend, outcomes and cost of campaigns, ad sets and ads.")


@bp.route("/campaigns")
@guarded(scope=Scope.CAMPAIGNS_READ)
@bp.arguments(DateRangeQuery, location="query")
@bp.arguments(CampaignsQuery, location="query")
@responses.tagged
@bp.response(200, CampaignRow(many=True))
def campaign_performance(window: DateRange, query: dict[str, Any]) -> Response:
    """Spend, cash and conversions per campaign, ad set or ad, best first

    Ranked by outcome value. Every entity of the level with spend, impressions or credit in the window has a row.
    """
    of = queries.Slice(window, query["level"] or "campaign", query["model"])
    listing = _listing(window, query)
    resume = pagination.read(_key(), listing, query["cursor"]) if query["cursor"] is not None else None
    with published("/campaigns", {"window": window, **query}, resume=resume) as source:
        _describe(window, level=of.level, model=of.model, rows_total=0, next_cursor=None, delivery_through=None)
        return written(_campaign_rows(source, of, query, listing, resume) if source else [])


@bp.route("/campaigns/trend")
@guarded(scope=Scope.CAMPAIGNS_READ)
@bp.arguments(DateRangeQuery, location="query")
@bp.arguments(TrendQuery, location="query")
@responses.tagged
@bp.response(200, TrendRow(many=True))
def campaign_trend(window: DateRange, query: dict[str, Any]) -> list[dict[str, Any]]:
    """Delivery per day of up to ten campaigns, ad sets or ads

    One row per entity and day, zeros included, entities in the order asked. Ids that are unknown, another profile's
    or of another level give no rows.
    """
    of = queries.Slice(window, query["level"])
    with published("/campaigns/trend", {"window": window, **query}) as source:
        _describe(window, level=of.level)
        if source is None:
            return []
        found = queries.trend(source.reader, source.profile, of, query["entity_ids"])
        return [rows.trend_row(row, source.profile.digits) for row in found]


@bp.route("/campaigns/unattributed")
@guarded(scope=Scope.CAMPAIGNS_READ)
@bp.arguments(DateRangeQuery, location="query")
@bp.arguments(UnattributedQuery, location="query")
@responses.tagged
@bp.response(200, UnattributedRemainder)
def unattributed_remainder(window: DateRange, query: dict[str, Any]) -> dict[str, Any]:
    """Conversions and cash that no entity of the level received

    The rows of GET /campaigns and this remainder add up to the profile's total: values under every model, counts
    under the single-credit ones.
    """
    of = queries.Slice(window, query["level"], query["model"])
    with published("/campaigns/unattributed", {"window": window, **query}) as source:
        _describe(window, level=of.level, model=of.model)
        if source is None:
            return rows.unattributed_remainder({}, 0, of.level)
        found = queries.unattributed(source.reader, source.profile, of)
        return rows.unattributed_remainder(found, source.profile.digits, of.level)


def _campaign_rows(
    source: Source,
    of: queries.Slice,
    query: dict[str, Any],
    listing: pagination.Listing,
    resume: pagination.Place | None,
) -> list[dict[str, Any]]:
    reader, profile = source.reader, source.profile
    found = queries.ranked_page(
        reader,
        profile,
        of,
        most=query["limit"] + 1,
        after=resume.position if resume else None,
        campaign=query["campaign_external_id"],
        ad_set=query["ad_set_external_id"],
    )
    page = found[: query["limit"]]
    more = len(found) > len(page)
    context.meta(
        rows_total=found[0]["rows_total"] if found else 0,
        next_cursor=pagination.issue(_key(), listing, queries.position(page[-1]), reader.snapshot_id) if more else None,
        delivery_through=profile.delivery_through,
    )
    if query["level"] is None:
        return [rows.campaign_row(row, profile.digits) for row in page]
    reach = queries.reach_of(reader, profile, of, [row["entity_key"] for row in page])
    return [rows.level_row(row, profile.digits, of.level, reach.get(row["entity_key"])) for row in page]


def _listing(window: DateRange, query: dict[str, Any]) -> pagination.Listing:
    free = {"cursor", "limit"}
    filters = {name: value for name, value in query.items() if name not in free}
    dates = {"date_from": window.date_from, "date_to": window.date_to}
    return pagination.Listing("/campaigns", auth.current().profile.id, {**filters, **dates})


def _key() -> bytes:
    return context.settings().signing_key()


def _describe(window: DateRange, **members: Any) -> None:
    context.meta(date_from=window.date_from, date_to=window.date_to, **members)
