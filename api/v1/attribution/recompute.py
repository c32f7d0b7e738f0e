"""POST /attribution/recompute, GET /attribution/recompute/{id}."""

from __future__ import annotations

from typing import Any

from api import auth, context, db, errors
from api.audit import Attempt, record, target
from api.guard import guarded
from api.http import Blueprint
from api.models import Recompute
from api.scopes import Scope
from api.v1.attribution.asking import ask, told
from api.v1.attribution.recompute_schemas import RecomputeAnswer, RecomputeBody
from api.writing import actor, idempotent, session

bp = Blueprint("recomputes", __name__, description="Figures computed anew, from all that a profile holds.")


@bp.route("/attribution/recompute", methods=["POST"])
@guarded(scope=Scope.ATTRIBUTION_WRITE)
@bp.arguments(RecomputeBody)
@idempotent()
@bp.response(202, RecomputeAnswer)
def request_recompute(_body: dict[str, Any]) -> dict[str, Any]:
    """Ask for figures computed anew

    One request per profile is open at a time: while it is, it is the answer. Everything accepted before the request is
    in the snapshot that answers it; `expected_at` says by when.
    """
    recompute, made = ask(session(), auth.current().profile.id)
    details = {"target": target("recompute", recompute.id)}
    attempt = Attempt("recompute.requested", details)
    record(session(), actor(), attempt, outcome="done" if made else "no_change")
    return told(session(), recompute)


@bp.route("/attribution/recompute/<recompute_id>")
@guarded(scope=Scope.ATTRIBUTION_WRITE, uuids=["recompute_id"])
@bp.response(200, RecomputeAnswer)
def recompute_status(recompute_id: str) -> dict[str, Any]:
    """How a recompute stands

    queued until a build has begun to read the profile's data, running until that build ends, then published or failed.
    """
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        found = reading.get(Recompute, recompute_id)
        if found is None or found.profile_id != auth.current().profile.id:
            raise errors.NOT_FOUND()
        return told(reading, found)
