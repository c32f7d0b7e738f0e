"""GET and POST W/api-keys, POST W/api-keys/{id}/revoke and /rotate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import actors, auth, context, db, errors, op_lists, reach
from api.audit import Attempt, record
from api.auth import Kind
from api.bodies import Nothing
from api.db import now
from api.guard import workspace_guarded
from api.http import Blueprint
from api.models import ApiKey, Profile, Workspace
from api.op_lists import By
from api.reach import Reach
from api.reading import timestamp
from api.roles import Role
from api.scopes import Scope
from api.v1.credentials import keys
from api.v1.credentials.api_key_schemas import ApiKeyRow, KeyBody, KeyQuery, MintedKey, RotatedKey
from api.writing import actor, idempotent, session

bp = Blueprint("api_keys", __name__, description="API keys: each opens one profile.")

SIGNED_IN = frozenset({Kind.SESSION})

ORDER = [
    By(ApiKey.created_at, lambda row: row.ApiKey.created_at, descending=True),
    By(ApiKey.id, lambda row: row.ApiKey.id),
]


@bp.route("/workspaces/<workspace_id>/api-keys")
@workspace_guarded(role=Role.EDITOR, by_place=True)
@bp.arguments(KeyQuery, location="query")
@bp.response(200, ApiKeyRow(many=True))
def api_key_list(query: dict[str, Any], workspace_id: str) -> list[dict[str, Any]]:
    """The keys of all profiles, newest first, without their secrets

    Of the profiles of the workspace, or of the one named by `profile_id`, which a guest needs. A key that was rotated
    is expiring for 48 hours beside the one in its place. To know whether one is still used look at `last_used_at`.
    """
    reached, at = auth.current().reach, now()
    chosen = keys.of(reached).where(*keys.in_status(query["status"], at))
    filters = {"status": query["status"], "profile_id": reached.profile and reached.profile.id}
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        rows = op_lists.page(
            reading, chosen, ORDER, query, route="W/api-keys", owner=workspace_id, filters=filters
        )  # fmt: skip
        return _told(reading, rows, at)


@bp.route("/workspaces/<workspace_id>/api-keys", methods=["POST"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.EDITOR, kinds=SIGNED_IN, by_place=True)
@bp.arguments(KeyBody)
@idempotent(once_shown=["key"])
@bp.response(201, MintedKey)
def mint_api_key(body: dict[str, Any], workspace_id: str) -> dict[str, Any]:
    """Mint a key for one profile

    The answer is the only one that holds the key itself. Nobody can give a key more than their own scopes.
    """
    named = auth.current().reach.profile
    profile_id = str(body["profile_id"])
    if named is not None and named.id != profile_id:
        raise errors.INVALID_PARAMETER("profile_id is one in the query and another in the body.")
    # nobody archives it or takes its people out until this is over
    session().scalar(sa.select(Workspace.id).where(Workspace.id == workspace_id).with_for_update(key_share=True))
    reached = reach.of_person(
        session(), auth.current().person, workspace_id=workspace_id, profile_id=profile_id
    )  # fmt: skip
    key, secret = keys.mint(session(), reached=reached, wanted=body, by=auth.current().person)
    _record("api_key.minted", key, after=_facts(key))
    return {**_one(session(), key), "key": secret}


@bp.route("/workspaces/<workspace_id>/api-keys/<key_id>/revoke", methods=["POST"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.EDITOR, kinds=SIGNED_IN, uuids=["key_id"], by_place=True)
@bp.arguments(Nothing)
@idempotent()
@bp.response(200, ApiKeyRow)
def revoke_api_key(_body: dict[str, Any], key_id: str, **_: str) -> dict[str, Any]:
    """Revoke a key, from the next request on

    For admins, and for whoever minted it; an app's is for admins. Again, or after its end, it changes nothing.
    """
    key = keys.locked(session(), auth.current().reach, key_id, by=auth.current().person)[0]
    if keys.revoke(key):
        _record("api_key.revoked", key)
    return _one(session(), key)


@bp.route("/workspaces/<workspace_id>/api-keys/<key_id>/rotate", methods=["POST"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.EDITOR, kinds=SIGNED_IN, uuids=["key_id"], by_place=True)
@bp.arguments(Nothing)
@idempotent(once_shown=["key"])
@bp.response(201, RotatedKey)
def rotate_api_key(_body: dict[str, Any], key_id: str, **_: str) -> dict[str, Any]:
    """Replace a key; the old one works for another 48 hours

    The new key has the name, scopes, networks and end of the old one, and shares its allowance. For those who may
    revoke it.
    """
    person = auth.current().person
    old, reached = keys.locked(session(), auth.current().reach, key_id, by=person)
    key, secret = keys.rotate(session(), reached=reached, old=old, by=person)
    _record("api_key.rotated", old, after={"rotated_to_id": key.id, **_facts(old)})
    previous = {"id": old.id, "expires_at": old.expires_at}
    return {**_one(session(), key), "key": secret, "previous": previous}


def _one(reading: Session, key: ApiKey) -> dict[str, Any]:
    row = reading.execute(keys.of(Reach(workspace=auth.current().workspace)).where(ApiKey.id == key.id)).one()
    return _told(reading, [row], now())[0]


def _told(reading: Session, rows: Iterable[Any], at: datetime) -> list[dict[str, Any]]:
    found: list[tuple[ApiKey, Profile]] = [(row.ApiKey, row.Profile) for row in rows]
    makers = actors.told(reading, {(key.created_by_kind, key.created_by_id) for key, _ in found})
    return [
        {
            **{name: getattr(key, name) for name in keys.SHOWN},
            "profile_name": profile.name,
            "status": keys.status_of(key, at),
            "created_by": makers[(key.created_by_kind, key.created_by_id)],
        }
        for key, profile in found
    ]


def _facts(key: ApiKey) -> dict[str, Any]:
    ends = timestamp(key.expires_at) if key.expires_at else None
    return {"scopes": key.scopes, "allowed_ips": key.allowed_ips, "expires_at": ends}


def _record(action: str, key: ApiKey, after: dict[str, Any] | None = None) -> None:
    details = {"target": {"kind": "api_key", "id": key.id, "label": key.name}, "after": after}
    who = replace(actor(), profile_id=key.profile_id)
    record(session(), who, Attempt(action, details, category="credentials"))
