"""POST /connections/{id}/sync."""

from __future__ import annotations

from typing import Any

from api import connecting, connections, context, errors
from api.audit import Attempt, record, target
from api.guard import guarded
from api.http import Blueprint
from api.roles import Role
from api.scopes import Scope
from api.v1.connections.routes import own
from api.v1.connections.schemas import SyncAsked, SyncDays
from api.windows import DateRange
from api.writing import actor, idempotent, session

bp = Blueprint("syncing", __name__, description="Asking for an account's newest data.")


@bp.route("/connections/<connection_id>/sync", methods=["POST"])
@guarded(scope=Scope.CONNECTIONS_WRITE, role=Role.EDITOR, uuids=["connection_id"])
@bp.arguments(SyncDays)
@idempotent()
@bp.response(202, SyncAsked)
def sync(days: DateRange | None, connection_id: str) -> dict[str, Any]:
    """Pull an account now

    One sync of a connection waits at a time: while one does, or runs, it is the answer. The days that may still be
    revised are pulled in any case; dates add those of delivery between them and these, of the last three years, and
    where a sync runs already they are for another one after it. How it went is in `last_sync`.
    """
    # whoever asks at the same moment waits here, and then finds this sync
    found = own(session(), connection_id, locked=True)
    connections.usable(context.settings(), [found])
    asked = connecting.queue_sync(session(), found, anew=days is not None)
    if asked is None:
        raise errors.NOT_IMPLEMENTED("Nothing of such an account is synced.")
    if days is not None:
        asked.date_from = min(days.date_from, asked.date_from or days.date_from)
        asked.date_to = max(days.date_to, asked.date_to or days.date_to)
    about = {"target": target("connection", found.id, found.display_name), "after": {"sync": asked.id}}
    record(session(), actor(), Attempt("connection.sync_requested", about))
    return {"id": asked.id, "status": asked.status}
