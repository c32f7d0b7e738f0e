"""/workspaces/{workspaceId}/oauth-apps: registered apps and their secrets."""

from __future__ import annotations

from typing import Any

from api import auth, context, db
from api.audit import Attempt, record
from api.auth import Kind
from api.guard import workspace_guarded
from api.http import Blueprint
from api.models import App
from api.op_lists import ListQuery
from api.roles import Role
from api.scopes import Scope
from api.v1.apps import registration, rows
from api.v1.apps.schemas import AppBody, AppChange, AppShape, NewApp, NewSecret, RotateBody
from api.writing import actor, idempotent, session

bp = Blueprint("apps", __name__, description="Apps that a workspace registered, and apps that people connected.")


@bp.route("/workspaces/<workspace_id>/oauth-apps")
@workspace_guarded(role=Role.ADMIN)
@bp.arguments(ListQuery, location="query")
@bp.response(200, AppShape(many=True))
def app_list(query: dict[str, Any], workspace_id: str) -> list[dict[str, Any]]:
    """The apps that a workspace registered

    In the order they were registered, suspended ones too, without secrets. With `profile_id` those that are tied to
    that profile.
    """
    profile = auth.current().reach.profile
    with db.transaction(context.settings().operational_url, durable=False) as unit:
        return rows.page(unit, workspace_id, query, profile_id=profile.id if profile else None)


@bp.route("/workspaces/<workspace_id>/oauth-apps", methods=["POST"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN, kinds={Kind.SESSION})
@bp.arguments(AppBody)
@idempotent(once_shown=["client_secret"])
@bp.response(201, NewApp)
def register_app(body: dict[str, Any], workspace_id: str) -> dict[str, Any]:
    """Register an app

    Its id and secret are its own credential (HTTP Basic), with which it provisions profiles. The secret is shown once.
    """
    app, secret = registration.register(session(), workspace_id=workspace_id, wanted=body)
    _record("app.registered", app, after=_told(app))
    return {**rows.told(session(), [app])[0], "client_secret": secret}


@bp.route("/workspaces/<workspace_id>/oauth-apps/<app_id>", methods=["PATCH"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN, kinds={Kind.SESSION}, uuids=["app_id"])
@bp.arguments(AppChange)
@idempotent()
@bp.response(200, AppShape)
def change_app(body: dict[str, Any], workspace_id: str, app_id: str) -> dict[str, Any]:
    """Change an app, suspend it or take it up again

    Suspending revokes all keys of the app at once, and ends what people let it do.
    """
    app = registration.find(session(), workspace_id, app_id)
    before = _told(app)
    registration.change(session(), app=app, wanted=body)
    _record("app.changed", app, before=before, after=_told(app))
    return rows.told(session(), [app])[0]


@bp.route("/workspaces/<workspace_id>/oauth-apps/<app_id>/rotate-secret", methods=["POST"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN, kinds={Kind.SESSION}, uuids=["app_id"])
@bp.arguments(RotateBody)
@idempotent(once_shown=["client_secret"])
@bp.response(201, NewSecret)
def rotate_app_secret(body: dict[str, Any], workspace_id: str, app_id: str) -> dict[str, Any]:
    """Give an app a new secret, beside which the old one works for some days

    The answer is the only one that holds the new secret. The ones so far end after `grace_days`, or when they would
    have ended anyway; with 0 they end at once, so put the new one in place first. The app's id, its keys and what
    people let it do stay.
    """
    app = registration.find(session(), workspace_id, app_id)
    secret, ends = registration.rotate_secret(session(), app=app, grace_days=body["grace_days"])
    _record("app.secret_rotated", app)
    return {"client_secret": secret, "previous_expires_at": ends}


def _told(app: App) -> dict[str, Any]:
    return {
        "name": app.name,
        "description": app.description,
        "logo_url": app.logo_url,
        "redirect_uris": app.redirect_uris,
        "connect_scopes": app.connect_scopes,
        "status": app.status,
    }


def _record(action: str, app: App, **change: Any) -> None:
    target = {"kind": "app", "id": app.id, "label": app.name}
    record(session(), actor(), Attempt(action, {"target": target, **change}, category="credentials"))
