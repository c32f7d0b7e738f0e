"""Signing in and out with a browser."""

from __future__ import annotations

import unicodedata
from urllib.parse import urlencode

from flask import Blueprint, Response, request

from api import context, db, errors, sign_in
from api.db import now
from api.guard import public
from api.pages import browser

# nobody is sent anywhere else after signing in, whatever a link says
PLACES = ("/oauth/authorize?", "/invitations", "/handoffs/")
LONGEST = 8000

bp = Blueprint("people_pages", __name__, template_folder="templates")


@bp.get("/sign-in")
@public
def sign_in_page() -> Response:
    """Sign in."""
    with db.unit(_url()) as session:
        known = browser.signed_in(session)
    return browser.go(_next()) if known else _form()


@bp.route("/sign-in", methods=["POST"])
@public
def begin() -> Response:
    """Begin a session, and go where the person was going."""
    if not browser.is_ours(request.form.get(browser.FIELD)):
        return browser.stale_form()
    email, password = _text("email").strip().lower(), _text("password")
    try:
        verified = sign_in.verify(_url(), email=email, password=password, caller=request.remote_addr)
        with db.unit(_url()) as session:
            _, token = sign_in.begin(session, verified=verified, user_agent=request.user_agent.string)
    except errors.ApiError as refusal:
        return _refused(refusal, email)
    response = browser.go(_next())
    browser.keep_session(response, token)
    return response


@bp.route("/sign-out", methods=["POST"])
@public
def end() -> Response:
    """End the session of this browser."""
    if not browser.is_ours(request.form.get(browser.FIELD)):
        return browser.stale_form()
    with db.unit(_url()) as session:
        row = browser.session_row(session)
        if row is not None:
            row.revoked_at = row.revoked_at or now()
    response = browser.go(way_in(_next()))
    browser.forget_session(response)
    return response


def way_in(after: str) -> str:
    """The address of the form that leads on to `after`, one of our own pages."""
    return f"/sign-in?{urlencode({'next': after})}" if after.startswith(PLACES) else "/sign-in"


def _form(status: int = 200, *, email: str = "", problem: str = "") -> Response:
    return browser.page("sign_in.html", status, action=way_in(_next()), email=email, problem=problem)


def _refused(refusal: errors.ApiError, email: str) -> Response:
    if refusal.code.status == 429:
        response = _form(429, email=email, problem="That was tried too often. Wait a few minutes, then try again.")
        response.headers.update(refusal.headers)
        return response
    return _form(401, email=email, problem="The e-mail address or the password is not right.")


def _next() -> str:
    wanted = request.args.get("next", "")
    fits = wanted.startswith(PLACES) and len(wanted) <= LONGEST and wanted.isascii() and wanted.isprintable()
    return wanted if fits else "/"


def _text(name: str) -> str:
    text = unicodedata.normalize("NFC", request.form.get(name, "")[:LONGEST])
    return "".join(sign for sign in text if sign != "\0" and not 0xD800 <= ord(sign) <= 0xDFFF)


def _url() -> str:
    return context.settings().operational_url
