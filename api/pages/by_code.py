"""Setting a new password and confirming an address with the code of a mail.

The code is typed or pasted: a link that held it would leave it in histories and logs.
"""

from __future__ import annotations

from collections.abc import Callable

from flask import Blueprint, Response, request
from marshmallow import EXCLUDE, Schema, ValidationError

from api import context, db, errors, mail, one_time, passwords, sign_in
from api.db import now
from api.guard import public
from api.models import User
from api.pages import browser
from api.pages.sign_in import OF_PASSWORDS
from api.v1.credentials import by_code, people
from api.v1.credentials.resetting_schemas import AddressBody, NewPasswordBody, TokenOfMailBody

TOLD = {
    "not_found": "This code opens nothing: it was used, replaced by a newer one, or is over an hour old.",
    "rate_limit_exceeded": "That was tried too often. Wait a while, then try again.",
    "weak_password": f"The password needs {passwords.SHORTEST} to {passwords.LONGEST} characters.",
    "compromised_password": "This password is known from breaches. Choose another one.",
}
SIGN_IN = ("/sign-in", "Sign in")

bp = Blueprint("pages_by_code", __name__, template_folder="templates")


@bp.get("/reset-password")
@public
def ask() -> Response:
    """Ask for a code."""
    return _form("ask_for_code.html") if mail.is_configured(context.settings()) else _without_mail()


@bp.route("/reset-password", methods=["POST"])
@public
def asked() -> Response:
    """Mail a code to the person of the address, if there is one; the page is the same for everybody."""
    return _posted("ask_for_code.html", AddressBody(), _mail_code)


@bp.get("/reset-password/code")
@public
def enter_code() -> Response:
    """Set a new password with the code."""
    return _form("new_password.html")


@bp.route("/reset-password/code", methods=["POST"])
@public
def entered() -> Response:
    """Set the new password and end every session of the person."""
    return _posted("new_password.html", NewPasswordBody(), _reset)


@bp.get("/confirm-address")
@public
def enter_confirmation() -> Response:
    """Confirm an address with the code."""
    return _form("confirm_address.html")


@bp.route("/confirm-address", methods=["POST"])
@public
def confirmed() -> Response:
    """Keep that the address is confirmed."""
    return _posted("confirm_address.html", TokenOfMailBody(), _confirm)


def _without_mail() -> Response:
    text = "This deployment sends no mail, so no code can reach you. Ask whoever runs it."
    return browser.notice(200, "No code can be sent", text, back=SIGN_IN)


def _mail_code(typed: dict[str, str]) -> Response:
    settings = context.settings()
    if not mail.is_configured(settings):
        return _without_mail()
    sign_in.spend_try(
        settings.operational_url, sign_in.RESET, caller=request.remote_addr, address=typed["email"]
    )  # fmt: skip
    with db.unit(settings.operational_url) as session:
        people.ask_for_reset(session, settings, email=typed["email"])
    return browser.go("/reset-password/code")


def _reset(typed: dict[str, str]) -> Response:
    token, wanted, url = typed["token"], typed["new_password"], context.settings().operational_url
    try:
        fresh = by_code.fit_password(url, token=token, new_password=wanted)
        with db.unit(url) as session:
            by_code.reset_password(session, token=token, password_hash=fresh, request_id=context.request_id())
    except errors.ApiError as refusal:
        before = _used_just_now(refusal, token, "password_reset")
        if before is None or not passwords.is_right(before.password_hash, wanted):
            raise
    text = "Every session of yours has ended. Sign in with the new password."
    return browser.notice(200, "The password is set", text, back=SIGN_IN)


def _confirm(typed: dict[str, str]) -> Response:
    try:
        with db.unit(context.settings().operational_url) as session:
            by_code.confirm_address(session, token=typed["token"])
    except errors.ApiError as refusal:
        if _used_just_now(refusal, typed["token"], "email_verification") is None:
            raise
    return browser.notice(200, "The address is confirmed", "There is nothing more to do.", back=SIGN_IN)


def _used_just_now(refusal: errors.ApiError, token: str, purpose: one_time.Purpose) -> User | None:
    """Whose code the first of two clicks used, where the second is refused for it; what that did is told again."""
    if refusal.code is not errors.NOT_FOUND:
        return None
    with db.unit(context.settings().operational_url) as session:
        user_id = one_time.used_after(session, token, purpose, now() - browser.AGAIN_WITHIN)
        return session.get(User, user_id) if user_id else None


def _posted(template: str, schema: Schema, act: Callable[[dict[str, str]], Response]) -> Response:
    if not browser.is_ours(request.form.get(browser.FIELD)):
        return browser.stale_form()
    try:
        return act(schema.load(request.form, unknown=EXCLUDE))
    except errors.ApiError as refusal:
        if refusal.code.code not in TOLD:
            raise
        # the page is there, only the code is not: 404 would say otherwise
        at = "new_password" if refusal.code.code in OF_PASSWORDS else "token"
        response = _form(template, max(refusal.code.status, 422), TOLD[refusal.code.code], at=at)
        if "Retry-After" in refusal.headers:
            response.headers["Retry-After"] = refusal.headers["Retry-After"]
        return response
    except ValidationError as refusal:
        return _form(template, 422, "Check what you typed.", at=next(iter(refusal.messages_dict)))


def _form(template: str, status: int = 200, problem: str = "", *, at: str = "") -> Response:
    return browser.page(template, status, typed=request.form, problem=problem, at=at, shortest=passwords.SHORTEST)
