"""POST /api/tracking/verification/beacon: the page itself shows that it carries the tracker."""

from __future__ import annotations

import sqlalchemy as sa
from flask import Response, request

from api import context, credentials, db, errors
from api.collecting import described
from api.collecting.event import page, text
from api.collecting.page import host_of
from api.collecting.routes import MOST_BYTES, read_body
from api.collecting.sites import sites_of
from api.guard import public_up_to
from api.http import Blueprint
from api.models import TrackingVerification
from api.writing import unkeyed

bp = Blueprint("verification_beacon", __name__, description="What trackers send.")


@bp.route("/api/tracking/verification/beacon", methods=["POST"])
@public_up_to(MOST_BYTES)
@unkeyed
@bp.doc(**described.BEACON)
def verification_beacon() -> Response:
    """Take the nonce that a page was opened with

    The page must be on the host that was to be verified, and the nonce not older than fifteen minutes.
    """
    body = read_body()
    key = request.headers.get("X-Tracking-Key") or body.get("trackingKey")
    if not isinstance(key, str) or not credentials.is_well_formed(key, "trk_live"):
        raise errors.UNAUTHORIZED()
    host, nonce = page(body).host, text(body, "nonce", 64)
    with db.transaction(context.settings().operational_url) as session:
        site = sites_of(session.connection(), {key}).get(key)
        if site is None:
            raise errors.UNAUTHORIZED()
        site.require(host, host_of(request.headers.get("Origin", "")))
        sought = sa.select(TrackingVerification).where(TrackingVerification.nonce == nonce)
        found = session.scalars(sought.with_for_update()).one_or_none()
        if found is None or found.profile_id != site.profile_id or found.expires_at <= db.now():
            raise errors.NOT_FOUND()
        if host != found.host:
            raise errors.VALIDATION_ERROR("pageUrl: is on another host than the page to verify.")
        if found.seen_at is None:
            found.seen_at, found.page_host = db.now(), host
    return Response(b"{}", 202, mimetype="application/json")
