"""GET /profiles: what the caller has, and which credential it came with."""

from __future__ import annotations

from typing import Any

import marshmallow as ma
import sqlalchemy as sa
from marshmallow import fields
from sqlalchemy.orm import Session

from api import auth, context, credentials, db, errors, op_lists, reach
from api.auth import Kind, Principal
from api.envelopes import Meta
from api.fields import OpaqueId
from api.guard import caller_guarded
from api.http import Blueprint
from api.models import ApiKey, Delegation, Profile, UserSession, UserToken, Workspace
from api.op_lists import By, ListQuery
from api.scopes import Scope
from api.v1.profiles.shape import ProfileShape, told

bp = Blueprint("profiles", __name__, description="Profiles: the businesses that figures are about.")

ORDER = (
    By(Workspace.name.expression, lambda row: row.Workspace.name),
    By(Profile.name.expression, lambda row: row.Profile.name),
    By(Profile.id.expression, lambda row: row.Profile.id),
)


class Credential(ma.Schema):
    """Who is asking."""

    kind = fields.String(
        required=True, metadata={"enum": [kind.value for kind in Kind], "description": "What the request came with."}
    )
    prefix = fields.String(
        required=True, allow_none=True, metadata={"description": "How lists show it; null for a session."}
    )
    scopes = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "What the credential carries; a key never what its healthcare profile withholds."},
    )
    expires_at = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={"description": "When it ends by itself, a session also when idle; null where it does not."},
    )


class CallerMeta(Meta):
    """Meta that says which credential came."""

    credential = fields.Nested(Credential, required=True)


class ListedProfile(ProfileShape):
    """A profile, and whose it is."""

    meta_schema = CallerMeta

    workspace_name = fields.String(required=True)


class ProfilesQuery(ListQuery):
    """A page of the list; for apps, by their own name for a profile."""

    external_ref = OpaqueId(load_default=None, metadata={"description": "The app's own name for it; apps only."})


class InWorkspace(ma.Schema):
    """The workspace to stay within."""

    workspace_id = fields.UUID(load_default=None, metadata={"description": "Only profiles of this workspace."})


@bp.route("/profiles")
@caller_guarded(scope=Scope.ANALYTICS_READ, kinds=list(Kind), key_scopes=())
@bp.arguments(InWorkspace, location="query")
@bp.arguments(ProfilesQuery, location="query")
@bp.response(200, ListedProfile(many=True))
def profile_list(_workspace: dict[str, Any], query: dict[str, Any]) -> list[dict[str, Any]]:
    """The profiles a credential opens

    A key's own; all that a person's memberships reach; what an app provisioned or adopted. Needs no scope of a key.
    """
    caller = auth.current()
    if query["external_ref"] is not None and caller.kind is not Kind.APP:
        raise errors.INVALID_PARAMETER("external_ref: only an app has names of its own for profiles.")
    wanted = _within(caller, _reached(caller, query["external_ref"]))
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        context.meta(credential=_credential(reading, caller))
        within = {"workspace": caller.reach.workspace, "profile": caller.reach.profile}
        rows = op_lists.page(
            reading,
            wanted,
            ORDER,
            query,
            route="/profiles",
            owner=caller.user_id or caller.id,
            filters={
                **{name: one.id if one else None for name, one in within.items()},
                "external_ref": query["external_ref"],
            },
        )
        profiles = told(reading, [row.Profile for row in rows], caller)
    return [
        {**profile, "workspace_name": row.Workspace.name} for row, profile in zip(rows, profiles, strict=True)
    ]  # fmt: skip


def _reached(caller: Principal, external_ref: str | None) -> sa.Select[Any]:
    if caller.user_id is not None:
        return reach.profiles_of(caller.user_id)
    if caller.kind is Kind.APP:
        named = sa.true() if external_ref is None else Delegation.external_ref == external_ref
        return reach.delegated_to(caller.id).where(named)
    own = sa.select(Profile).join(Workspace, Workspace.id == Profile.workspace_id)
    return own.where(Profile.id == caller.profile.id)


def _within(caller: Principal, wanted: sa.Select[Any]) -> sa.Select[Any]:
    wanted = wanted.add_columns(Workspace)
    if caller.reach.workspace is not None:
        wanted = wanted.where(Profile.workspace_id == caller.reach.workspace.id)
    if caller.reach.profile is not None:
        wanted = wanted.where(Profile.id == caller.reach.profile.id)
    return wanted


def _credential(reading: Session, caller: Principal) -> Any:
    shown, expires_at, carried = None, None, caller.scopes
    if caller.kind is Kind.APP and caller.app is not None:
        shown = credentials.shown(caller.app.client_id or "")
    elif caller.kind is Kind.SESSION:
        expires_at = reading.get_one(UserSession, caller.id).expires_at
    else:
        is_key = caller.kind is Kind.API_KEY
        kept = reading.get_one(ApiKey, caller.id) if is_key else reading.get_one(UserToken, caller.id)
        shown, expires_at = kept.prefix, kept.expires_at
        if is_key:
            carried -= auth.withheld(caller, reading.get_one(Workspace, caller.profile.workspace_id))
    facts = {"kind": caller.kind.value, "prefix": shown, "scopes": sorted(carried), "expires_at": expires_at}
    # meta passes through no schema of the view's
    return Credential().dump(facts)
