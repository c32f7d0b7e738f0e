"""Pages for people: landing, API reference, guides, errors, data docs.

Everything comes from this process, none from a CDN.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from flask import Blueprint, Response, abort, g, render_template

from api import context, errors, responses
from api.docs_pages.article import GUIDES, article
from api.guard import public
from api.snapshot import snapshots

HERE = Path(__file__).parent
SWAGGER = Path(str(files("flask_swagger_ui"))) / "dist"
ASSETS = {
    "style.css": (HERE / "assets" / "style.css", "text/css"),
    "form.css": (HERE.parent / "pages" / "assets" / "form.css", "text/css"),
    "shared.css": (HERE.parent / "pages" / "assets" / "shared.css", "text/css"),
    "invitation.js": (HERE.parent / "pages" / "assets" / "invitation.js", "text/javascript"),
    "mark.svg": (HERE / "assets" / "mark.svg", "image/svg+xml"),
    "reference.js": (HERE / "assets" / "reference.js", "text/javascript"),
    "reference.css": (HERE / "assets" / "reference.css", "text/css"),
    "swagger-ui.css": (SWAGGER / "swagger-ui.css", "text/css"),
    "swagger-ui-bundle.js": (SWAGGER / "swagger-ui-bundle.js", "text/javascript"),
}
STRICT = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; img-src 'self' data:; "
PLAIN = STRICT + "style-src 'self'"
REFERENCE = STRICT + "script-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'"
# dbt writes its documentation as one file with its scripts and styles inside
DATA = STRICT + "script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; font-src data:; connect-src data:"

bp = Blueprint("pages", __name__, template_folder="templates")


@bp.get("/")
@public
def landing() -> Response:
    """What this is, and where to go."""
    settings = context.settings()
    health = snapshots(settings).health()
    page = render_template(
        "landing.html",
        base_url=settings.base_url,
        first=settings.demo_today - timedelta(days=29),
        last=settings.demo_today,
        dagster_url=f"http://127.0.0.1:{settings.dagster_port}",
        snapshot_id=health.snapshot_id,
        codes=len(errors.CATALOGUE),
        guides=[GUIDES[name] for name in ("api", "models")],
    )
    return _page(page, PLAIN)


@bp.get("/docs")
@public
def reference() -> Response:
    """The API reference, made from openapi.json in the browser."""
    return _page(render_template("reference.html"), REFERENCE)


@bp.get("/docs/errors")
@public
def error_codes() -> Response:
    """Every error code, one anchor each: where `docs_url` opens."""
    return _page(render_template("errors.html", codes=list(errors.CATALOGUE.values())), PLAIN)


@bp.get("/docs/guides")
@public
def guides() -> Response:
    """The guides: what each is about."""
    return _page(render_template("guides.html", guides=GUIDES.values()), PLAIN)


@bp.get("/docs/<guide>")
@public
def guide(guide: str) -> Response:
    """A page of the repository's documentation, such as how to use the API or how credit is decided."""
    if guide not in GUIDES:
        abort(404)
    return _page(render_template("article.html", article=article(GUIDES[guide])), PLAIN)


@bp.get("/docs/data")
@public
def data_documentation() -> Response:
    """dbt's documentation of every table and column, once a build has made it."""
    path = context.settings().data_docs
    if not path.is_file():
        return _page(render_template("data.html"), PLAIN)
    stat = path.stat()
    responses.conditional(f"{stat.st_mtime_ns:x}.{stat.st_size:x}", cache_control="no-cache", vary=None, policy=DATA)
    return _page(path.read_text(encoding="utf-8"), DATA)


@bp.get("/docs/assets/<name>")
@public
def asset(name: str) -> Response:
    """A style, script or picture of the pages."""
    if name not in ASSETS:
        abort(404)
    path, mimetype = ASSETS[name]
    body, tag = _content(path)
    responses.conditional(tag, cache_control="public, max-age=300", vary=None)
    return Response(body, mimetype=mimetype)


def _page(html: str, policy: str) -> Response:
    g.setdefault("caching", {"Cache-Control": "no-cache"})
    response = Response(html, mimetype="text/html")
    response.headers["Content-Security-Policy"] = policy
    return response


@lru_cache(maxsize=32)
def _content(path: Path) -> tuple[bytes, str]:
    body = path.read_bytes()
    return body, hashlib.sha256(body).hexdigest()[:16]
