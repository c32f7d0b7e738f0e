"""GET and POST /exports/destinations, PATCH and DELETE /exports/destinations/{id}."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from marshmallow import ValidationError

from api import auth, connections, context, db, errors, op_lists
from api.audit import Attempt, record, target
from api.exports import destinations
from api.guard import guarded
from api.http import Blueprint
from api.models import Connection, ExportDestination, Profile
from api.op_lists import By, ListQuery
from api.roles import Role
from api.scopes import Scope
from api.v1.exports.schemas import (
    DestinationBody,
    DestinationChanges,
    DestinationDeleted,
    DestinationShape,
    refuse_foreign,
)
from api.writing import actor, idempotent, session

bp = Blueprint("export_destinations", __name__, description="Where a profile's conversions go.")

_ORDER = (By(ExportDestination.id.expression, lambda row: row.id),)
_SET = ("name", "connection_id", "target", "test_event_code", "conversion_types", "send_value")


@bp.route("/exports/destinations")
@guarded(scope=Scope.EXPORTS_READ)
@bp.arguments(ListQuery, location="query")
@bp.response(200, DestinationShape(many=True))
def destination_list(query: dict[str, Any]) -> list[dict[str, Any]]:
    """Where conversions go, oldest first

    Those that were switched off too, deleted ones not. `status` says whether anything can leave now, and
    `status_reason` why not. What an agreement or a privacy mode keeps back is told row by row, by GET /exports.
    """
    profile_id = auth.current().profile.id
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        rows = op_lists.page(
            reading,
            destinations.live(profile_id),
            _ORDER,
            query,
            route="/exports/destinations",
            owner=profile_id,
            filters={},
        )
        named = sa.select(Connection).where(Connection.id.in_([row.connection_id for row in rows]))
        found = {one.id: one for one in reading.scalars(named)}
        return [told(row, found[row.connection_id]) for row in rows]


@bp.route("/exports/destinations", methods=["POST"])
@guarded(scope=Scope.EXPORTS_WRITE, role=Role.EDITOR)
@bp.arguments(DestinationBody)
@idempotent()
@bp.response(201, DestinationShape)
def add_destination(body: dict[str, Any]) -> dict[str, Any]:
    """Send conversions to another place

    It takes what converts from now on, and in the seven days before. An agreement that is missing does not refuse it:
    what may not leave is skipped, with the reason.
    """
    _lock()
    made = ExportDestination(profile_id=auth.current().profile.id, kind=body["kind"], is_enabled=body["enabled"])
    made.disabled_reason = None if body["enabled"] else "person"
    made.id, made.created_at, made.updated_at = db.new_id(), db.now(), db.now()
    made.consecutive_failures = 0
    _set(made, body)
    connection = _usable(made)
    if made.kind not in destinations.SPOKEN:
        raise errors.NOT_IMPLEMENTED(f"This deployment does not speak the protocol of {made.kind}.")
    destinations.refuse_conflict(session(), made)
    session().add(made)
    session().flush()
    _record(made, "export_destination.created", {"after": _kept(made)})
    return told(made, connection)


@bp.route("/exports/destinations/<destination_id>", methods=["PATCH"])
@guarded(scope=Scope.EXPORTS_WRITE, role=Role.EDITOR, uuids=["destination_id"], needs_entitlement=False)
@bp.arguments(DestinationChanges)
@idempotent()
@bp.response(200, DestinationShape)
def change_destination(body: dict[str, Any], destination_id: str) -> dict[str, Any]:
    """Change a destination, or switch it on or off

    Switching it on forgets its failures, and what failed in the last seven days is queued again. Switching it off skips
    what waits.
    """
    if body != {"enabled": False}:
        # switching off is open to profiles without attribution
        auth.require_entitlement(auth.current())
    _lock()
    found = _found(destination_id)
    try:
        refuse_foreign(body, found.kind)
    except ValidationError as wrong:
        raise errors.VALIDATION_ERROR(f"{wrong.field_name}: {wrong.messages[0]}") from None
    before, failures = _kept(found), found.consecutive_failures
    _set(found, body)
    is_moved = (found.connection_id, found.target) != (before["connection_id"], before["target"])
    if is_moved or body.get("enabled"):
        _usable(found)
    if is_moved:
        destinations.refuse_conflict(session(), found)
    requeued = destinations.switch_on(session(), found) if body.get("enabled") else 0
    if body.get("enabled") is False and found.is_enabled:
        destinations.switch_off(session(), found, "person")
    # what is told of it changes with every rule, so it is matched anew
    found.matched_snapshot_id = None
    after = _kept(found)
    changed = {name: after[name] for name in after if after[name] != before[name]}
    is_changed = bool(changed or requeued or found.consecutive_failures != failures)
    if is_changed:
        found.updated_at = db.now()
    session().flush()
    details = {"before": {name: before[name] for name in changed}, "after": {**changed, "requeued": requeued}}
    _record(found, "export_destination.changed", details, "done" if is_changed else "no_change")
    return told(found, session().get_one(Connection, found.connection_id))


@bp.route("/exports/destinations/<destination_id>", methods=["DELETE"])
@guarded(scope=Scope.EXPORTS_WRITE, role=Role.EDITOR, uuids=["destination_id"], needs_entitlement=False)
@idempotent()
@bp.response(200, DestinationDeleted)
def delete_destination(destination_id: str) -> dict[str, Any]:
    """Delete a destination

    What waits is skipped; the ledger of what went there stays.
    """
    _lock()
    found = _found(destination_id)
    before = _kept(found)
    destinations.switch_off(session(), found, "deleted")
    found.deleted_at = db.now()
    _record(found, "export_destination.deleted", {"before": before})
    return {"id": found.id, "deleted": True}


def told(destination: ExportDestination, connection: Connection) -> dict[str, Any]:
    """A destination as answers tell it."""
    names = (
        *("id", "kind", "name", "connection_id", "test_event_code", "conversion_types", "send_value"),
        *("consecutive_failures", "last_sent_at", "created_at", "updated_at"),
    )
    status, reason = destinations.state(destination, connection)
    return {
        **{name: getattr(destination, name) for name in names},
        destinations.TARGETS[destination.kind]: destination.target,
        "enabled": destination.is_enabled,
        "status": status,
        "status_reason": reason,
    }


def _lock() -> None:
    # two who place a destination at once do it one after the other
    profile = session().get_one(Profile, auth.current().profile.id, with_for_update={"key_share": True})
    if profile.archived_at is not None:
        raise errors.NOT_FOUND()


def _found(destination_id: str) -> ExportDestination:
    wanted = destinations.live(auth.current().profile.id).where(ExportDestination.id == destination_id)
    found = session().scalars(wanted.with_for_update()).one_or_none()
    if found is None:
        raise errors.NOT_FOUND()
    return found


def _set(destination: ExportDestination, body: Mapping[str, Any]) -> None:
    given = dict(body)
    own = destinations.TARGETS[destination.kind]
    if own in given:
        given["target"] = given[own]
    for name in _SET:
        if name in given:
            setattr(destination, name, given[name])


def _usable(destination: ExportDestination) -> Connection:
    """The connection it names: 404 for a stranger's, 422 for another platform's, 409 where it cannot be asked."""
    wanted = sa.select(Connection).where(
        Connection.id == destination.connection_id, Connection.profile_id == destination.profile_id
    )
    with session().no_autoflush:
        connection = session().scalars(wanted).one_or_none()
    if connection is None or connection.status == "disconnected":
        raise errors.NOT_FOUND("The profile has no such connection.")
    provider = destinations.PROVIDERS[destination.kind]
    if connection.provider != provider:
        raise errors.VALIDATION_ERROR(f"connection_id: is not a connection to {provider}")
    return connections.usable(context.settings(), [connection])[0]


def _kept(destination: ExportDestination) -> dict[str, Any]:
    """What the trail keeps of it."""
    return {"kind": destination.kind, "enabled": destination.is_enabled} | {
        name: getattr(destination, name) for name in _SET
    }


def _record(found: ExportDestination, action: str, details: dict[str, Any], outcome: str = "done") -> None:
    about = target("export_destination", found.id, found.name)
    record(session(), actor(), Attempt(action, {"target": about, **details}, category="exports"), outcome=outcome)
