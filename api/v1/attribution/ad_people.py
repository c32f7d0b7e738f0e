"""GET /attribution/ad-people."""

from __future__ import annotations

from typing import Any

from api import auth, context, responses
from api.guard import guarded
from api.http import Blueprint
from api.reading import published
from api.scopes import Scope
from api.v1.attribution import ad_people_rows as rows
from api.v1.attribution.ad_people_queries import Asked
from api.v1.attribution.ad_people_schemas import AdPeople, AdPeopleQuery
from api.windows import DateRange, DateRangeQuery

bp = Blueprint("ad_people", __name__, description="How many people ads brought, counted once each.")


@bp.route("/attribution/ad-people")
@guarded(scope=Scope.ANALYTICS_READ)
@bp.arguments(DateRangeQuery, location="query")
@bp.arguments(AdPeopleQuery, location="query")
@responses.tagged
@bp.response(200, AdPeople)
def ad_people(window: DateRange, query: dict[str, Any]) -> dict[str, Any]:
    """People brought by ads, per month, per day or per ad

    Exact counts of distinct people. A person of two months counts in each and once in totals, so totals is not the
    sum of the buckets. The ad is the id the touch carried, synced or not, and never read from UTM text.
    """
    asked = Asked(window, query["group_by"], query["channel"], query["first_only"])
    with published("/attribution/ad-people", {"window": window, **query}) as source:
        context.meta(date_from=window.date_from, date_to=window.date_to)
        return rows.result(source, asked, limit=query["limit"], timezone=auth.current().profile.timezone)
