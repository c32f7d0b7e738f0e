"""GET W/api-usage."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from marshmallow import Schema, fields

from api import auth, context, db
from api.db import now
from api.fields import UuidList
from api.guard import workspace_guarded
from api.http import Blueprint
from api.roles import Role
from api.v1.credentials import usage_queries
from api.windows import DateRange, OptionalDateRangeQuery

DAYS = 30
_UUID = {"format": "uuid"}

bp = Blueprint("api_usage", __name__, description="What keys and user tokens were used for.")


class UsageQuery(Schema):
    key_id = UuidList(1, metadata={"description": "Only this key or user token."}, load_default=list)


class DayOfUse(Schema):
    date = fields.Date(required=True)
    requests = fields.Integer(required=True, metadata={"description": "Requests of the day, refused ones too."})
    units = fields.Integer(required=True, metadata={"description": "What they cost of the allowance."})


class KeyUse(Schema):
    """One key or user token, and its requests about this workspace."""

    key_id = fields.String(required=True, metadata={**_UUID, "description": "The key or user token, by its id."})
    kind = fields.String(
        required=True,
        metadata={
            "enum": ["api_key", "user_token"],
            "description": "A key opens one profile; a user token acts for a person.",
        },
    )
    name = fields.String(required=True, metadata={"description": "What it was called when it was made."})
    prefix = fields.String(required=True, metadata={"description": "How it begins."})
    profile_id = fields.String(
        required=True, allow_none=True, metadata={**_UUID, "description": "The key's profile; null for a user token."}
    )
    requests = fields.Integer(required=True, metadata={"description": "Requests in the window, refused ones too."})
    units = fields.Integer(required=True, metadata={"description": "What they cost of the allowance."})
    refused_4xx = fields.Integer(required=True, metadata={"description": "Without those over an allowance."})
    failed_5xx = fields.Integer(
        required=True, metadata={"description": "Requests answered with a status of 500 or above."}
    )
    rate_limited = fields.Integer(
        required=True, metadata={"description": "Requests over an allowance, refused with 429."}
    )
    last_used_at = fields.DateTime(
        required=True, allow_none=True, metadata={"description": "Anywhere; to the minute; null before the first use."}
    )
    days = fields.List(
        fields.Nested(DayOfUse), required=True, metadata={"description": "UTC days with at least one request."}
    )


class Usage(Schema):
    keys = fields.List(fields.Nested(KeyUse), required=True, metadata={"description": "The most units first."})


@bp.route("/workspaces/<workspace_id>/api-usage")
@workspace_guarded(role=Role.ADMIN)
@bp.arguments(OptionalDateRangeQuery, location="query")
@bp.arguments(UsageQuery, location="query")
@bp.response(200, Usage)
def api_usage(given: DateRange | None, query: dict[str, Any], **_: str) -> dict[str, Any]:
    """Requests of every key and user token, day by day

    The last 30 UTC days unless dates are given. All keys that work are told, others only where they were used; user
    tokens of today's members where they were used in this workspace.
    """
    today = now().date()
    window = given or DateRange(today - timedelta(days=DAYS - 1), today)
    context.meta(date_from=window.date_from, date_to=window.date_to)
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        return {"keys": usage_queries.report(reading, auth.current().reach, window, only=query["key_id"])}
