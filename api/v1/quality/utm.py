"""POST /quality/utm/refresh, GET /quality/utm."""

from __future__ import annotations

from typing import Any

from api import auth, context, errors, utm_scans
from api.guard import guarded
from api.http import Blueprint
from api.scopes import Scope
from api.v1.quality.utm_schemas import UtmBody, UtmHealth
from api.writing import idempotent

bp = Blueprint("utm_health", __name__, description="Whether the links of ads say where a visit comes from.")


@bp.route("/quality/utm/refresh", methods=["POST"])
@guarded(scope=Scope.ANALYTICS_READ, units=0, needs_entitlement=False)
@bp.arguments(UtmBody)
@idempotent()
@bp.response(200, UtmHealth)
def scan_links(body: dict[str, Any]) -> dict[str, Any]:
    """Look at the links of all ads, live

    Within ten minutes of a scan its summary is the answer, and costs nothing. Six scans an hour per credential, beside
    the request allowance. A scan that takes over 20 seconds is 504 and leaves the summary before it. A platform
    where the profile has neither ads nor an ad account is 422, and costs nothing.
    """
    caller = auth.current()
    return utm_scans.refresh(
        context.settings(), profile_id=caller.profile.id, account=caller.account, platform=body["platform"]
    )


@bp.route("/quality/utm")
@guarded(scope=Scope.ANALYTICS_READ)
@bp.response(200, UtmHealth)
def last_scan() -> dict[str, Any]:
    """What the last scan of the links of ads found

    The last of all platforms together; only while there is none, the last of one platform. 404 before the first one.
    """
    found = utm_scans.last(context.settings(), profile_id=auth.current().profile.id)
    if found is None:
        raise errors.NOT_FOUND("No scan of this profile's links was made yet.")
    return found
