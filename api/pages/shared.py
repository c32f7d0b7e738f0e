"""GET /shared/{token}: a frozen leaderboard for whoever has its link, as a page or as JSON."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from typing import Any

import orjson
from flask import Blueprint, Response, render_template, request
from markupsafe import Markup

from api import context, db, errors, shared_snapshots
from api.guard import public
from api.http import answer_error
from api.models import Branding, SharedSnapshot, Workspace
from api.pages import browser
from api.pages.shared_rows import told
from api.pages.shared_texts import TEXTS
from api.reading import timestamp
from api.reports.labels import Words
from api.sign_in import MINUTE, Tries, spend_try

VIEWS = Tries("shared", "request_rate", MINUTE, None, 60)
LOCALES = ("en", "es")
COLORS = ("#0b6e5f", "#d9822b")
COLOR = re.compile(r"#[0-9A-Fa-f]{6}")
UNKNOWN = "This link opens nothing."

bp = Blueprint("shared_pages", __name__, template_folder="templates")


@dataclass(frozen=True)
class Look:
    """How the workspace shows itself; `logo` is a path of this deployment."""

    name: str
    logo: str | None
    website: str | None
    footer: str | None
    locale: str
    colors: tuple[str, ...]


@bp.get("/shared/<token>")
@public
def shared(token: str) -> Response:
    """A frozen leaderboard."""
    as_json = request.accept_mimetypes.best_match(["text/html", "application/json"]) == "application/json"
    try:
        spend_try(_url(), VIEWS, caller=request.remote_addr)
        with db.unit(_url()) as session:
            row = shared_snapshots.opened(session, token, db.now(), is_counted=request.method == "GET")
            if row is None:
                raise errors.NOT_FOUND(UNKNOWN)
            workspace = session.get_one(Workspace, row.workspace_id)
            look = _look(workspace, session.get(Branding, workspace.id))
    except errors.ApiError as refusal:
        return _private(answer_error(refusal) if as_json else _refused(refusal))
    return _private(_json(row, look) if as_json else _page(row, look))


def _json(row: SharedSnapshot, look: Look) -> Response:
    body = {
        "title": row.title,
        "shared_by": look.name,
        "score_window": row.score_window,
        "score_date": row.score_date,
        "config_version": row.config_version,
        "filters": _filters(row),
        "hide_money": row.hide_money,
        "currency": row.currency,
        "captured_at": timestamp(row.created_at),
        "expires_at": timestamp(row.expires_at),
        "rows": row.rows,
    }
    return Response(orjson.dumps({"data": body, "meta": {}}), mimetype="application/json")


def _filters(row: SharedSnapshot) -> dict[str, Any]:
    return {name: value for name, value in row.filters.items() if not (row.hide_money and name == "min_spend")}


def _page(row: SharedSnapshot, look: Look) -> Response:
    locale = _locale(look.locale)
    words = Words(locale, TEXTS)
    return _html(
        200,
        "shared.html",
        locale,
        look.colors,
        look=look,
        row=row,
        content=told(row, words),
        title=row.title or words("untitled"),
        window=words("through", words(f"window_{row.score_window}"), words.day(row.score_date)),
        frozen=words("frozen", words.moment(row.created_at), words.moment(row.expires_at)),
        other="es" if locale == "en" else "en",
    )


def _refused(refusal: errors.ApiError) -> Response:
    locale = _locale("en")
    name = "gone" if refusal.code is errors.NOT_FOUND else "too_often"
    response = _html(refusal.code.status, "shared_notice.html", locale, COLORS, name=name)
    response.headers.update(refusal.headers)
    return response


def _html(status: int, template: str, locale: str, colors: tuple[str, ...], **values: Any) -> Response:
    # the policy names this very style by its digest, so no other one written into the page would apply
    style = ":root{" + "".join(f"--tint-{n}:{one};" for n, one in enumerate(colors, start=1)) + "}"
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    colours = Markup(style)  # noqa: S704 - each of them was matched
    body = render_template(template, locale=locale, words=Words(locale, TEXTS), style=colours, **values)
    response = Response(body, status, mimetype="text/html")
    response.headers["Content-Security-Policy"] = f"{browser.STRICT} 'sha256-{digest}'; form-action 'none'"
    response.headers["X-Frame-Options"] = "DENY"
    response.headers["Content-Language"] = locale
    return response


def _private(response: Response) -> Response:
    response.headers["X-Robots-Tag"] = "noindex, nofollow, noarchive"
    response.vary.update(("Accept", "Accept-Language"))
    return response


def _locale(otherwise: str) -> str:
    asked = request.args.get("lang")
    return asked if asked in LOCALES else request.accept_languages.best_match(LOCALES, otherwise) or otherwise


def _look(workspace: Workspace, row: Branding | None) -> Look:
    if row is None:
        return Look(workspace.name, None, None, None, "en", COLORS)
    chosen = zip((row.primary_color, row.accent_color), COLORS, strict=True)
    return Look(
        row.display_name or workspace.name,
        f"/logos/{row.logo_name}" if row.logo_name else None,
        row.website_url if (row.website_url or "").startswith("https://") else None,
        row.report_footer,
        row.locale,
        tuple(one if COLOR.fullmatch(one or "") else ours for one, ours in chosen),  # type: ignore[misc]
    )


def _url() -> str:
    return context.settings().operational_url
