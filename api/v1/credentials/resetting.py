"""POST /auth/verify-email, /auth/password-reset, /auth/password-reset/confirm."""

from __future__ import annotations

from typing import Any

from flask import request

from api import context, db, one_time, passwords, sign_in
from api.audit import Actor, Attempt, record
from api.db import now
from api.guard import public
from api.http import Blueprint
from api.v1.credentials import people
from api.v1.credentials.resetting_schemas import (
    AddressBody,
    NewPasswordBody,
    PasswordSet,
    ResetAsked,
    TokenOfMailBody,
    Verified,
)
from api.writing import idempotent, session

bp = Blueprint("auth_by_mail", __name__, description="What a code from a mail opens.")


@bp.route("/auth/verify-email", methods=["POST"])
@public
@bp.arguments(TokenOfMailBody)
@idempotent()
@bp.response(200, Verified)
def verify_address(body: dict[str, Any]) -> dict[str, Any]:
    """Confirm an address with the code of its mail"""
    user_id = one_time.use(session(), body["token"], "email_verification")
    people.verify_address(session(), user_id=user_id)
    return {"email_verified": True}


@bp.route("/auth/password-reset", methods=["POST"])
@public
@bp.arguments(AddressBody)
@idempotent()
@bp.response(202, ResetAsked)
def ask_for_reset(body: dict[str, Any]) -> dict[str, Any]:
    """Ask for a mail with a code to set a new password

    The answer is the same whether or not anybody has the address. Five tries an hour for an address.
    """
    settings = context.settings()
    sign_in.spend_try(
        settings.operational_url, sign_in.RESET, caller=request.remote_addr, address=body["email"]
    )  # fmt: skip
    people.ask_for_reset(session(), settings, email=body["email"])
    return {}


@bp.route("/auth/password-reset/confirm", methods=["POST"])
@public
@bp.arguments(NewPasswordBody)
@idempotent()
@bp.response(200, PasswordSet)
def set_new_password(body: dict[str, Any]) -> dict[str, Any]:
    """Set a new password with the code of the mail

    Ends all sessions of the person, and confirms their address: the mail reached them.
    """
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        one_time.require_live(reading, body["token"], "password_reset")
    passwords.refuse_unfit(body["new_password"])
    fresh = passwords.hashed(body["new_password"])
    user_id = one_time.use(session(), body["token"], "password_reset")
    people.reset_password(session(), user_id=user_id, password_hash=fresh)
    ended = sign_in.end_sessions(session(), user_id=user_id)
    who = Actor("session", user_id, request_id=context.request_id())
    record(session(), who, Attempt("password.reset", {"sessions_ended": ended}, category="credentials"))
    return {"changed_at": now()}
