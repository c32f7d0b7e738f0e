"""GET and PATCH W/reporting-currency: what totals over several profiles are told in."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from marshmallow import Schema, fields
from sqlalchemy.orm import Session

from api import auth, context, db
from api.actors import ActorShape, told
from api.audit import Attempt, record, target
from api.body_fields import Currency
from api.guard import workspace_guarded
from api.http import Blueprint
from api.models import AuditEntry, Workspace
from api.roles import Role
from api.scopes import Scope
from api.writing import actor, idempotent, session

bp = Blueprint("reporting_currency", __name__, description="The currency of totals over several profiles.")

ACTION = "reporting_currency.changed"
WRITTEN_WITHIN = timedelta(minutes=1)


class CurrencyBody(Schema):
    currency = Currency(required=True)


class ReportingCurrency(Schema):
    """The currency, and whether anybody chose it."""

    currency = fields.String(required=True, metadata={"description": "ISO 4217."})
    is_default = fields.Boolean(required=True, metadata={"description": "Nobody has changed it since the creation."})
    updated_at = fields.DateTime(
        required=True, allow_none=True, metadata={"description": "When it was last changed; null since the creation."}
    )
    updated_by = fields.Nested(
        ActorShape,
        required=True,
        allow_none=True,
        metadata={"description": "Who changed it last; null since the creation."},
    )


@bp.route("/workspaces/<workspace_id>/reporting-currency")
@workspace_guarded(role=Role.VIEWER)
@bp.response(200, ReportingCurrency)
def reporting_currency(workspace_id: str) -> dict[str, Any]:
    """The currency of totals over several profiles

    Figures of several profiles are added up in it, at the newest rates of the snapshot; each profile's own figures keep
    its own currency. Until somebody chooses it is the one of the workspace's creation.
    """
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        return _told(reading, reading.get_one(Workspace, workspace_id))


@bp.route("/workspaces/<workspace_id>/reporting-currency", methods=["PATCH"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN)
@bp.arguments(CurrencyBody)
@idempotent()
@bp.response(200, ReportingCurrency)
def change_reporting_currency(body: dict[str, Any], workspace_id: str) -> dict[str, Any]:
    """Change the currency of totals over several profiles, from the next read on

    Each profile keeps the currency of its own figures.
    """
    workspace = session().get_one(Workspace, workspace_id, with_for_update={"key_share": True})
    before, after = workspace.reporting_currency, body["currency"]
    details = {
        "target": target("workspace", workspace.id, workspace.name),
        "before": {"currency": before},
        "after": {"currency": after},
    }
    if before != after:
        workspace.reporting_currency, workspace.currency_set_at = after, db.now()
        workspace.currency_set_by = auth.current().person
    record(session(), actor(), Attempt(ACTION, details))
    return _told(session(), workspace)


def _told(reading: Session, workspace: Workspace) -> dict[str, Any]:
    by = _changer(reading, workspace)
    return {
        "currency": workspace.reporting_currency,
        "is_default": workspace.currency_set_at is None,
        "updated_at": workspace.currency_set_at,
        "updated_by": told(reading, [by])[by] if by else None,
    }


def _changer(reading: Session, workspace: Workspace) -> tuple[str, str | None] | None:
    """Who chose the currency, and with what kind of credential: only the trail knows that."""
    if workspace.currency_set_at is None:
        return None
    # its entry was written at once: without an end, all that the trail tells since would be read
    at = AuditEntry.at.between(workspace.currency_set_at, workspace.currency_set_at + WRITTEN_WITHIN)
    changes = sa.select(AuditEntry.actor_kind, AuditEntry.actor_id).where(
        AuditEntry.workspace_id == workspace.id, AuditEntry.action == ACTION, AuditEntry.outcome == "done", at
    )
    row = reading.execute(changes.order_by(AuditEntry.at.desc(), AuditEntry.id.desc()).limit(1)).one_or_none()
    return (row.actor_kind, row.actor_id) if row else ("session", workspace.currency_set_by)
