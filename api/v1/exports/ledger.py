"""GET /exports: what became of each conversion at each destination."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from api import auth, context, db, op_lists
from api.guard import guarded
from api.http import Blueprint
from api.models import ExportRow
from api.op_lists import By
from api.scopes import Scope
from api.served import profile_facts
from api.snapshot import snapshots
from api.v1.exports.schemas import LedgerQuery, LedgerRow
from api.windows import DateRange, OptionalDateRangeQuery

bp = Blueprint("export_ledger", __name__, description="What became of each exported conversion.")

_KEYS = """
select conversion_id, event_key from conversions
where profile_key = $profile_key and event_key is not null and conversion_id = any($ids)
"""
_ORDER = (
    By(ExportRow.created_at.expression, lambda row: row.created_at, descending=True),
    By(ExportRow.id.expression, lambda row: row.id),
)


@bp.route("/exports")
@guarded(scope=Scope.EXPORTS_READ)
@bp.arguments(OptionalDateRangeQuery, location="query")
@bp.arguments(LedgerQuery, location="query")
@bp.response(200, LedgerRow(many=True))
def export_ledger(window: DateRange | None, query: dict[str, Any]) -> list[dict[str, Any]]:
    """What became of each conversion, newest first

    Days are those of the profile's time zone, of when the row was written.
    """
    profile = auth.current().profile
    wanted = sa.select(ExportRow).where(ExportRow.profile_id == profile.id)
    filters: dict[str, Any] = {"destination_id": query["destination_id"], "status": query["status"]}
    if query["destination_id"] is not None:
        filters["destination_id"] = str(query["destination_id"])
        wanted = wanted.where(ExportRow.destination_id == filters["destination_id"])
    if query["status"] is not None:
        wanted = wanted.where(ExportRow.status == query["status"])
    if window is not None:
        context.meta(date_from=window.date_from, date_to=window.date_to)
        filters |= {"date_from": str(window.date_from), "date_to": str(window.date_to)}
        start, end = window.instants(profile.timezone)
        wanted = wanted.where(ExportRow.created_at >= start, ExportRow.created_at < end)
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        rows = op_lists.page(reading, wanted, _ORDER, query, route="/exports", owner=profile.id, filters=filters)
    keys = _event_keys(profile.id, [row.conversion_id for row in rows])
    return [_told(row, keys.get(row.conversion_id)) for row in rows]


def _event_keys(profile_id: str, conversion_ids: Sequence[str]) -> dict[str, str]:
    """Own keys of the conversions that the snapshot holds; the ledger has none, since a key may hold anything."""
    if not conversion_ids:
        return {}
    with snapshots(context.settings()).reader() as reader:
        facts = profile_facts(reader, profile_id) if reader else None
        if reader is None or facts is None:
            return {}
        return dict(reader.rows(_KEYS, {"profile_key": facts.profile_key, "ids": list(conversion_ids)}))


def _told(row: ExportRow, event_key: str | None) -> dict[str, Any]:
    names = (
        *("destination_id", "conversion_id", "conversion_type", "status", "reason", "attempts"),
        *("created_at", "next_attempt_at", "sent_at"),
    )
    return {"export_id": row.id, "event_key": event_key, **{name: getattr(row, name) for name in names}}
