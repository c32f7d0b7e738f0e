"""DELETE /profiles/{profile_id}, POST .../adopt and PUT .../entitlements/{feature}: what apps do with profiles."""

from __future__ import annotations

from functools import wraps
from typing import Any, cast

from api import auth, context, errors
from api.audit import Actor, Attempt, record
from api.auth import Kind
from api.db import now
from api.guard import View, caller_guarded
from api.http import Blueprint
from api.models import App, Profile, Workspace
from api.purge import retire
from api.v1.profiles import adoption, entitlements
from api.v1.profiles.app_schemas import (
    AdoptBody,
    Adopted,
    EndedWithProfile,
    EntitlementAnswer,
    EntitlementBody,
    ProfileArchived,
)
from api.writing import actor, idempotent, session

bp = Blueprint("profiles_of_apps", __name__, description="Profiles that an app provisioned or adopted.")

FEATURE = {
    "in": "path",
    "name": "feature",
    "required": True,
    "schema": {"type": "string", "enum": list(entitlements.FEATURES)},
}


def _known_feature(view: View) -> View:
    """400 invalid_parameter for a feature nobody has, before the body is looked at; stands directly under the guard."""

    @wraps(view)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if kwargs["feature"] not in entitlements.FEATURES:
            raise errors.INVALID_PARAMETER(f"feature: must be one of {', '.join(entitlements.FEATURES)}.")
        return view(*args, **kwargs)

    return cast(View, checked)


@bp.route("/profiles/<profile_id>", methods=["DELETE"])
@caller_guarded(kinds=[Kind.APP], uuids=["profile_id"])
@idempotent()
@bp.response(200, ProfileArchived)
def archive_profile(profile_id: str) -> dict[str, Any]:
    """Archive a profile that the app provisioned

    Nobody opens it any more, and its tracking, attribution and spend data are purged: rows at once, files and figures
    with the next build. There is no way back.
    """
    # the workspace first, as whoever changes its people does
    workspace_id = session().get_one(Profile, profile_id).workspace_id
    held: dict[str, Any] = {"with_for_update": {"key_share": True}, "populate_existing": True}
    session().get_one(Workspace, workspace_id, **held)
    profile = session().get_one(Profile, profile_id, **held)
    if profile.provisioned_by_app_id != _app().id:
        raise errors.FORBIDDEN("The app adopted this profile: its owner archives it.", reason="not_provisioned_by_app")
    nothing = dict.fromkeys(EndedWithProfile().fields, 0)
    if profile.archived_at is not None:
        archived = {"archived": False, "archived_at": profile.archived_at, "counts": nothing}
    else:
        at = now()
        ended = retire(session(), [profile_id], at=at)
        counted = {name: getattr(ended, name) for name in nothing if hasattr(ended, name)}
        archived = {"archived": True, "archived_at": at, "counts": {**nothing, **counted}}
        _record(profile, Attempt("profile.archived", {"target": _target(profile), "after": counted}))
    return {"profile_id": profile_id, **archived}


@bp.route("/profiles/<candidate_id>/adopt", methods=["POST"])
@caller_guarded(kinds=[Kind.APP], uuids=["candidate_id"])
@bp.arguments(AdoptBody)
@idempotent()
@bp.response(200, Adopted)
def adopt_profile(body: dict[str, Any], candidate_id: str) -> dict[str, Any]:
    """Adopt an existing profile

    Only while an owner or admin of it lets the app in; anything else is as unknown.
    """
    profile, tie, is_new = adoption.adopt(session(), _app(), candidate_id, body["external_ref"])
    context.meta(profile_id=profile.id)
    if is_new:
        _record(profile, Attempt("profile.adopted", {"target": _target(profile)}))
    return {
        "profile_id": profile.id,
        "workspace_id": profile.workspace_id,
        "external_ref": tie.external_ref,
        "adopted": is_new,
        "adopted_at": tie.created_at,
    }


@bp.route("/profiles/<profile_id>/entitlements/<feature>", methods=["PUT"], parameters=[FEATURE])
@caller_guarded(kinds=[Kind.APP], uuids=["profile_id"])
@_known_feature
@bp.arguments(EntitlementBody)
@idempotent()
@bp.response(200, EntitlementAnswer)
def set_entitlement(body: dict[str, Any], profile_id: str, feature: str) -> dict[str, Any]:
    """Switch a feature of a profile on or off

    Features: `atribu_attribution`, `partner_audiences`. Attribution switched off keeps data and reads, and refuses
    writes.
    """
    profile = session().get_one(Profile, profile_id, with_for_update={"key_share": True})
    kept, changed = entitlements.switch(session(), _app(), profile, feature, is_enabled=body["enabled"])
    if changed:
        change = {"before": {feature: not body["enabled"]}, "after": {feature: body["enabled"]}}
        _record(profile, Attempt("entitlement.changed", {"target": _target(profile), **change}))
    return {
        "profile_id": profile_id,
        "feature": feature,
        "enabled": body["enabled"],
        "changed": changed,
        "updated_at": kept.updated_at,
    }


def _app() -> App:
    app = auth.current().app
    assert app is not None, "only apps pass the guard"
    return app


def _target(profile: Profile) -> dict[str, str]:
    return {"kind": "profile", "id": profile.id, "label": profile.name}


def _record(profile: Profile, attempt: Attempt) -> None:
    by = actor()
    record(session(), Actor(by.kind, by.id, profile.workspace_id, profile.id, by.request_id), attempt)
