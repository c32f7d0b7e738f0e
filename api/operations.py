"""Routes about the service itself: is it alive, is it ready, and what does it offer. None needs a credential."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import sqlalchemy as sa
from flask import Response, current_app

from api import context, db, read_only, responses
from api.guard import public
from api.http import RETRY_DATABASE, Blueprint
from api.models import OutgoingMail, Profile, WebhookDelivery, WebhookSubscription
from api.snapshot import snapshots
from touchledger.settings import SPARE_BYTES

# a worker that runs takes what is due within seconds
LATE_AFTER = timedelta(minutes=10)

CHECKS = ("operational_db", "snapshot", "outbox", "disk")
READY: dict[str, Any] = {
    "status": {"enum": ["ok", "failing"]},
    "checks": {
        "type": "object",
        "properties": {name: {"enum": ["ok", "none", "late", "failing"]} for name in CHECKS},
        "required": list(CHECKS),
    },
}

DOCUMENT = {200: {"description": "OpenAPI 3.1.", "content": {"application/json": {"schema": {"type": "object"}}}}}

bp = Blueprint("operations", __name__, description="The service itself.")


def _told(description: str, members: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": members, "required": list(members)}
    return {"description": description, "content": {"application/json": {"schema": schema}}}


@bp.route("/healthz")
@public
@bp.doc(responses={200: _told("The process answers.", {"status": {"const": "ok"}})})
def liveness() -> Response:
    """Is the process alive

    Depends on nothing: it says only that requests are answered.
    """
    return _json({"status": "ok"})


@bp.route("/readyz")
@public
@bp.doc(responses={200: _told("Requests will be served.", READY), 503: _told("A check fails.", READY)})
def readiness() -> Response:
    """Can requests be served

    503 when any check fails. Each check is `ok`, `none` (nothing published yet), `late` (mail or webhooks have been due
    for ten minutes; does the worker run?) or `failing`. Requests are served with `none` and `late`. `outbox` is
    `failing` wherever `operational_db` is, which holds it.
    """
    database = _database()
    # what was waited for in vain is not waited for again: a balancer's looks would take every thread
    outbox = _outbox() if database == "ok" else "failing"
    checks = {"operational_db": database, "snapshot": _snapshot(), "outbox": outbox, "disk": _disk()}
    if "failing" in checks.values():
        return _json({"status": "failing", "checks": checks}, 503, RETRY_DATABASE)
    return _json({"status": "ok", "checks": checks})


@bp.route("/openapi.json")
@public
@bp.doc(responses=DOCUMENT)
@responses.tagged
def description_at_the_root() -> Response:
    """The OpenAPI document

    Of every operation that this deployment serves, in OpenAPI 3.1. Needs no credential and takes no allowance. It
    changes with an upgrade only: ask again with its ETag.
    """
    return _description()


@bp.route("/api/v1/openapi.json")
@public
@bp.doc(responses=DOCUMENT)
@responses.tagged
def description_of_the_version() -> Response:
    """The OpenAPI document

    The same document as at `/openapi.json`, under the version that it describes.
    """
    return _description()


def _description() -> Response:
    body, packed, tag = current_app.extensions["openapi"]()
    responses.conditional(tag, cache_control="public, no-cache", vary=None)
    if responses.takes_packed():
        return Response(packed, headers={"Content-Encoding": "gzip"}, mimetype="application/json")
    return Response(body, mimetype="application/json")


def _json(value: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(orjson.dumps(value), status, headers, mimetype="application/json")


def _database() -> str:
    if _is_another_file(context.settings().operational_url):
        return "failing"
    try:
        with db.transaction(context.settings().operational_url, durable=False) as session:
            session.scalar(sa.select(Profile.id).limit(1))
            # every request with a credential writes what it uses of its allowance
            return "failing" if read_only.found(session.connection()) else "ok"
    except sa.exc.SQLAlchemyError:
        return "failing"


# which file an SQLite address led to when this process first looked
_first_seen: dict[str, tuple[int, int]] = {}


def _is_another_file(url: str) -> bool:
    """Whether an SQLite file is gone or replaced: open connections go on with the one of before, and it is lost."""
    found = sa.make_url(url)
    if found.get_backend_name() != "sqlite" or not found.database or found.database.startswith((":memory:", "file:")):
        return False
    try:
        file = Path(found.database).stat()
    except OSError:
        return True
    return _first_seen.setdefault(url, (file.st_dev, file.st_ino)) != (file.st_dev, file.st_ino)


def _snapshot() -> str:
    health = snapshots(context.settings()).health()
    if health.problem is not None:
        return "failing"
    return "ok" if health.snapshot_id else "none"


def _outbox() -> str:
    since = db.now() - LATE_AFTER
    mail = sa.exists().where(OutgoingMail.status == "queued", OutgoingMail.next_attempt_at < since)
    # what waits for those that are paused is passed over whole; what has ended has no next attempt
    waits = WebhookDelivery.subscription_id == WebhookSubscription.id, WebhookDelivery.next_attempt_at < since
    told = sa.exists().where(WebhookSubscription.status == "active", sa.exists().where(*waits))
    try:
        with db.transaction(context.settings().operational_url, durable=False) as session:
            return "late" if session.scalar(sa.select(sa.or_(mail, told))) else "ok"
    except sa.exc.SQLAlchemyError:
        return "failing"


def _disk() -> str:
    try:
        return "ok" if shutil.disk_usage(context.settings().home).free > SPARE_BYTES else "failing"
    except OSError:
        return "failing"
