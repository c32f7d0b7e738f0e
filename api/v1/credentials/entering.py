"""POST /auth/sign-up, /auth/sign-in, /auth/sign-out, /auth/password."""

from __future__ import annotations

from typing import Any

from flask import request

from api import auth, context, errors, passwords, sign_in
from api.audit import Attempt, record
from api.auth import Kind
from api.bodies import Nothing
from api.db import now
from api.guard import caller_guarded, public
from api.http import Blueprint
from api.models import User, UserSession
from api.v1.credentials import people
from api.v1.credentials.entering_schemas import (
    PasswordBody,
    PasswordChanged,
    SignedIn,
    SignedOut,
    SignedUp,
    SignInBody,
    SignUpBody,
)
from api.writing import actor, idempotent, session

bp = Blueprint("auth", __name__, description="Signing up, in and out, and passwords.")


@bp.route("/auth/sign-up", methods=["POST"])
@public
@bp.arguments(SignUpBody)
@idempotent()
@bp.response(201, SignedUp)
def sign_up(body: dict[str, Any]) -> dict[str, Any]:
    """Become a person of this deployment

    A mail with a code confirms the address, where this deployment sends mail; work can begin without. An address that
    is known already is refused. Ten tries an hour for a network.
    """
    sign_in.spend_try(_url(), sign_in.SIGN_UP, caller=request.remote_addr)
    passwords.refuse_unfit(body["password"])
    names = {name: body[name] for name in ("first_name", "last_name")}
    fresh = passwords.hashed(body["password"])
    user = people.sign_up(session(), context.settings(), email=body["email"], password_hash=fresh, **names)
    opened, token = sign_in.open_session(session(), user_id=user.id, user_agent=request.user_agent.string)
    return {
        "user_id": user.id,
        "email_verified": False,
        "session": {"token": token, "expires_at": opened.expires_at},
    }


@bp.route("/auth/sign-in", methods=["POST"])
@public
@bp.arguments(SignInBody)
@idempotent()
@bp.response(201, SignedIn)
def begin_session(body: dict[str, Any]) -> dict[str, Any]:
    """Begin a session

    The answer is the only one that holds the token. A wrong password and an unknown address are one answer, 401. Ten
    tries in fifteen minutes for an address, fifty for a network, right or wrong: then 429 with `Retry-After`.
    """
    verified = sign_in.verify(_url(), email=body["email"], password=body["password"], caller=request.remote_addr)
    opened, token = sign_in.begin(session(), verified=verified, user_agent=request.user_agent.string)
    user = session().get_one(User, verified.user_id)
    return {
        "token": token,
        "expires_at": opened.expires_at,
        "user": {"user_id": user.id, "email": user.email, "email_verified": user.email_verified_at is not None},
    }


@bp.route("/auth/sign-out", methods=["POST"])
@caller_guarded(kinds={Kind.SESSION})
@bp.arguments(Nothing)
@idempotent()
@bp.response(200, SignedOut)
def end_session(_: dict[str, Any]) -> dict[str, Any]:
    """End this session

    The token of this request opens nothing from now on; other sessions and user tokens of the person stay. To end all
    others change the password.
    """
    row = session().get_one(UserSession, auth.current().id)
    row.revoked_at = row.revoked_at or now()
    return {"ended": True, "ended_at": row.revoked_at}


@bp.route("/auth/password", methods=["POST"])
@caller_guarded(kinds={Kind.SESSION})
@bp.arguments(PasswordBody)
@idempotent(keyed=False)
@bp.response(200, PasswordChanged)
def change_password(body: dict[str, Any]) -> dict[str, Any]:
    """Change the own password, or set the first one

    Ends all other sessions of the person. An Idempotency-Key is not kept here.
    """
    person = auth.current().person
    checked = people.stored_password(_url(), user_id=person)
    if checked is not None:
        _refuse_wrong(body["current_password"], checked, person)
    passwords.refuse_unfit(body["new_password"])
    fresh = passwords.hashed(body["new_password"])
    people.set_password(session(), user_id=person, checked=checked, password_hash=fresh)
    ended = sign_in.end_sessions(session(), user_id=person, but=auth.current().id)
    record(session(), actor(), Attempt("password.changed", {"sessions_ended": ended}, category="credentials"))
    return {"changed_at": now(), "sessions_ended": ended}


def _refuse_wrong(given: str | None, stored: str, person: str) -> None:
    if given is None:
        raise errors.CURRENT_PASSWORD_REQUIRED()
    # a stolen session is not to find the password out
    sign_in.spend_try(_url(), sign_in.SIGN_IN, caller=request.remote_addr, address=person)
    if not passwords.is_right(stored, given):
        raise errors.CURRENT_PASSWORD_INVALID()


def _url() -> str:
    return context.settings().operational_url
