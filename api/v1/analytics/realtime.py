"""GET /realtime: how many visitors the trackers saw just now."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from marshmallow import Schema, fields

from api import auth, context, db
from api.guard import guarded
from api.http import Blueprint
from api.models import CollectedEvent
from api.scopes import Scope

bp = Blueprint("realtime", __name__, description="Visitors at this moment.")

MINUTES = 5


class Realtime(Schema):
    visitors_online = fields.Integer(required=True, metadata={"description": "Browsers seen in the last minutes."})
    window_minutes = fields.Integer(
        required=True, metadata={"description": "How many minutes visitors_online goes back."}
    )


@bp.route("/realtime")
@guarded(scope=Scope.REALTIME_READ)
@bp.response(200, Realtime)
def visitors_online() -> dict[str, Any]:
    """How many visitors there are now

    Browsers of which a tracker's event came in the last five minutes, each counted once.
    """
    since = db.now() - timedelta(minutes=MINUTES)
    seen = (CollectedEvent.profile_id == auth.current().profile.id, CollectedEvent.received_at >= since)
    counted = sa.select(sa.func.count(CollectedEvent.visitor.distinct())).where(*seen)
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        return {"visitors_online": reading.scalar(counted) or 0, "window_minutes": MINUTES}
