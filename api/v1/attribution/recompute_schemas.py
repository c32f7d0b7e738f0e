"""What a recompute looks like."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from marshmallow import Schema, fields

from api.bodies import Nothing
from api.reading import timestamp

STATUSES = ("queued", "running", "published", "failed")


class Instant(fields.DateTime):
    """An instant in UTC, RFC 3339 with milliseconds."""

    def _serialize(self, value: datetime | None, attr: str | None, obj: Any, **kwargs: Any) -> str | None:
        return None if value is None else timestamp(value)


class RecomputeBody(Nothing):
    """Nothing can be chosen: the whole history of the profile is computed anew."""


class RecomputeAnswer(Schema):
    recompute_id = fields.String(
        required=True, metadata={"format": "uuid", "description": "Ask GET /attribution/recompute/{id} how it stands."}
    )
    status = fields.String(
        required=True,
        metadata={
            "enum": list(STATUSES),
            "description": "published once a snapshot is live that was built after the request.",
        },
    )
    requested_at = Instant(required=True)
    finished_at = Instant(required=True, allow_none=True)
    snapshot_id = fields.String(
        required=True, allow_none=True, metadata={"description": "The snapshot that answers it; null before."}
    )
    expected_at = Instant(
        required=True,
        allow_none=True,
        metadata={"description": "By when its snapshot should be published; null once it is finished."},
    )
