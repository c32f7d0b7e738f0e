"""GET /ads/{id}, GET /ads/trend."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from api import context, errors, responses
from api.guard import guarded
from api.http import Blueprint
from api.money import Unit
from api.reading import Source, published
from api.scopes import Scope
from api.served import ProfileFacts
from api.v1.ads import queries, rows
from api.v1.ads.schemas import AdDetail, AdQuery, AdTrendQuery, AdTrendRow
from api.v1.campaigns.queries import Slice, reach_of
from api.v1.top_performers import queries as leaderboard
from api.v1.top_performers.queries import Wanted
from api.v1.top_performers.rows import score
from api.v1.top_performers.terms import LED_OVER
from api.windows import DateRange, DateRangeQuery, OptionalDateRangeQuery

DEFAULT_DAYS = 28

bp = Blueprint("ads", __name__, description="One ad: what it shows, what it delivered and what it brought in.")


@bp.route("/ads/<ad_id>")
@guarded(scope=Scope.CAMPAIGNS_READ)
@bp.arguments(OptionalDateRangeQuery, location="query")
@bp.arguments(AdQuery, location="query")
@responses.tagged
@bp.response(200, AdDetail)
def ad_detail(asked: DateRange | None, query: dict[str, Any], ad_id: str) -> dict[str, Any]:
    """One ad with its creative, delivery, credited outcomes and the platform's own claims

    `ad_id` is the service's id or the platform's. Without dates the window is the 28 days that end on the last day
    every ad account has delivered. An id that several platforms use is not found; ask by the service's id.
    """
    with published("/ads/{id}", {"ad_id": ad_id, "window": asked, **query}) as source:
        found = queries.ad(source.reader, source.profile, ad_id) if source else None
        if source is None or found is None:
            raise errors.NOT_FOUND("No ad of this profile has this id.")
        of = Slice(asked or default_window(source.profile), "ad", query["model"])
        context.meta(date_from=of.window.date_from, date_to=of.window.date_to, level=of.level, model=of.model)
        return _detail(source, of, found)


@bp.route("/ads/trend")
@guarded(scope=Scope.CAMPAIGNS_READ)
@bp.arguments(DateRangeQuery, location="query")
@bp.arguments(AdTrendQuery, location="query")
@responses.tagged
@bp.response(200, AdTrendRow(many=True))
def ad_trend(window: DateRange, query: dict[str, Any]) -> list[dict[str, Any]]:
    """Delivery per day of up to ten ads, with the conversations they started

    One row per ad and day, zeros included, ads in the order asked; without ids the ten that spent most. Ids that are
    unknown or another profile's give no rows.
    """
    of = Slice(window, "ad")
    with published("/ads/trend", {"window": window, **query}) as source:
        context.meta(date_from=window.date_from, date_to=window.date_to, level=of.level)
        if source is None:
            return []
        reader, profile = source.reader, source.profile
        ids = query["entity_ids"]
        ads = queries.dearest(reader, profile, of) if ids is None else queries.ads_of(reader, profile, ids)
        measured = queries.days_of(reader, profile, of, [ad["entity_key"] for ad in ads])
        return [
            rows.trend_row(ad, day, measured.get((ad["entity_key"], day)), profile.digits)
            for ad in ads
            for day in window.days()
        ]


def default_window(profile: ProfileFacts) -> DateRange:
    """28 days up to the last fully synced one; without delivery, up to the day the figures are of."""
    return DateRange((last := _last_day(profile)) - timedelta(days=DEFAULT_DAYS - 1), last)


def _last_day(profile: ProfileFacts) -> date:
    read = profile.data_as_of or datetime.now(UTC)
    return profile.delivery_through or read.astimezone(ZoneInfo(profile.time_zone)).date()


def _detail(source: Source, of: Slice, ad: dict[str, Any]) -> dict[str, Any]:
    reader, profile = source.reader, source.profile
    key = ad["entity_key"]
    delivered = queries.delivered(reader, profile, replace(of, model=None), key)
    credited = queries.credited(reader, profile, of, key)
    reach = reach_of(reader, profile, of, [key]).get(key)
    return rows.detail(ad, delivered, credited, reach, _score(source, key), profile.digits)


def _score(source: Source, key: int) -> dict[str, Any] | None:
    unit = Unit.own(source.profile.digits)
    of = Wanted(LED_OVER, most=1, entity_key=key)
    found = leaderboard.ranked(source.reader, {source.profile.profile_key: unit}, of)
    return score(found[0], unit) if found else None
