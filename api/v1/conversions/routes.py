"""GET /conversions, /conversions/timeseries, /conversions/list, /conversions/{id}/journey."""

from __future__ import annotations

from typing import Any

from api import auth, context, db, errors, pagination, responses
from api.goals import goals_of
from api.guard import guarded
from api.http import Blueprint
from api.reading import Source, published
from api.scopes import Scope
from api.served import CONVERSION_TYPES, profile_facts
from api.snapshot import snapshots
from api.v1.conversions import queries, rows
from api.v1.conversions.schemas import ConversionCountRow, ConversionDayRow, Journey, ListQuery, ListRow
from api.windows import DateRange, DateRangeQuery
from data_contracts.formats import Refused
from data_contracts.values import clean_text

bp = Blueprint("conversions", __name__, description="Conversions, and the paths that led to them.")

MOST_CHARACTERS = 255


@bp.route("/conversions")
@guarded(scope=Scope.CONVERSIONS_READ)
@bp.arguments(DateRangeQuery, location="query")
@responses.tagged
@bp.response(200, ConversionCountRow(many=True))
def conversion_counts(window: DateRange) -> list[dict[str, Any]]:
    """Conversions and net cash per type, most frequent first

    Of the days of the window in the profile's time zone, whoever gets the credit: no model is asked. Refunds are not
    counted; they lower the value of the payment that they belong to, on its day. A type without any conversion in the
    window is left out.
    """
    with published("/conversions", {"window": window}) as source:
        _describe(window)
        return rows.counts(_daily(source, window), source.profile.digits) if source else []


@bp.route("/conversions/timeseries")
@guarded(scope=Scope.CONVERSIONS_READ)
@bp.arguments(DateRangeQuery, location="query")
@responses.tagged
@bp.response(200, ConversionDayRow(many=True))
def conversion_timeseries(window: DateRange) -> list[dict[str, Any]]:
    """Conversions per day and type

    Every day of the window for every type seen in it, zeros included.
    """
    with published("/conversions/timeseries", {"window": window}) as source:
        _describe(window)
        return rows.timeseries(_daily(source, window), window.days()) if source else []


@bp.route("/conversions/list")
@guarded(scope=Scope.CONVERSIONS_READ)
@bp.arguments(DateRangeQuery, location="query")
@bp.arguments(ListQuery, location="query")
@responses.tagged
@bp.response(200, ListRow(many=True))
def conversion_list(window: DateRange, query: dict[str, Any]) -> list[dict[str, Any]]:
    """Each conversion of the window, newest first, and the campaign with the largest share of it

    Tells no person. `credited` is whether any campaign has credit under the model.
    """
    _refuse_unknown(query["type"])
    of = queries.Listed(window, query["model"], query["type"], query["credited"])
    listing = _listing(of)
    resume = pagination.read(_key(), listing, query["cursor"]) if query["cursor"] is not None else None
    with published("/conversions/list", {"window": window, **query}, resume=resume) as source:
        _describe(window, model=of.model)
        context.paginate(cursor=None, has_next=False)
        return _list_rows(source, of, query["limit"], listing, resume) if source else []


@bp.route("/conversions/<path:handle>/journey")
@guarded(scope=Scope.CONVERSIONS_READ, units=3)
@responses.tagged
@bp.response(200, Journey)
def conversion_journey(handle: str) -> dict[str, Any]:
    """The marketing path of one conversion, and what each touch got of it under each model

    The id is tried as conversion_id, as outcome_event_id, then as the caller's own event key. A renewal that inherits
    its credit shows the touches of its subscription's first payment. No person and no page is told.
    """
    told = _as_kept(handle)
    with published("/conversions/journey", {"handle": told}) as source:
        found = queries.conversion(source.reader, source.profile, told) if source else None
        if source is None or found is None:
            raise errors.CONVERSION_NOT_FOUND()
        return journey_of(source, found)


def _as_kept(handle: str) -> str:
    """The handle in the spelling in which a key is kept."""
    try:
        told = clean_text(handle)
    except Refused:
        raise errors.CONVERSION_NOT_FOUND() from None
    if len(told) > MOST_CHARACTERS:
        raise errors.CONVERSION_NOT_FOUND()
    return told


def journey_of(source: Source, found: dict[str, Any]) -> dict[str, Any]:
    """The journey of a conversion that was found in this snapshot."""
    reader, profile = source.reader, source.profile
    path = queries.path(reader, profile, found["path_conversion_key"])
    total = len(path)
    if path and path[0]["is_capped"]:
        total = queries.touches_in_window(reader, profile, found["path_conversion_key"])
    cents = queries.cents(reader, profile, found["conversion_key"])
    return rows.journey(found, path, cents, profile, touches_total=total)


def _refuse_unknown(type_: str | None) -> None:
    """400 for a type that is none of the seven, and no goal now or in the snapshot: a misspelt one has no rows."""
    if type_ is None or type_ in CONVERSION_TYPES:
        return
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        own = [goal.conversion_key for goal in goals_of(reading, auth.current().profile.id) if not goal.is_built_in]
    if type_ not in own and not _is_published(type_):
        known = ", ".join((*CONVERSION_TYPES, *own))
        raise errors.INVALID_PARAMETER(f"type: must be one of {known}.")


def _is_published(type_: str) -> bool:
    # what came of a goal that was deleted since is told until the next build
    with snapshots(context.settings()).reader() as reader:
        facts = profile_facts(reader, auth.current().profile.id) if reader else None
        return bool(reader and facts and queries.has_goal(reader, facts, type_))


def _daily(source: Source, window: DateRange) -> list[dict[str, Any]]:
    return queries.daily(source.reader, source.profile, window)


def _list_rows(
    source: Source, of: queries.Listed, limit: int, listing: pagination.Listing, resume: pagination.Place | None
) -> list[dict[str, Any]]:
    found = queries.page(source.reader, source.profile, of, most=limit + 1, after=resume.position if resume else None)
    page = found[:limit]
    if len(found) > limit:
        cursor = pagination.issue(_key(), listing, queries.position(page[-1]), source.reader.snapshot_id)
        context.paginate(cursor=cursor, has_next=True)
    return [rows.listed(row, source.profile) for row in page]


def _listing(of: queries.Listed) -> pagination.Listing:
    dates = {"date_from": of.window.date_from, "date_to": of.window.date_to}
    filters = {**dates, "model": of.model, "type": of.type, "credited": of.credited}
    return pagination.Listing("/conversions/list", auth.current().profile.id, filters)


def _key() -> bytes:
    return context.settings().signing_key()


def _describe(window: DateRange, **members: Any) -> None:
    context.meta(date_from=window.date_from, date_to=window.date_to, **members)
