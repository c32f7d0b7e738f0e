"""POST /profiles: an app provisions a profile with all it needs, a person adds one to their workspace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api import auth, context, plans, tracking_keys
from api.audit import Actor, Attempt, record
from api.auth import Kind, Principal
from api.envelopes import envelope_of
from api.guard import caller_guarded
from api.http import Blueprint
from api.models import Profile, Workspace
from api.rate_limit import SECOND, Bucket
from api.scopes import Scope
from api.v1.profiles import places
from api.v1.profiles.creation_schemas import CreationBody, Provisioned
from api.v1.profiles.provision import Provision, provision
from api.v1.profiles.shape import ProfileShape, told
from api.writing import actor, idempotent, session

bp = Blueprint("profile_creation", __name__, description="New profiles.")

HOURLY = Bucket("profile_creation_hourly", limit=200, window=3600 * SECOND)
KINDS = (Kind.APP, Kind.SESSION, Kind.USER_TOKEN)


def _described(status: str, *schemas: Any) -> dict[int, Any]:
    either = [envelope_of(schema) for schema in schemas]
    content = {"schema": either[0] if len(either) == 1 else {"oneOf": either}}
    return {int(status): {"description": "", "content": {"application/json": content}}}


@bp.route("/profiles", methods=["POST"])
@caller_guarded(scope=Scope.PROFILES_WRITE, kinds=KINDS, app_bucket=HOURLY)
@bp.doc(responses=_described("201", Provisioned(), ProfileShape()) | _described("200", Provisioned()))
@bp.arguments(CreationBody)
@idempotent(once_shown=["api_key"])
@bp.response(201)
def create_profile(body: dict[str, Any]) -> Any:
    """Create a profile

    A person, at least an admin, adds a profile to a workspace. An app makes workspace, owner, profile, partner key and
    tracking key in one call; a reference of its own that it used before finds that profile: 200, `created` false.
    """
    caller = auth.current()
    if caller.app is not None:
        made = provision(session(), caller.app, body)
        context.meta(profile_id=made.profile.id)
        return _provisioned(made, caller), 201 if made.key else 200
    workspace = places.workspace_of(session(), caller, body["workspace_id"])
    profile = add(workspace, body)
    context.meta(profile_id=profile.id)
    return ProfileShape().dump(told(session(), [profile], caller)[0])


def add(workspace: Workspace, body: Mapping[str, Any], *, may_share_name: bool = False, **more: Any) -> Profile:
    """A new profile in the workspace, with a tracking key, if plan and name allow it; audited."""
    plans.require_profile_room(session(), workspace)
    places.refuse_archived(session(), workspace)
    if not may_share_name:
        places.refuse_same_name(session(), workspace.id, body["name"])
    profile = Profile(
        workspace_id=workspace.id,
        name=body["name"],
        timezone=body["timezone"] or workspace.timezone,
        reporting_currency=body["currency"] or workspace.reporting_currency,
        website=body["website"],
        **more,
    )
    session().add(profile)
    session().flush()
    tracking_keys.mint(session(), profile.id)
    _record(profile, "profile.created")
    return profile


def _provisioned(made: Provision, caller: Principal) -> Any:
    if made.key is not None:
        _record(made.profile, "profile.provisioned")
    site = tracking_keys.oldest(session(), made.profile.id)
    return Provisioned().dump(
        {
            "profile": told(session(), [made.profile], caller)[0],
            "workspace_id": made.profile.workspace_id,
            "user_id": made.user_id,
            "created": made.key is not None,
            "api_key": made.key
            and {"id": made.key.id, "key": made.secret, "prefix": made.key.prefix, "scopes": made.key.scopes},
            "tracking_key": site.key if site else None,
        }
    )


def _record(profile: Profile, action: str) -> None:
    by = actor()
    place = Actor(by.kind, by.id, profile.workspace_id, profile.id, by.request_id)
    target = {"kind": "profile", "id": profile.id, "label": profile.name}
    record(session(), place, Attempt(action, {"target": target}))
