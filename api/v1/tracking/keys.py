"""GET and POST /tracking/keys, DELETE /tracking/keys/{id}."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from api import auth, context, db, errors, op_lists, tracking_keys
from api.audit import Attempt, record, target
from api.guard import guarded
from api.http import Blueprint
from api.models import TrackingKey
from api.op_lists import By, ListQuery
from api.scopes import Scope
from api.v1.tracking.schemas import TrackingKeyBody, TrackingKeyShape
from api.writing import actor, idempotent, session

bp = Blueprint("tracking_keys", __name__, description="What sites' trackers name their profile with.")

_ORDER = (By(TrackingKey.id.expression, lambda row: row.id),)


@bp.route("/tracking/keys")
@guarded(scope=Scope.TRACKING_WRITE)
@bp.arguments(ListQuery, location="query")
@bp.response(200, TrackingKeyShape(many=True))
def tracking_key_list(query: dict[str, Any]) -> list[dict[str, Any]]:
    """The tracking keys of the profile, oldest first, revoked ones too

    A key is public by nature and told whole, since every page of the site shows it. `last_seen_at` says whether a site
    still uses one before it is revoked.
    """
    profile_id = auth.current().profile.id
    chosen = sa.select(TrackingKey).where(TrackingKey.profile_id == profile_id)
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        rows = op_lists.page(reading, chosen, _ORDER, query, route="/tracking/keys", owner=profile_id, filters={})
        return [_told(row) for row in rows]


@bp.route("/tracking/keys", methods=["POST"])
@guarded(scope=Scope.TRACKING_WRITE)
@bp.arguments(TrackingKeyBody)
@idempotent()
@bp.response(201, TrackingKeyShape)
def add_tracking_key(body: dict[str, Any]) -> dict[str, Any]:
    """Make a tracking key

    It opens nothing but collecting, and only from its hosts when it names any.
    """
    made = tracking_keys.mint(session(), auth.current().profile.id, **body)
    details = {"target": target("tracking_key", made.id, made.name), "after": body}
    record(session(), actor(), Attempt("tracking_key.created", details, "credentials"))
    return _told(made)


@bp.route("/tracking/keys/<key_id>", methods=["DELETE"])
@guarded(scope=Scope.TRACKING_WRITE, uuids=["key_id"], needs_entitlement=False)
@idempotent()
@bp.response(200, TrackingKeyShape)
def revoke_tracking_key(key_id: str) -> dict[str, Any]:
    """Revoke a tracking key

    The collector answers 410 to it from now on. Revoking it again changes nothing.
    """
    found = session().get(TrackingKey, key_id, with_for_update=True)
    if found is None or found.profile_id != auth.current().profile.id:
        raise errors.NOT_FOUND()
    outcome = "done" if found.revoked_at is None else "no_change"
    found.revoked_at = found.revoked_at or db.now()
    details = {"target": target("tracking_key", found.id, found.name)}
    record(session(), actor(), Attempt("tracking_key.revoked", details, "credentials"), outcome=outcome)
    return _told(found)


def _told(key: TrackingKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "key": key.key,
        "name": key.name,
        "allowed_hosts": key.allowed_hosts,
        "status": "active" if key.revoked_at is None else "revoked",
        "created_at": key.created_at,
        "last_seen_at": key.last_seen_at,
    }
