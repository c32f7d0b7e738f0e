"""/workspaces/{workspaceId}/connected-apps: what people let apps and agents do, and ending it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from api import actors, auth, context, db, errors, op_lists
from api.audit import Attempt, record
from api.guard import workspace_guarded
from api.models import ApiKey, App, Membership, OAuthAuthorization, OAuthCode, Profile, UserToken, Workspace
from api.models.workspace import PROVISIONED
from api.oauth import families
from api.op_lists import By, ListQuery
from api.roles import Role
from api.scopes import Scope
from api.v1.apps.connected_schemas import ConnectedApp, Disconnected
from api.v1.apps.routes import bp
from api.writing import actor, idempotent, session

CONSENTED = ("granted", "revoked")

_ORDER = (
    By(OAuthAuthorization.created_at.expression, lambda row: row.created_at, descending=True),
    By(OAuthAuthorization.id.expression, lambda row: row.id),
)


@bp.route("/workspaces/<workspace_id>/connected-apps")
@workspace_guarded(role=Role.ADMIN)
@bp.arguments(ListQuery, location="query")
@bp.response(200, ConnectedApp(many=True))
def connected_app_list(query: dict[str, Any], workspace_id: str) -> list[dict[str, Any]]:
    """Apps that people connected to profiles of a workspace, and agents of its members, newest first

    Consents that stand and those that were ended. An agent is listed in every workspace of its person, since it reaches
    what they do; where an app adds the people, once its person has come in. DELETE on the id ends one.
    """
    profile, chosen = auth.current().reach.profile, _of_workspace(workspace_id)
    if profile is not None:
        chosen = chosen.where(OAuthAuthorization.profile_id == profile.id)
    filters = {"profile_id": profile.id if profile else None}
    with db.transaction(context.settings().operational_url, durable=False) as unit:
        found = op_lists.page(unit, chosen, _ORDER, query, route="/connected-apps", owner=workspace_id, filters=filters)
        return _told(unit, found)


@bp.route("/workspaces/<workspace_id>/connected-apps/<authorization_id>", methods=["DELETE"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN, uuids=["authorization_id"])
@idempotent()
@bp.response(200, Disconnected)
def disconnect_app(workspace_id: str, authorization_id: str) -> dict[str, Any]:
    """End what a person let an app or an agent do

    Its keys and tokens open nothing from the next request on; an agent's end in every workspace of the person. An app's
    webhooks of the profile are paused, and a profile it adopted is its own no longer. Data connections stay.
    """
    chosen = _of_workspace(workspace_id).where(OAuthAuthorization.id == authorization_id)
    held = session().scalars(chosen.with_for_update()).one_or_none()
    if held is None:
        raise errors.NOT_FOUND("There is no such authorization.")
    if held.status == "granted":
        families.end(session(), held)
        session().flush()
        target = {"kind": "authorization", "id": held.id, "label": held.client_name}
        record(session(), actor(), Attempt("app.disconnected", {"target": target}, category="credentials"))
    return {
        "id": held.id,
        "status": held.status,
        "revoked_at": held.revoked_at,
        "keys_revoked": held.keys_revoked,
        "tokens_revoked": held.tokens_revoked,
    }


def _of_workspace(workspace_id: str) -> sa.Select[OAuthAuthorization]:
    id_ = OAuthAuthorization.id
    of_members = sa.select(id_).join(Membership, Membership.user_id == OAuthAuthorization.user_id)
    of_members = of_members.where(Membership.workspace_id == workspace_id, OAuthAuthorization.kind == "agent")
    # whom an app added by address was not asked: what a stranger lets agents do is nobody's there until they come in
    asked = sa.exists().where(Workspace.id == workspace_id, Workspace.acquisition_source != PROVISIONED)
    of_members = of_members.where(sa.or_(Membership.last_seen_at.is_not(None), asked))
    own = sa.select(id_).where(OAuthAuthorization.workspace_id == workspace_id)
    return sa.select(OAuthAuthorization).where(
        OAuthAuthorization.granted_at.is_not(None),
        OAuthAuthorization.status.in_(CONSENTED),
        # each found by an index: one condition of both reads the consents of everybody
        id_.in_(own.union_all(of_members)),
    )


def _told(unit: Session, found: Sequence[OAuthAuthorization]) -> list[dict[str, Any]]:
    people = actors.told(unit, [("session", one.user_id) for one in found])
    apps = {one.id: one for one in unit.scalars(sa.select(App).where(App.id.in_([one.app_id for one in found])))}
    ids = [one.profile_id for one in found]
    names = {one.id: one.name for one in unit.scalars(sa.select(Profile).where(Profile.id.in_(ids)))}
    used = _uses(unit, [one.id for one in found])
    return [
        {
            "id": one.id,
            "kind": one.kind,
            "app": {
                "app_id": one.app_id,
                "name": one.client_name,
                "logo_url": apps[one.app_id].logo_url if one.app_id in apps else None,
            },
            "profile_id": one.profile_id,
            "profile_name": names.get(one.profile_id or ""),
            "scopes": one.scopes,
            "granted_by": people["session", one.user_id],
            "granted_at": one.granted_at,
            "last_used_at": max((at for at in (one.last_used_at, *used.get(one.id, ())) if at), default=None),
            "status": one.status,
        }
        for one in found
    ]


def _uses(unit: Session, ids: Sequence[str]) -> dict[str, list[datetime]]:
    """By authorization, when its keys, also those that they were rotated into, and its tokens were last used."""
    issued, used = aliased(ApiKey), sa.func.max(ApiKey.last_used_at)
    of_keys = sa.select(OAuthCode.authorization_id, used).join(issued, issued.id == OAuthCode.api_key_id)
    of_keys = of_keys.join(ApiKey, ApiKey.lineage_id == issued.lineage_id)
    of_keys = of_keys.where(OAuthCode.authorization_id.in_(ids)).group_by(OAuthCode.authorization_id)
    of_tokens = sa.select(UserToken.family_id, sa.func.max(UserToken.last_used_at))
    of_tokens = of_tokens.where(UserToken.family_id.in_(ids)).group_by(UserToken.family_id)
    found: dict[str, list[datetime]] = {}
    for whose, at in (*unit.execute(of_keys), *unit.execute(of_tokens)):
        if at is not None:
            found.setdefault(whose, []).append(at)
    return found
