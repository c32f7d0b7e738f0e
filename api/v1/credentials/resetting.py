"""POST /auth/verify-email, /auth/password-reset, /auth/password-reset/confirm."""

from __future__ import annotations

from typing import Any

from flask import request

from api import context, sign_in
from api.db import now
from api.guard import public
from api.http import Blueprint
from api.v1.credentials import by_code, people
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
    """Confirm an address with the code of its mail

    Needs no credential: the code is one. It holds once and for an hour; an unknown, used or late one is 404. No second
    mail is sent: who lost the code sets a new password by POST /auth/password-reset, which confirms the address too.
    Work can begin without.
    """
    by_code.confirm_address(session(), token=body["token"])
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

    Ends all sessions of the person, and confirms their address: the mail reached them. Where it was never confirmed
    before, user tokens end too, and what agents and apps were allowed.
    """
    token, url = body["token"], context.settings().operational_url
    fresh = by_code.fit_password(url, token=token, new_password=body["new_password"])
    by_code.reset_password(session(), token=token, password_hash=fresh, request_id=context.request_id())
    return {"changed_at": now()}
