"""POST /exports/destinations/{id}/test: an event that shows whether the platform takes what is sent."""

from __future__ import annotations

import hashlib
from typing import Any

from api import auth, connections, context, db, errors
from api.audit import Attempt, record, target
from api.exports import destinations
from api.guard import guarded
from api.http import Blueprint
from api.models import Connection, ExportDestination
from api.roles import Role
from api.scopes import Scope
from api.v1.exports.schemas import TestAnswer, TestBody
from api.writing import actor, idempotent, session
from connectors.errors import ConnectorError, Refused
from connectors.meta_conversions import Conversion, Match, MetaConversions

bp = Blueprint("export_tests", __name__, description="Trying a destination.")

SECONDS = 15.0
# nobody's address, on a domain that cannot exist
NOBODY = Match(email=hashlib.sha256(b"nobody@touchledger.invalid").hexdigest())


@bp.route("/exports/destinations/<destination_id>/test", methods=["POST"])
@guarded(scope=Scope.EXPORTS_WRITE, role=Role.EDITOR, uuids=["destination_id"])
@bp.arguments(TestBody)
@idempotent()
@bp.response(200, TestAnswer)
def try_destination(body: dict[str, Any], destination_id: str) -> dict[str, Any]:
    """Send a test event

    Made up, about nobody, and under a test code: the platform shows it to testers and counts nothing. It is no row of
    the ledger.
    """
    settings = context.settings()
    wanted = destinations.live(auth.current().profile.id).where(ExportDestination.id == destination_id)
    with db.transaction(settings.operational_url, durable=False) as reading:
        found = reading.scalars(wanted).one_or_none()
        if found is None:
            raise errors.NOT_FOUND()
        connection = reading.get_one(Connection, found.connection_id)
    code = body.get("test_event_code", found.test_event_code)
    if code is None:
        raise errors.VALIDATION_ERROR("test_event_code: is required, since the destination has none")
    answer = _asked(found, connections.usable(settings, [connection])[0], code)
    details = {"target": target("export_destination", found.id, found.name), "after": answer}
    outcome = "done" if answer["accepted"] else "failed"
    record(session(), actor(), Attempt("export_destination.tested", details, category="exports"), outcome=outcome)
    return answer


def _asked(destination: ExportDestination, connection: Connection, code: str) -> dict[str, Any]:
    event = Conversion(id=f"test-{db.new_id()}", type="lead_created", occurred_at=db.now(), is_chat=False, match=NOBODY)
    settings = context.settings()
    secret = connections.app_secret(settings, connection)
    with connections.asking(settings, connection, within=SECONDS, writes=True) as transport:
        pixel = destination.target
        platform = MetaConversions(connection.base_url, connection.token, pixel, transport, app_secret=secret)
        try:
            platform.send([event], test_event_code=code)
        except Refused as refused:
            if _is_owners(refused):
                raise
            # the platform's own words may hold anything, so the slug and the status speak for them
            return {"accepted": False, "provider_status": refused.status, "message": f"Refused: {refused.reason}."}
    return {"accepted": True, "provider_status": 200, "message": "The platform took the event."}


def _is_owners(refused: ConnectorError) -> bool:
    """Whether it is the connection that is refused, and not this event."""
    return refused.reason in {"permission_missing", "policy_block"}
