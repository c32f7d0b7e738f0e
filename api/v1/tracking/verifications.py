"""POST /tracking/verifications, GET /tracking/verifications/{id}."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from api import auth, context, db, errors
from api.guard import guarded
from api.http import Blueprint
from api.models import TrackingVerification
from api.scopes import Scope
from api.v1.tracking.schemas import VerificationBody, VerificationMade, VerificationShape
from api.writing import idempotent, session

bp = Blueprint("tracking_verifications", __name__, description="Whether a page carries the tracker.")

LIFE = timedelta(minutes=15)
# the name under which the page's tracker finds the nonce
PARAMETER = "tl_verify"


@bp.route("/tracking/verifications", methods=["POST"])
@guarded(scope=Scope.TRACKING_WRITE)
@bp.arguments(VerificationBody)
@idempotent()
@bp.response(201, VerificationMade)
def begin_verification(body: dict[str, Any]) -> dict[str, Any]:
    """Find out whether a page carries the tracker

    Open `verify_url` in a browser within fifteen minutes: the page's tracker reports the nonce. The address is never
    asked for by this service.
    """
    url, nonce, at = body["url"], secrets.token_urlsafe(24), db.now()
    made = TrackingVerification(profile_id=auth.current().profile.id, nonce=nonce, url=url, host=urlsplit(url).hostname)
    made.created_at, made.expires_at = at, at + LIFE
    session().add(made)
    session().flush()
    return {"id": made.id, "nonce": nonce, "verify_url": _with_nonce(url, nonce), "expires_at": made.expires_at}


@bp.route("/tracking/verifications/<verification_id>")
@guarded(scope=Scope.TRACKING_WRITE, uuids=["verification_id"])
@bp.response(200, VerificationShape)
def verification_status(verification_id: str) -> dict[str, Any]:
    """How a verification stands

    verified once the page's tracker has reported the nonce; expired when it did not within fifteen minutes.
    """
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        found = reading.get(TrackingVerification, verification_id)
        if found is None or found.profile_id != auth.current().profile.id:
            raise errors.NOT_FOUND()
        return {
            "id": found.id,
            "status": _status(found),
            "seen_at": found.seen_at,
            "page_host": found.page_host,
            "expires_at": found.expires_at,
        }


def _status(found: TrackingVerification) -> str:
    if found.seen_at is not None:
        return "verified"
    return "pending" if db.now() < found.expires_at else "expired"


def _with_nonce(url: str, nonce: str) -> str:
    parts = urlsplit(url)
    query = "&".join(one for one in (parts.query, f"{PARAMETER}={nonce}") if one)
    return urlunsplit((parts.scheme, parts.netloc, parts.path or "/", query, ""))
