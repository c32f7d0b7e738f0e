"""A person's browser: who is signed in by its cookie, forms that only our own pages can send, and how pages leave."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from datetime import timedelta
from typing import Any, cast

import sqlalchemy as sa
from flask import Response, g, render_template, request
from sqlalchemy.orm import Session

from api import auth, context, credentials, errors
from api.auth import Kind, Presented
from api.models import User, UserSession
from api.sign_in import LIFE

STRICT = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; img-src 'self'; style-src 'self'"
FIELD = "form_token"
# a form that comes again so soon was sent with two clicks, and its first answer was not seen
AGAIN_WITHIN = timedelta(minutes=1)
_VISITOR = re.compile(r"[0-9A-Za-z_-]{43}")


def signed_in(session: Session) -> User | None:
    """The person of this browser's session, which is the same kind of session as the API's."""
    token = _session_cookie()
    if not credentials.is_well_formed(token, "tl_sess"):
        return None
    try:
        principal = auth.authenticate(session, Presented(Kind.SESSION, token))
    except errors.ApiError:
        return None
    return session.get(User, principal.user_id)


def session_row(session: Session) -> UserSession | None:
    """The row of this browser's session, live or not."""
    digest = credentials.digest(_session_cookie())
    return session.scalars(sa.select(UserSession).where(UserSession.digest == digest)).one_or_none()


def keep_session(response: Response, token: str) -> None:
    """Let the browser send this session's token back; no script can read it."""
    _set_cookie(response, "session", token, int(LIFE.total_seconds()))


def forget_session(response: Response) -> None:
    """Take the cookie away."""
    name = _cookie("session")
    response.delete_cookie(name, path="/", httponly=True, samesite="Lax", secure=_secure())


def visitor() -> str:
    """What tells this browser from others, signed in or not; kept by it with the next page if it is new."""
    if "visitor" not in g:
        given = request.cookies.get(_cookie("visitor"), "")
        g.new_visitor = _VISITOR.fullmatch(given) is None
        g.visitor = secrets.token_urlsafe(32) if g.new_visitor else given
    return cast(str, g.visitor)


def form_token() -> str:
    """What a form must bring back, for this browser and its session."""
    # another text each time: one that stays the same can be guessed from the length of compressed pages
    salt = secrets.token_hex(8)
    return f"{salt}.{_signature(salt)}"


def is_ours(given: str | None) -> bool:
    """Whether a form token is one that `form_token` made for this browser and its session."""
    salt, _, signature = (given or "").partition(".")
    return bool(salt) and hmac.compare_digest(_signature(salt).encode(), signature.encode())


def page(template: str, status: int = 200, *, policy: str = "form-action 'self'", **values: Any) -> Response:
    """A page that nobody may frame or keep, and that loads nothing from elsewhere."""
    body = render_template(template, form_field=FIELD, form_token=form_token(), **values)
    response = Response(body, status, mimetype="text/html")
    response.headers["Content-Security-Policy"] = f"{STRICT}; {policy}"
    response.headers["X-Frame-Options"] = "DENY"
    response.headers["Cache-Control"] = "no-store"
    if g.get("new_visitor"):
        _set_cookie(response, "visitor", g.visitor, None)
    return response


def go(location: str) -> Response:
    """Send the browser on with a GET."""
    return Response("", 303, {"Location": location})


def notice(status: int, title: str, text: str, *, back: tuple[str, str] | None = None) -> Response:
    """A page that only says something; `back` is an address and what its link is called."""
    return page("notice.html", status, title=title, text=text, back=back)


def stale_form() -> Response:
    """The answer to a form that is not ours, or was open through a sign-in or sign-out."""
    again = "Nothing was changed. Go back, reload it and try again."
    if _cookie("visitor") not in request.cookies:
        # without one each try would end here
        again = f"Or your browser keeps no cookies: allow cookies for this site. {again}"
    return notice(403, "This form is no longer valid", f"It came from another place or was open too long. {again}")


def _signature(salt: str) -> str:
    bound = f"form:{salt}:{visitor()}:{hashlib.sha256(_session_cookie().encode()).hexdigest()}"
    return hmac.new(context.settings().signing_key(), bound.encode(), hashlib.sha256).hexdigest()


def _session_cookie() -> str:
    return request.cookies.get(_cookie("session"), "")


def _set_cookie(response: Response, name: str, value: str, max_age: int | None) -> None:
    response.set_cookie(
        _cookie(name), value, max_age=max_age, path="/", httponly=True, samesite="Lax", secure=_secure()
    )


def _cookie(name: str) -> str:
    # with the prefix a browser takes the cookie only over TLS and from this very host
    return f"__Host-touchledger_{name}" if _secure() else f"touchledger_{name}"


def _secure() -> bool:
    return context.settings().base_url.startswith("https://")
