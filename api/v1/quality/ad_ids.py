"""GET /quality/ad-ids."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from api import context, errors, responses, url_tags
from api.guard import guarded
from api.http import Blueprint
from api.money import amount, ratio
from api.reading import published
from api.scopes import Scope
from api.served import UNNAMED
from api.v1.quality import ad_ids_queries as queries
from api.v1.quality.ad_ids_schemas import AdIds, AdIdsQuery
from api.windows import DateRange, DateRangeQuery
from connectors.ad_platforms import PLATFORMS

bp = Blueprint("quality", __name__, description="Whether paid clicks tell which ad they came from.")

NOTHING = {"clicks": 0, "conversions": 0, "cash_minor": 0}


@bp.route("/quality/ad-ids")
@guarded(scope=Scope.ANALYTICS_READ)
@bp.arguments(DateRangeQuery, location="query")
@bp.arguments(AdIdsQuery, location="query")
@responses.tagged
@bp.response(200, AdIds)
def paid_clicks_without_ad(window: DateRange, query: dict[str, Any]) -> dict[str, Any]:
    """Paid clicks that named no ad, why, and what it costs

    Clicks count on their own day, conversions on theirs. Each row carries URL parameters that would have named the ad.
    """
    asked = queries.Asked(window, query["platform"])
    with published("/quality/ad-ids", {"window": window, **query}) as source:
        context.meta(date_from=window.date_from, date_to=window.date_to)
        if source is None:
            return _result({}, [], 0)
        by_reason = queries.by_reason(source.reader, source.profile, asked)
        if not by_reason:
            _refuse_unknown(query["platform"], queries.platforms(source.reader, source.profile))
        rows = queries.rows(source.reader, source.profile, asked, most=query["limit"])
        return _result(by_reason, rows, source.profile.digits)


def _refuse_unknown(platform: str | None, seen: Iterable[str]) -> None:
    """400 invalid_parameter for a platform that is none of this deployment's and that no click ever named."""
    known = sorted({*PLATFORMS, *seen})
    if platform is not None and platform not in known:
        raise errors.INVALID_PARAMETER(f"platform: no paid click came from it; must be one of {', '.join(known)}")


def _result(by_reason: dict[str, dict[str, int]], rows: list[dict[str, Any]], digits: int) -> dict[str, Any]:
    total = rows[0]["rows_total"] if rows else 0
    return {
        "totals": _totals(by_reason, digits),
        "by_reason": [{"reason": reason, **by_reason.get(reason, NOTHING)} for reason in UNNAMED],
        "rows": [{**row, "suggested_url_tags": url_tags.suggested_for_any(row["platform"])} for row in rows],
        "rows_total": total,
        "rows_truncated": total > len(rows),
    }


def _totals(by_reason: dict[str, dict[str, int]], digits: int) -> dict[str, Any]:
    without = [by_reason.get(reason, NOTHING) for reason in UNNAMED]
    with_ad = by_reason.get(queries.NAMED, NOTHING)["clicks"]
    without_ad = sum(sums["clicks"] for sums in without)
    return {
        "paid_clicks": with_ad + without_ad,
        "with_ad": with_ad,
        "without_ad": without_ad,
        "without_ad_pct": ratio(100 * without_ad, with_ad + without_ad),
        "conversions_affected": sum(sums["conversions"] for sums in without),
        "cash_affected": amount(sum(sums["cash_minor"] for sums in without), digits),
    }
