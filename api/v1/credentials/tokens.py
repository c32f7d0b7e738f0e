"""GET and POST /me/mcp-tokens, DELETE /me/mcp-tokens/{id}."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from api import auth, context, credentials, db, errors, op_lists
from api.audit import Attempt, record
from api.auth import LIMITS, Kind
from api.db import now
from api.guard import caller_guarded
from api.http import Blueprint
from api.models import OAuthAuthorization, User, UserSession, UserToken
from api.oauth import families
from api.op_lists import By, ListQuery
from api.reading import timestamp
from api.scopes import GRANTS, Scope
from api.v1.credentials.me_schemas import MintedToken, RevokedToken, TokenBody, TokenRow
from api.writing import actor, idempotent, session

bp = Blueprint("mcp_tokens", __name__, description="What agents hold for a person.")


@bp.route("/me/mcp-tokens")
@caller_guarded(kinds={Kind.SESSION})
@bp.arguments(ListQuery, location="query")
@bp.response(200, TokenRow(many=True))
def token_list(query: dict[str, Any]) -> list[dict[str, Any]]:
    """The own user tokens, newest first, ended ones too

    Those minted here and those that agents got by the person's consent, `origin` says which. The token itself is told
    by no list, only how it begins.
    """
    person = auth.current().person
    order = [
        By(UserToken.created_at, lambda row: row.created_at, descending=True),
        By(UserToken.id, lambda row: row.id),
    ]
    chosen = sa.select(UserToken).where(UserToken.user_id == person)
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        rows = op_lists.page(reading, chosen, order, query, route="/me/mcp-tokens", owner=person, filters={})
    at = now()
    return [
        {**_facts(row), "status": _status(row, at), "last_used_at": row.last_used_at, "origin": row.origin}
        for row in rows
    ]


@bp.route("/me/mcp-tokens", methods=["POST"])
@caller_guarded(kinds={Kind.SESSION})
@bp.arguments(TokenBody)
@idempotent(once_shown=["token"])
@bp.response(201, MintedToken)
def mint_token(body: dict[str, Any]) -> dict[str, Any]:
    """Mint a user token for an agent

    It acts as this person, within its grants and what the person's memberships give, and has an allowance of its own.
    """
    # whoever resets the password holds the person's row, and ends tokens with the sessions
    session().scalar(sa.select(User.id).where(User.id == auth.current().person).with_for_update(key_share=True))
    if session().get_one(UserSession, auth.current().id).revoked_at is not None:
        raise auth.unauthorized()
    secret = credentials.mint("tl_user")
    token = UserToken(user_id=auth.current().person, name=body["name"], origin="session")
    token.prefix, token.digest = credentials.shown(secret), credentials.digest(secret)
    token.grants = [grant for grant in GRANTS if grant in body["grants"]]
    token.expires_at = now() + timedelta(days=body["expires_in_days"])
    session().add(token)
    session().flush()
    _record("user_token.minted", token, {"grants": token.grants, "expires_at": timestamp(token.expires_at)})
    return {**_facts(token), "token": secret}


@bp.route("/me/mcp-tokens/<token_id>", methods=["DELETE"])
@caller_guarded(kinds={Kind.SESSION}, uuids=["token_id"])
@idempotent()
@bp.response(200, RevokedToken)
def revoke_token(token_id: str) -> dict[str, Any]:
    """Revoke one of the own user tokens

    A token that an agent got by consent ends with the consent, and all else that was issued under it.
    """
    token = session().get(UserToken, token_id)
    if token is None or token.user_id != auth.current().person:
        raise errors.NOT_FOUND()
    if token.revoked_at is None:
        # the consent before the token, as whoever refreshes it or ends the consent does; one that was refreshed while
        # this waited ends with what took its place
        held = families.hold(session(), OAuthAuthorization.id == token.family_id)
        session().refresh(token, with_for_update=True)
        for consent in held:
            families.end(session(), consent)
        token.revoked_at = token.revoked_at or now()
        _record("user_token.revoked", token)
    return {"id": token.id, "status": "revoked"}


def _facts(token: UserToken) -> dict[str, Any]:
    mapped = {scope for grant in token.grants for scope in GRANTS.get(grant, ())}
    return {
        "id": token.id,
        "name": token.name,
        "prefix": token.prefix,
        "grants": token.grants,
        "scopes": [scope.value for scope in Scope if scope in mapped],
        "rate_limit_units_per_minute": LIMITS[Kind.USER_TOKEN],
        "expires_at": token.expires_at,
        "created_at": token.created_at,
    }


def _status(token: UserToken, at: datetime) -> str:
    if token.revoked_at is not None:
        return "revoked"
    return "active" if at < token.expires_at else "expired"


def _record(action: str, token: UserToken, after: dict[str, Any] | None = None) -> None:
    details = {"target": {"kind": "user_token", "id": token.id, "label": token.name}, "after": after}
    record(session(), actor(), Attempt(action, details, category="credentials"))
