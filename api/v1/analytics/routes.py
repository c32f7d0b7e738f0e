"""GET /overview, GET /timeseries."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from api import context, errors, responses
from api.guard import guarded
from api.http import Blueprint
from api.reading import Source, published
from api.scopes import Scope
from api.v1.analytics import queries, rows
from api.v1.analytics.queries import Sums
from api.v1.analytics.schemas import DayRow, ModelQuery, Overview
from api.windows import DateRange, DateRangeQuery

bp = Blueprint("analytics", __name__, description="The profile as a whole, over a window and day by day.")


@bp.route("/overview")
@guarded(scope=Scope.ANALYTICS_READ)
@bp.arguments(DateRangeQuery, location="query")
@bp.arguments(ModelQuery, location="query")
@responses.tagged
@bp.response(200, Overview)
def overview(window: DateRange, query: dict[str, Any]) -> dict[str, Any]:
    """Spend, cash and coverage of a window, beside the window before it

    The window before has as many days and ends the day before. `coverage` says of all conversions how many were
    credited to a campaign and, of the others, why not.
    """
    before = _before(window)
    with published("/overview", {"window": window, **query}) as source:
        _describe(window, query["model"], source)
        sums = (Sums(), Sums())
        if source is not None:
            sums = queries.two_windows(source.reader, source.profile, query["model"], before, window)
        digits = source.profile.digits if source else 0
        previous, current = (
            rows.window_figures(one, of, digits) for one, of in zip((before, window), sums, strict=True)
        )
        return {"current": current, "previous": previous}


@bp.route("/timeseries")
@guarded(scope=Scope.ANALYTICS_READ)
@bp.arguments(DateRangeQuery, location="query")
@bp.arguments(ModelQuery, location="query")
@responses.tagged
@bp.response(200, DayRow(many=True))
def timeseries(window: DateRange, query: dict[str, Any]) -> list[dict[str, Any]]:
    """Spend, cash and conversions per day

    One row for every day of the window, in order, zeros included; none before the first snapshot.
    """
    with published("/timeseries", {"window": window, **query}) as source:
        _describe(window, query["model"], source)
        if source is None:
            return []
        found = queries.by_day(source.reader, source.profile, query["model"], window)
        return [rows.day_row(day, found.get(day, Sums()), source.profile.digits) for day in window.days()]


def _before(window: DateRange) -> DateRange:
    days = len(window.days())
    try:
        return DateRange(window.date_from - timedelta(days=days), window.date_from - timedelta(days=1))
    except OverflowError:
        raise errors.INVALID_DATE_RANGE("date_from: the window before it would begin before the year 1") from None


def _describe(window: DateRange, model: str, source: Source | None) -> None:
    context.meta(
        date_from=window.date_from,
        date_to=window.date_to,
        model=model,
        delivery_through=source.profile.delivery_through if source else None,
    )
