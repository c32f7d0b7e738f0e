"""GET /handoffs/{handoffId}: what became of a page that somebody was sent to."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from api import auth, context, db, errors, reach
from api.auth import Principal
from api.guard import READERS, caller_guarded
from api.http import Blueprint
from api.models import Handoff
from api.scopes import Scope
from api.v1.billing.schemas import HandoffShape

bp = Blueprint("handoffs", __name__, description="Pages of payment processors and providers that people are sent to.")

OF_KEYS = (Scope.CONNECTIONS_READ, Scope.CONNECTIONS_WRITE)


@bp.route("/handoffs/<handoff_id>")
@caller_guarded(scope=Scope.ANALYTICS_READ, kinds=READERS, uuids=["handoff_id"], key_scopes=OF_KEYS)
@bp.response(200, HandoffShape)
def handoff_state(handoff_id: str) -> dict[str, Any]:
    """What became of a checkout or connect hand-off

    Poll it every three seconds or slower. An API key sees those of its profile, with connections:read or
    connections:write; a person those of their workspaces.
    """
    caller = auth.current()
    with db.transaction(context.settings().operational_url, durable=False) as session:
        handoff = session.get(Handoff, handoff_id)
        if handoff is None:
            raise errors.NOT_FOUND()
        _require_reach(session, caller, handoff)
    return told(handoff)


def told(handoff: Handoff) -> dict[str, Any]:
    """A hand-off as it stands now: past its lifetime a pending one is expired."""
    is_over = handoff.status == "pending" and db.now() >= handoff.expires_at
    status = "expired" if is_over else handoff.status
    return {
        "id": handoff.id,
        "kind": handoff.kind,
        "status": status,
        "url": handoff.url if status == "pending" else None,
        "reason": "abandoned" if is_over else handoff.reason,
        "created_at": handoff.created_at,
        "expires_at": handoff.expires_at,
        "completed_at": handoff.ended_at if status == "completed" else None,
        "result": handoff.result,
    }


def _require_reach(session: Session, caller: Principal, handoff: Handoff) -> None:
    """404 not_found unless it is of the key's own profile, or of a workspace (and profile) the person can open."""
    if caller.own_profile is not None:
        if handoff.profile_id != caller.own_profile.id:
            raise errors.NOT_FOUND()
        return
    reach.of_person(session, caller.person, workspace_id=handoff.workspace_id, profile_id=handoff.profile_id)
    named = caller.reach.workspace
    if named is not None and named.id != handoff.workspace_id:
        raise errors.NOT_FOUND()
