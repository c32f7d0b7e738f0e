"""GET /tracker.js: the tracker, with the settings of the key that its address names."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson
import sqlalchemy as sa
from flask import Blueprint, Response, request
from werkzeug.exceptions import NotFound

from api import context, credentials, db, responses
from api.guard import public
from api.models import Profile, TrackingKey
from api.tracker_settings import tracker_of

SCRIPT = Path(__file__).with_name("tracker.js")
# where the settings stand in the script
PLACE = "null /* the settings of the key */"
TOLD = ("capture_typed_identity", "session_idle_minutes", "respect_gpc")
# a site's visitors follow a changed setting after this long
CACHING = "public, max-age=600"

bp = Blueprint("tracker", __name__)


@bp.get("/tracker.js")
@public
def tracker() -> Response:
    """The tracker; without `?key=` it only says what it lacks, and with a key that collects nothing it is not there."""
    key = request.args.get("key")
    script = _script().replace(PLACE, "null" if key is None else orjson.dumps(_settings(key)).decode())
    responses.conditional(hashlib.sha256(script.encode()).hexdigest()[:16], cache_control=CACHING, vary=None)
    return Response(script, mimetype="text/javascript")


@bp.after_request
def for_every_site(response: Response) -> Response:
    """Let pages of other sites load it, also those that keep out what does not say so."""
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    response.headers["Access-Control-Allow-Origin"] = "*"
    return response


@lru_cache(maxsize=1)
def _script() -> str:
    text = SCRIPT.read_text(encoding="utf-8")
    if text.count(PLACE) != 1:
        raise ValueError(f"{SCRIPT} has no one place for its settings")
    return text


def _settings(key: str) -> dict[str, Any]:
    # of an address anything may come, also what a database takes for no text
    if not credentials.is_well_formed(key, "trk_live"):
        raise NotFound()
    live = sa.select(Profile).join(TrackingKey, TrackingKey.profile_id == Profile.id)
    live = live.where(TrackingKey.key == key, TrackingKey.revoked_at.is_(None), Profile.archived_at.is_(None))
    with db.transaction(context.settings().operational_url, durable=False) as session:
        profile = session.scalars(live).one_or_none()
        if profile is None:
            raise NotFound()
        known = asdict(tracker_of(session, profile))
        return {"key": key, **{name: known[name] for name in TOLD}}
