"""What GET /visitors accepts and answers, field by field."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields

from api.fields import Int
from api.pagination import CursorQuery
from api.v1.customers.list_schemas import PeopleMeta

CHANNELS = ("paid", "organic_search", "social", "email", "referral", "direct", "other")
DEVICES = ("desktop", "mobile", "tablet")


class VisitorsQuery(CursorQuery):
    limit = Int(1, 200, load_default=50, metadata={"description": "Rows per page."})


def _text(description: str, **metadata: Any) -> fields.String:
    return fields.String(required=True, allow_none=True, metadata={"description": description, **metadata})


class VisitorRow(Schema):
    """One browser, with figures over all time."""

    is_paged = True
    meta_schema = PeopleMeta

    visitor_id = fields.String(required=True, metadata={"format": "uuid", "description": "Pseudonym of the browser."})
    customer_key = _text("`ck_…` of the person; null until they are known by more than the browser.")
    name = _text("Of that person; null without one, or where nobody told it.")
    email = _text("Of that person, the one seen first; null without one that is theirs alone.")
    last_seen_at = fields.String(
        required=True, metadata={"format": "date-time", "description": "When its newest event was."}
    )
    sessions = fields.Integer(required=True, metadata={"description": "Visits."})
    pageviews = fields.Integer(required=True, metadata={"description": "Pages seen."})
    channel = _text("Where the newest visit came from; null where none was seen to begin.", enum=[*CHANNELS, None])
    source = _text("utm_source of the newest visit, a label only; null without one.")
    country = _text("Of the newest event, ISO 3166-1 alpha-2; null where it is not known.")
    device = _text("Of the newest event; null where it is not known.", enum=[*DEVICES, None])
