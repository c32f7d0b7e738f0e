"""GET /connections, GET and DELETE /connections/{id}."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import auth, connecting, connections, context, db, errors, op_lists
from api.audit import Attempt, record, target
from api.guard import guarded
from api.http import Blueprint
from api.models import Connection
from api.op_lists import By, ListQuery
from api.roles import Role
from api.scopes import Scope
from api.v1.connections.schemas import ConnectionEnded, ConnectionRow, ConnectionShape
from api.v1.connections.shape import told
from api.writing import actor, idempotent, session

bp = Blueprint("connections", __name__, description="Accounts at providers whose data a profile syncs.")

_ORDER = (By(Connection.created_at.expression, lambda row: row.created_at), By(Connection.id, lambda row: row.id))


@bp.route("/connections")
@guarded(scope=Scope.CONNECTIONS_READ)
@bp.arguments(ListQuery, location="query")
@bp.response(200, ConnectionRow(many=True))
def connection_list(query: dict[str, Any]) -> list[dict[str, Any]]:
    """The profile's connections, oldest first

    Those that were disconnected too: their data is still here.
    """
    profile_id = auth.current().profile.id
    chosen = sa.select(Connection).where(Connection.profile_id == profile_id)
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        rows = op_lists.page(reading, chosen, _ORDER, query, route="/connections", owner=profile_id, filters={})
        return told(reading, rows)


@bp.route("/connections/<connection_id>")
@guarded(scope=Scope.CONNECTIONS_READ, uuids=["connection_id"])
@bp.response(200, ConnectionShape)
def connection_state(connection_id: str) -> dict[str, Any]:
    """One connection, and how its newest sync stands

    Poll it while a sync is queued or running. What became of its grant is told by `channel.health.updated` and
    `connection.reconnect_required`, so there is no need to ask for that. The token is told nowhere.
    """
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        return told(reading, [own(reading, connection_id)])[0]


@bp.route("/connections/<connection_id>", methods=["DELETE"])
@guarded(scope=Scope.CONNECTIONS_WRITE, role=Role.EDITOR, uuids=["connection_id"], needs_entitlement=False)
@idempotent()
@bp.response(200, ConnectionEnded)
def disconnect(connection_id: str) -> dict[str, Any]:
    """Disconnect an account

    Its token is deleted at once and nothing is synced any more; a pull under way asks nothing more within seconds. Its
    data stays. Export destinations that use it are blocked, and an open hand-off for it is canceled. It never comes
    back: connecting the account again makes another connection.
    """
    # before the connection, as whoever settles one does
    connecting.end_hand_offs(session(), connection_id, profile_id=auth.current().profile.id)
    found = own(session(), connection_id, locked=True)
    before = found.status
    connections.end(session(), context.settings(), found)
    about = {"target": target("connection", found.id, found.display_name), "before": {"status": before}}
    outcome = "no_change" if before == "disconnected" else "done"
    record(session(), actor(), Attempt("connection.disconnected", about), outcome=outcome)
    return {"connection_id": found.id, "status": found.status}


def own(unit: Session, connection_id: str, *, locked: bool = False) -> Connection:
    """The connection of this id, if it is the profile's; 404 not_found for any other."""
    found = unit.get(Connection, connection_id, with_for_update={"key_share": True} if locked else None)
    if found is None or found.profile_id != auth.current().profile.id:
        raise errors.NOT_FOUND()
    return found
