"""/workspaces/{workspaceId}/oauth-apps/{appId}/dpa: the data processing agreement for what an app provisions."""

from __future__ import annotations

from typing import Any

from api import auth, context, db, dpa, errors
from api.audit import Attempt, record
from api.guard import workspace_guarded
from api.models import App, DpaAcceptance
from api.roles import Role
from api.scopes import Scope
from api.v1.apps import registration, rows
from api.v1.apps.routes import bp
from api.v1.apps.schemas import DpaAccepted, DpaBody, DpaText, DpaWithdrawn, WithdrawBody
from api.writing import actor, idempotent, session


@bp.route("/workspaces/<workspace_id>/oauth-apps/<app_id>/dpa")
@workspace_guarded(role=Role.ADMIN, uuids=["app_id"])
@bp.response(200, DpaText)
def dpa_text(workspace_id: str, app_id: str) -> dict[str, Any]:
    """The data processing agreement as it is to be accepted now

    An acceptance quotes its `version` and `text_hash`, so read it anew before each. Where the app stands with it is in
    `dpa` of GET /workspaces/{workspace_id}/oauth-apps. Once there is a newer version, exports under the one before go
    on for 30 days.
    """
    with db.transaction(context.settings().operational_url, durable=False) as unit:
        registration.find(unit, workspace_id, app_id)
    return {"version": dpa.VERSION, "texts": dpa.TEXTS, "text_hash": dpa.TEXT_HASH}


@bp.route("/workspaces/<workspace_id>/oauth-apps/<app_id>/dpa/accept", methods=["POST"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN, uuids=["app_id"])
@bp.arguments(DpaBody)
@idempotent()
@bp.response(200, DpaAccepted)
def accept_dpa(body: dict[str, Any], workspace_id: str, app_id: str) -> dict[str, Any]:
    """Accept the agreement for every profile that an app provisions

    `version` and `text_hash` must be those of the current text: else 409 `invalid_state`/`dpa_version_outdated`, and it
    is to be read again. Until it is accepted nothing is exported of profiles that the app provisioned: what converts
    there is skipped, and stays so. Accepted twice, the first signature stands.
    """
    app = registration.find(session(), workspace_id, app_id)
    if (body["version"], body["text_hash"].lower()) != (dpa.VERSION, dpa.TEXT_HASH):
        raise errors.INVALID_STATE("This is not the current text; read it again.", reason="dpa_version_outdated")
    if dpa.standing(session(), app_id).state != "accepted":
        signed = DpaAcceptance(app_id=app_id, version=dpa.VERSION, text_hash=dpa.TEXT_HASH)
        signed.signatory_name, signed.signatory_title = body["signatory_name"], body["signatory_title"]
        signed.accepted_by_kind, signed.accepted_by_id = auth.current().kind.value, auth.current().person
        session().add(signed)
        session().flush()
        _record("dpa.accepted", app, after={"version": dpa.VERSION})
    return {**_standing(app_id), "profiles_covered": _provisioned(app_id)}


@bp.route("/workspaces/<workspace_id>/oauth-apps/<app_id>/dpa/withdraw", methods=["POST"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN, uuids=["app_id"])
@bp.arguments(WithdrawBody)
@idempotent()
@bp.response(200, DpaWithdrawn)
def withdraw_dpa(body: dict[str, Any], workspace_id: str, app_id: str) -> dict[str, Any]:
    """Withdraw the acceptance: exports of the app's profiles stop at once

    What converts from then on, and what waits to be exported, is skipped with the reason `legal_gate_blocked`; nothing
    that left comes back, and profiles, keys and figures stay. Accepting again lets out what converts from then on.
    Withdrawn twice it tells the first withdrawal.
    """
    app = registration.find(session(), workspace_id, app_id)
    signature = dpa.standing(session(), app_id).signature
    if signature is not None and signature.withdrawn_at is None:
        signature.withdrawn_at, signature.withdrawn_by_id = db.now(), auth.current().person
        signature.withdraw_reason = body["reason"]
        session().flush()
        _record("dpa.withdrawn", app, before={"version": signature.version})
    return {**_standing(app_id), "exports_gated": _provisioned(app_id)}


def _standing(app_id: str) -> dict[str, Any]:
    return rows.agreements_of(session(), {app_id: dpa.standing(session(), app_id)})[app_id]


def _provisioned(app_id: str) -> int:
    return rows.profiles_of(session(), [app_id], kind="provisioned").get(app_id, 0)


def _record(action: str, app: App, **change: Any) -> None:
    target = {"kind": "app", "id": app.id, "label": app.name}
    record(session(), actor(), Attempt(action, {"target": target, **change}, category="privacy"))
