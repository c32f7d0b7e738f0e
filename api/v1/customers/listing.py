"""GET /customers: who the customers are, and what they did."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from api import auth, context, customers, db, masking, pagination, pii_log, responses
from api.customer_keys import customer_key
from api.guard import guarded
from api.http import Blueprint
from api.money import amount
from api.person_names import NOBODY, Names, names
from api.pii_log import Level
from api.reading import Source, published
from api.scopes import Scope
from api.v1.conversions.rows import timestamp
from api.v1.customers import list_queries as queries
from api.v1.customers.list_schemas import CustomerRow, CustomersQuery
from api.windows import DateRange, DateRangeQuery

bp = Blueprint("customers", __name__, description="Customers by name.")

ROUTE = "/customers"


@bp.route("/customers")
@guarded(scope=Scope.CUSTOMERS_READ, units=3)
@bp.arguments(DateRangeQuery, location="query")
@bp.arguments(CustomersQuery, location="query")
@responses.tagged
@bp.response(200, CustomerRow(many=True))
def customer_list(window: DateRange, query: dict[str, Any]) -> list[dict[str, Any]]:
    """Customers who were there in the window in any way, last seen first

    Figures are those of all time. Whoever is known by a browser alone, and did not convert, is a visitor and no
    customer. Whoever a record alone names, as that of a payment that failed, is one without conversions and touches.
    Each answer is written into the log of personal data, without its content.
    """
    with db.transaction(context.settings().operational_url, durable=False) as unit:
        level = masking.level(unit, auth.current(), query["pii"])
        erased = customers.erasures_told(unit)
    asked = {"window": window, **query, "level": level, "erased": erased}
    filters = {name: str(asked[name]) for name in ("window", "search", "level")}
    listing = pagination.Listing(ROUTE, auth.current().profile.id, filters)
    resume = pagination.read(_key(), listing, query["cursor"]) if query["cursor"] is not None else None
    with published(ROUTE, asked, resume=resume) as source:
        context.meta(date_from=window.date_from, date_to=window.date_to, pii_level_applied=level)
        context.paginate(cursor=None, has_next=False)
        found = _page(source, window, query, level, listing, resume) if source else []
    pii_log.listed(ROUTE, "customer", len(found), level)
    return found


def _page(
    source: Source,
    window: DateRange,
    query: dict[str, Any],
    level: Level,
    listing: pagination.Listing,
    resume: pagination.Place | None,
) -> list[dict[str, Any]]:
    reader, profile, limit = source.reader, source.profile, query["limit"]
    with names(context.settings(), reader.snapshot_id, profile.profile_key) as named:
        among = named.starting_with(query["search"], masked=level == "masked") if query["search"] else None
        after = resume.position if resume else None
        found = queries.page(reader, profile, window, among=among, most=limit + 1, after=after)
        if len(found) > limit:
            cursor = pagination.issue(_key(), listing, queries.position(found[limit - 1]), reader.snapshot_id)
            context.paginate(cursor=cursor, has_next=True)
        return _rows(source, found[:limit], named, level)


def _rows(source: Source, page: Collection[dict[str, Any]], named: Names, level: Level) -> list[dict[str, Any]]:
    keys = [row["person_key"] for row in page]
    with db.transaction(context.settings().operational_url, durable=False) as unit:
        gone = customers.erased_since(unit, source.reader, source.profile, keys)
    known = named.of(keys)
    return [
        {**_figures(row, source), **masking.told(known.get(row["person_key"], NOBODY), level)}
        for row in page
        if row["person_key"] not in gone
    ]


def _figures(row: dict[str, Any], source: Source) -> dict[str, Any]:
    channels = row["touch_channels"]
    return {
        "customer_key": customer_key(context.settings(), auth.current().profile.id, row["person_ref"]),
        "first_seen_at": timestamp(row["first_seen"]),
        "last_seen_at": timestamp(row["last_seen"]),
        "conversions": row["conversions"],
        "cash_revenue": amount(row["cash_minor"], source.profile.digits),
        "touches": row["touches"],
        "touch_channels": channels.split(",") if channels else [],
        "first_ad_external_id": row["first_ad_external_id"],
    }


def _key() -> bytes:
    return context.settings().signing_key()
