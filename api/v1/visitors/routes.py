"""GET /visitors: who came by, as far as a tracker could tell."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from api import auth, context, customers, db, pagination, pii_log, responses
from api.auth import Kind
from api.customer_keys import customer_key
from api.guard import guarded
from api.http import Blueprint
from api.person_names import NOBODY, names
from api.reading import Source, published
from api.scopes import Scope
from api.v1.conversions.rows import timestamp
from api.v1.visitors import queries
from api.v1.visitors.schemas import VisitorRow, VisitorsQuery
from api.windows import DateRange, DateRangeQuery

bp = Blueprint("visitors", __name__, description="Browsers that came by, and whose they are.")

ROUTE = "/visitors"
COUNTED = ("visitor_id", "sessions", "pageviews", "channel", "source", "country", "device")


@bp.route("/visitors")
@guarded(scope=Scope.VISITORS_READ, units=3, kinds={Kind.API_KEY, Kind.SESSION})
@bp.arguments(DateRangeQuery, location="query")
@bp.arguments(VisitorsQuery, location="query")
@responses.tagged
@bp.response(200, VisitorRow(many=True))
def visitor_list(window: DateRange, query: dict[str, Any]) -> list[dict[str, Any]]:
    """Browsers that sent anything in the window, last seen first

    Figures are those of all time. A browser has a customer once its person is known by more than the browser; nobody
    reads visitors of a healthcare business. Each answer is written into the log of personal data.
    """
    listing = pagination.Listing(ROUTE, auth.current().profile.id, {"window": str(window)})
    resume = pagination.read(_key(), listing, query["cursor"]) if query["cursor"] is not None else None
    with db.transaction(context.settings().operational_url, durable=False) as unit:
        erased = customers.erasures_told(unit)
    with published(ROUTE, {"window": window, **query, "erased": erased}, resume=resume) as source:
        context.meta(date_from=window.date_from, date_to=window.date_to, pii_level_applied="full")
        context.paginate(cursor=None, has_next=False)
        found = _page(source, window, query["limit"], listing, resume) if source else []
    pii_log.listed(ROUTE, "visitor", len(found), "full")
    return found


def _page(
    source: Source, window: DateRange, limit: int, listing: pagination.Listing, resume: pagination.Place | None
) -> list[dict[str, Any]]:
    reader, after = source.reader, resume.position if resume else None
    found = queries.page(reader, source.profile, window, most=limit + 1, after=after)
    if len(found) > limit:
        cursor = pagination.issue(_key(), listing, queries.position(found[limit - 1]), reader.snapshot_id)
        context.paginate(cursor=cursor, has_next=True)
    return _rows(source, found[:limit])


def _rows(source: Source, page: Collection[dict[str, Any]]) -> list[dict[str, Any]]:
    people = [row["person_key"] for row in page if row["person_key"] is not None]
    with db.transaction(context.settings().operational_url, durable=False) as unit:
        gone = customers.erased_since(unit, source.reader, source.profile, people)
        browsers = customers.erased_identifiers(unit, [row["visitor_id"] for row in page])
    with names(context.settings(), source.reader.snapshot_id, source.profile.profile_key) as named:
        known = named.of(people)
    rows = []
    for row in page:
        if row["person_key"] in gone or row["visitor_id"] in browsers:
            continue
        person, named_as = row["person_ref"], known.get(row["person_key"], NOBODY)
        rows.append(
            {
                **{name: row[name] for name in COUNTED},
                "customer_key": person and customer_key(context.settings(), auth.current().profile.id, person),
                "name": named_as.name,
                "email": named_as.email,
                "last_seen_at": timestamp(row["last_seen"]),
            }
        )
    return rows


def _key() -> bytes:
    return context.settings().signing_key()
