"""Signing up, in and out with a browser."""

from __future__ import annotations

from urllib.parse import urlencode

import sqlalchemy as sa
from flask import Blueprint, Response, request
from marshmallow import EXCLUDE, ValidationError

from api import context, db, errors, passwords, sign_in
from api.db import now
from api.guard import public
from api.models import User
from api.pages import browser
from api.v1.credentials import people
from api.v1.credentials.entering_schemas import SignInBody, SignUpBody

# nobody is sent anywhere else after signing in, whatever a link says
PLACES = ("/oauth/authorize?", "/invitations", "/handoffs/", "/connect/")
LONGEST = 8000
# who came for nothing else is told here that it worked, and can end it
HERE = "/sign-in"
TOLD = {
    "rate_limit_exceeded": "That was tried too often. Wait a few minutes, then try again.",
    "weak_password": f"The password needs {passwords.SHORTEST} to {passwords.LONGEST} characters.",
    "compromised_password": "This password is known from breaches. Choose another one.",
    "invalid_state": "There is an account with this address already. Sign in instead.",
}
# a problem of the password, and not of the field before it
OF_PASSWORDS = ("weak_password", "compromised_password")

bp = Blueprint("people_pages", __name__, template_folder="templates")


@bp.get("/sign-in")
@public
def sign_in_page() -> Response:
    """Sign in."""
    with db.unit(_url()) as session:
        known = browser.signed_in(session)
    if known is None:
        return _form()
    after = _next()
    return browser.page("signed_in.html", person=known) if after == HERE else browser.go(after)


@bp.route("/sign-in", methods=["POST"])
@public
def begin() -> Response:
    """Begin a session, and go where the person was going."""
    if not browser.is_ours(request.form.get(browser.FIELD)):
        return browser.stale_form()
    try:
        typed = SignInBody(unknown=EXCLUDE).load(request.form)
        verified = sign_in.verify(_url(), **typed, caller=request.remote_addr)
        with db.unit(_url()) as session:
            _, token = sign_in.begin(session, verified=verified, user_agent=request.user_agent.string)
    except (errors.ApiError, ValidationError) as refusal:
        return _refused(refusal, "sign_in.html", "The e-mail address or the password is not right.", 401)
    return _entered(token)


@bp.get("/sign-up")
@public
def sign_up_page() -> Response:
    """Make an account."""
    return _form("sign_up.html")


@bp.route("/sign-up", methods=["POST"])
@public
def join() -> Response:
    """Make an account, and go where the person was going."""
    if not browser.is_ours(request.form.get(browser.FIELD)):
        return browser.stale_form()
    try:
        typed = SignUpBody(unknown=EXCLUDE).load({name: value for name, value in request.form.items() if value})
        sign_in.spend_try(_url(), sign_in.SIGN_UP, caller=request.remote_addr)
        token = _joined(**typed)
    except (errors.ApiError, ValidationError) as refusal:
        return _refused(refusal, "sign_up.html", "Check the e-mail address and the names.", 422)
    return _entered(token)


@bp.route("/sign-out", methods=["POST"])
@public
def end() -> Response:
    """End the session of this browser."""
    if not browser.is_ours(request.form.get(browser.FIELD)):
        return browser.stale_form()
    _end_session()
    response = browser.go(way_in(_next()))
    browser.forget_session(response)
    return response


def way_in(after: str) -> str:
    """The address of the form that leads on to `after`, one of our own pages."""
    return f"/sign-in?{urlencode({'next': after})}" if after.startswith(PLACES) else "/sign-in"


def _joined(*, email: str, password: str, **names: str | None) -> str:
    """The token of the first session of a new person."""
    passwords.refuse_unfit(password)
    fresh, agent = passwords.hashed(password), request.user_agent.string
    try:
        with db.unit(_url()) as session:
            made = people.sign_up(session, context.settings(), email=email, password_hash=fresh, **names)
            return sign_in.open_session(session, user_id=made.id, user_agent=agent)[1]
    except errors.ApiError:
        # of two clicks the browser heeds the second, which comes when the first has made the account
        verified = _made_just_now(email, password)
        if verified is None:
            raise
        with db.unit(_url()) as session:
            return sign_in.begin(session, verified=verified, user_agent=agent)[1]


def _made_just_now(email: str, password: str) -> sign_in.Verified | None:
    with db.unit(_url()) as session:
        at = session.scalar(sa.select(User.created_at).where(User.email == email))
    if at is None or now() - at >= browser.AGAIN_WITHIN:
        return None
    try:
        return sign_in.verify(_url(), email=email, password=password, caller=request.remote_addr)
    except errors.ApiError:
        return None


def _end_session() -> None:
    with db.unit(_url()) as session:
        row = browser.session_row(session)
        if row is not None:
            row.revoked_at = row.revoked_at or now()


def _entered(token: str) -> Response:
    # whoever holds the cookie of before, which this browser forgets, is not let in by it any more
    _end_session()
    response = browser.go(_next())
    browser.keep_session(response, token)
    return response


def _form(template: str = "sign_in.html", status: int = 200, problem: str = "", *, at: str = "") -> Response:
    after = way_in(_next()).removeprefix("/sign-in")
    least = passwords.SHORTEST
    return browser.page(template, status, after=after, typed=request.form, problem=problem, at=at, shortest=least)


def _refused(refusal: errors.ApiError | ValidationError, template: str, otherwise: str, status: int) -> Response:
    code = refusal.code if isinstance(refusal, errors.ApiError) else None
    told = TOLD.get(code.code if code else "", otherwise)
    response = _form(template, code.status if code else status, told, at=_field_of(refusal))
    if isinstance(refusal, errors.ApiError) and "Retry-After" in refusal.headers:
        response.headers["Retry-After"] = refusal.headers["Retry-After"]
    return response


def _field_of(refusal: errors.ApiError | ValidationError) -> str:
    """The field to go to, where the problem is told to whoever does not see the page."""
    if isinstance(refusal, ValidationError):
        return next(iter(refusal.messages_dict))
    return "password" if refusal.code.code in OF_PASSWORDS else "email"


def _next() -> str:
    wanted = request.args.get("next", "")
    fits = wanted.startswith(PLACES) and len(wanted) <= LONGEST and wanted.isascii() and wanted.isprintable()
    return wanted if fits else HERE


def _url() -> str:
    return context.settings().operational_url
