"""POST /connections/connect, GET /connections/{id}/accounts, POST /connections/{id}/finalize."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from api import auth, connecting, context, db, errors, providers
from api.audit import Attempt, record, target
from api.guard import guarded
from api.http import Blueprint
from api.models import Connection, Profile, Workspace
from api.models.connection import HOLDING
from api.roles import Role
from api.scopes import Scope
from api.v1.connections.routes import own
from api.v1.connections.schemas import CandidateShape, ConnectBody, ConnectHandoff, ConnectionShape, FinalizeBody
from api.v1.connections.shape import told
from api.writing import actor, idempotent, session
from connectors.grants import Client

bp = Blueprint("connecting", __name__, description="Letting us in to an account.")


@bp.route("/connections/connect", methods=["POST"])
@guarded(scope=Scope.CONNECTIONS_WRITE, role=Role.EDITOR)
@bp.arguments(ConnectBody)
@idempotent()
@bp.response(201, ConnectHandoff)
def connect(body: dict[str, Any]) -> dict[str, Any]:
    """Make a page on which somebody lets us in to an account

    Send the account's owner to `url` within the hour and poll GET /handoffs/{id}; `return_url` gets `handoff_id` in its
    query. The page says who asks and leads on to the provider's; whoever went on comes back in the same browser. An
    open one for the same provider ends. With `reconnect_connection_id` that connection gets a new token.
    """
    settings, profile = context.settings(), auth.current().profile
    asked = providers.client(settings, body["provider"])
    providers.require_up(asked, settings)
    # the profile before its connection, as whoever archives it does
    session().get_one(Profile, profile.id, with_for_update={"key_share": True})
    number = body["reconnect_connection_id"]
    renewed = renewable(own(session(), number, locked=True), body["provider"], asked) if number else None
    made = connecting.begin(
        session(),
        settings,
        provider=body["provider"],
        profile=profile,
        return_url=body["return_url"],
        renewed=renewed,
    )
    connection = session().get_one(Connection, made.connection_id)
    _record(connection, "connection.begun", {"provider": body["provider"], "is_new": renewed is None})
    return {"id": made.id, "url": made.url, "expires_at": made.expires_at, "connection_id": connection.id}


@bp.route("/connections/<connection_id>/accounts")
@guarded(scope=Scope.CONNECTIONS_WRITE, role=Role.EDITOR, uuids=["connection_id"])
@bp.response(200, CandidateShape(many=True))
def candidate_accounts(connection_id: str) -> list[dict[str, Any]]:
    """The accounts to choose from, in the provider's order

    409 connection_not_ready until somebody has been at the provider's page.
    """
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        connection = own(reading, connection_id)
        if connection.status == "pending":
            raise errors.CONNECTION_NOT_READY()
        _require_choosing(connection)
        return [
            {**row, "selectable": row["reason"] is None} for row in _candidates(reading, connection).values()
        ]  # fmt: skip


@bp.route("/connections/<connection_id>/finalize", methods=["POST"])
@guarded(scope=Scope.CONNECTIONS_WRITE, role=Role.EDITOR, uuids=["connection_id"])
@bp.arguments(FinalizeBody)
@idempotent()
@bp.response(200, ConnectionShape(many=True))
def finalize(body: dict[str, Any], connection_id: str) -> list[dict[str, Any]]:
    """Connect the chosen accounts

    The first becomes this connection, each further one a connection of its own; their first sync is queued. One
    that the profile has already keeps its connection, with the new token.
    """
    # two that choose one account at once do it one after the other
    session().get_one(Workspace, auth.current().profile.workspace_id, with_for_update={"key_share": True})
    connection = own(session(), connection_id, locked=True)
    _require_choosing(connection)
    known = _candidates(session(), connection)
    chosen = list(dict.fromkeys(body["external_account_ids"]))
    for number, one in enumerate(chosen):
        if one not in known or known[one]["reason"] == "account_disabled":
            raise errors.VALIDATION_ERROR(f"external_account_ids[{number}]: is none of the accounts to choose from")
    if any(known[one]["reason"] for one in chosen):
        raise errors.ACCOUNT_CONNECTED_ELSEWHERE()
    taken = connecting.take(session(), context.settings(), connection, [known[one] for one in chosen])
    _record(connection, "connection.made", {"external_account_ids": chosen})
    session().flush()
    return told(session(), taken)


def renewable(connection: Connection, provider: str, asked: Client) -> Connection:
    """The connection, if it can be made anew at this provider: 422 at another, 409 when it never was or is over.

    503 service_unavailable for one whose token its owner made: the provider knows no app of ours.
    """
    if connection.provider_word != provider:
        raise errors.VALIDATION_ERROR("reconnect_connection_id: is a connection to another provider")
    if connection.status not in HOLDING:
        raise errors.CONNECTION_NOT_READY("Only a connection that was made can be made anew.")
    if asked.is_sandbox and not connection.is_sandbox:
        why = "Whoever operates this deployment gives this connection another token, with `touchledger connect`."
        raise errors.SERVICE_UNAVAILABLE(why, headers=providers.RETRY)
    return connection


def _require_choosing(connection: Connection) -> None:
    if connection.status != "pending_selection":
        raise errors.INVALID_STATE("This connection has no accounts to choose from.", reason="connection_not_pending")


def _candidates(unit: Session, connection: Connection) -> dict[str, dict[str, Any]]:
    rows = {row["external_account_id"]: row for row in connection.candidates}
    taken = connecting.elsewhere(unit, connection, rows)
    return {
        one: {**row, "reason": row["reason"] or ("account_connected_elsewhere" if one in taken else None)}
        for one, row in rows.items()
    }


def _record(connection: Connection, action: str, after: dict[str, Any]) -> None:
    about = {"target": target("connection", connection.id, connection.display_name), "after": after}
    record(session(), actor(), Attempt(action, about))
