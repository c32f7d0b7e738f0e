"""GET and PUT W/mcp-settings, GET W/mcp-writeback-audits."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import actors, auth, context, db, errors, op_lists
from api.audit import Attempt, record
from api.auth import Kind
from api.db import now
from api.guard import workspace_guarded
from api.http import Blueprint
from api.models import Workspace, Writeback
from api.op_lists import By
from api.roles import Role
from api.scopes import Scope
from api.v1.credentials.mcp_schemas import AgentSettings, AgentSettingsBody, WritebackQuery, WritebackRow
from api.windows import DateRange, OptionalDateRangeQuery
from api.writing import actor, idempotent, session

NAMES = ("pii_mode", "mcp_writeback_enabled")
ORDER = [By(Writeback.at, lambda row: row.at, descending=True), By(Writeback.id, lambda row: row.id)]

bp = Blueprint("agents", __name__, description="What agents may do in a workspace, and what they changed.")


@bp.route("/workspaces/<workspace_id>/mcp-settings")
@workspace_guarded(role=Role.VIEWER)
@bp.response(200, AgentSettings)
def agent_settings(workspace_id: str) -> dict[str, Any]:
    """What agents may do with this workspace's data

    They hold for every user token, whoever's it is, beside what its grants and the person's role give. Before anybody
    changed them personal data is masked and nothing is written back.
    """
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        return _told(reading, reading.get_one(Workspace, workspace_id))


@bp.route("/workspaces/<workspace_id>/mcp-settings", methods=["PUT"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN, kinds={Kind.SESSION})
@bp.arguments(AgentSettingsBody)
@idempotent()
@bp.response(200, AgentSettings)
def change_agent_settings(body: dict[str, Any], workspace_id: str) -> dict[str, Any]:
    """Change what agents may do

    Members left out keep their values. A healthcare agency keeps personal data masked.
    """
    workspace = session().get_one(Workspace, workspace_id, with_for_update={"key_share": True}, populate_existing=True)
    attempt = _attempt(workspace, body)
    if workspace.is_healthcare_agency and body.get("pii_mode") == "full_default":
        refusal = errors.INVALID_STATE(
            "A healthcare agency keeps personal data masked for agents.", reason="healthcare_workspace"
        )
        raise refusal.audited(attempt)
    if attempt.outcome == "done":
        for name, value in body.items():
            setattr(workspace, name, value)
        workspace.mcp_set_at, workspace.mcp_set_by = now(), auth.current().person
    record(session(), actor(), attempt)
    return _told(session(), workspace)


@bp.route("/workspaces/<workspace_id>/mcp-writeback-audits")
@workspace_guarded(role=Role.ADMIN)
@bp.arguments(OptionalDateRangeQuery, location="query")
@bp.arguments(WritebackQuery, location="query")
@bp.response(200, WritebackRow(many=True))
def writeback_list(window: DateRange | None, query: dict[str, Any], workspace_id: str) -> list[dict[str, Any]]:
    """What agents asked ad platforms to change, newest first

    What was asked with a user token, with how it ended; changes by people and keys are in GET
    /workspaces/{workspace_id}/audit. Dates are days of UTC, both included.
    """
    profile = auth.current().reach.profile
    chosen = sa.select(Writeback).where(Writeback.workspace_id == workspace_id)
    filters: dict[str, Any] = {"outcome": query["outcome"], "profile_id": profile.id if profile else None}
    if profile is not None:
        chosen = chosen.where(Writeback.profile_id == profile.id)
    if query["outcome"] is not None:
        chosen = chosen.where(Writeback.outcome == query["outcome"])
    if window is not None:
        start, end = window.instants("UTC")
        chosen = chosen.where(Writeback.at >= start, Writeback.at < end)
        filters["days"] = [window.date_from, window.date_to]
        context.meta(date_from=window.date_from, date_to=window.date_to)
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        rows = op_lists.page(
            reading, chosen, ORDER, query, route="W/mcp-writeback-audits", owner=workspace_id, filters=filters
        )
    columns = [name for name in WritebackRow().fields if name != "audit_id"]
    return [{"audit_id": row.id, **{name: getattr(row, name) for name in columns}} for row in rows]


def _told(reading: Session, workspace: Workspace) -> dict[str, Any]:
    who = ("session", workspace.mcp_set_by)
    return {
        **{name: getattr(workspace, name) for name in NAMES},
        "updated_at": workspace.mcp_set_at,
        "updated_by": actors.told(reading, [who])[who] if workspace.mcp_set_by else None,
    }


def _attempt(workspace: Workspace, body: dict[str, Any]) -> Attempt:
    details = {
        "target": {"kind": "workspace", "id": workspace.id, "label": workspace.name},
        "before": {name: getattr(workspace, name) for name in body},
        "after": dict(body),
    }
    return Attempt("mcp_settings.changed", details, category="privacy")
