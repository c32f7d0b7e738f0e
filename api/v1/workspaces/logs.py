"""GET W/audit and GET W/pii-access-log: what was changed, and who read personal data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from api import actors, auth, context, db, errors, op_lists
from api.guard import workspace_guarded
from api.http import Blueprint
from api.models import AuditEntry, PiiAccess
from api.op_lists import By
from api.roles import Role
from api.v1.workspaces.log_schemas import AuditQuery, AuditRow, PiiAccessQuery, PiiAccessRow
from api.windows import DateRange, OptionalDateRangeQuery

bp = Blueprint("workspace_logs", __name__, description="What was changed in a workspace, and who read about people.")

ENDED = ("done", "no_change", "failed")


@bp.route("/workspaces/<workspace_id>/audit")
@workspace_guarded(role=Role.ADMIN)
@bp.arguments(OptionalDateRangeQuery, location="query")
@bp.arguments(AuditQuery, location="query")
@bp.response(200, AuditRow(many=True))
def audit_trail(window: DateRange | None, query: dict[str, Any], workspace_id: str) -> list[dict[str, Any]]:
    """What was changed, and what was refused, newest first

    By whom and with what kind of credential, with the values before and after where they hold no personal data. Entries
    stay, also of profiles that were archived since, and nobody changes them. Days are those of the workspace's time
    zone.
    """
    wanted = sa.select(AuditEntry).where(AuditEntry.workspace_id == workspace_id)
    if query["category"] != "all":
        wanted = wanted.where(AuditEntry.category == query["category"])
    rows, told = _page(wanted, AuditEntry, window, query, {"category": query["category"]}, route="W/audit")
    return [_change(row, told[row.actor_kind, row.actor_id]) for row in rows]


@bp.route("/workspaces/<workspace_id>/pii-access-log")
@workspace_guarded(role=Role.ADMIN)
@bp.arguments(OptionalDateRangeQuery, location="query")
@bp.arguments(PiiAccessQuery, location="query")
@bp.response(200, PiiAccessRow(many=True))
def pii_access_log(window: DateRange | None, query: dict[str, Any], workspace_id: str) -> list[dict[str, Any]]:
    """Who read personal data, newest first

    One entry for each request for people, masked or whole, with how many rows it was told; of whom, only
    where one person was asked for. Days are those of the workspace's time zone.
    """
    wanted = sa.select(PiiAccess).where(PiiAccess.workspace_id == workspace_id)
    if query["actor_id"] is not None:
        wanted = wanted.where(PiiAccess.actor_id == query["actor_id"])
    rows, told = _page(wanted, PiiAccess, window, query, {"actor_id": query["actor_id"]}, route="W/pii-access-log")
    return [_read(row, told[row.actor_kind, row.actor_id]) for row in rows]


_Told = Mapping[tuple[str, str | None], dict[str, Any]]


def _page(
    wanted: sa.Select[Any],
    model: type[AuditEntry] | type[PiiAccess],
    window: DateRange | None,
    query: Mapping[str, Any],
    filters: Mapping[str, Any],
    *,
    route: str,
) -> tuple[list[Any], _Told]:
    """One page of the log, newest first, and the shapes of those who acted."""
    caller = auth.current()
    only = caller.reach.profile.id if caller.reach.profile else None
    if only is not None:
        wanted = wanted.where(model.profile_id == only)
    filters = {**filters, "profile_id": only, "date_from": None, "date_to": None}
    if window is not None:
        context.meta(date_from=window.date_from, date_to=window.date_to)
        start, end = window.instants(caller.workspace.timezone)
        wanted = wanted.where(model.at >= start, model.at < end)
        filters |= {"date_from": window.date_from, "date_to": window.date_to}
    order = (
        By(model.at.expression, lambda row: row.at, descending=True),
        By(model.id.expression, lambda row: row.id),
    )
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        rows = op_lists.page(
            reading, wanted, order, query, route=route, owner=caller.workspace.id, filters=filters
        )  # fmt: skip
        return rows, actors.told(reading, {(row.actor_kind, row.actor_id) for row in rows})


def _change(entry: AuditEntry, actor: Mapping[str, Any]) -> dict[str, Any]:
    details = dict(entry.details)
    target, before = details.pop("target", None), details.pop("before", None)
    # what an attempt tells beside these belongs to what it led to; a revocation leaves nothing
    after = {**(details.pop("after", None) or {}), **details} or None
    return {
        "audit_id": entry.id,
        "at": entry.at,
        "actor": actor,
        "category": entry.category,
        "action": entry.action,
        "target": target,
        "profile_id": entry.profile_id,
        "before": before,
        "after": after,
        "request_id": entry.request_id,
        **_outcome(entry.outcome),
    }


def _outcome(kept: str) -> dict[str, str | None]:
    """The trail keeps the code of a refusal as its outcome."""
    if kept in ENDED:
        return {"outcome": kept, "error_code": None}
    code = errors.CATALOGUE.get(kept)
    failed = code is not None and code.status >= 500
    return {"outcome": "failed" if failed else "refused", "error_code": kept}


def _read(row: PiiAccess, actor: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": row.id,
        "at": row.at,
        "actor": actor,
        "credential_prefix": row.credential_prefix,
        "method": row.method,
        "route": row.route,
        "profile_id": row.profile_id,
        "subject": row.subject,
        "customer_key": row.customer_key,
        "record_count": row.record_count,
        "pii_level": row.pii_level,
        "request_id": row.request_id,
    }
