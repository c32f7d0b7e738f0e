"""What the imports routes accept and answer, field by field."""

from __future__ import annotations

from marshmallow import Schema, fields

from api.fields import Int
from api.pagination import CursorQuery

STATES = ("queued", "loading", "loaded", "rejected")
MOST_ERRORS = 100


class ImportsQuery(CursorQuery):
    limit = Int(1, 200, load_default=50, metadata={"description": "Rows per page."})


class BadRow(Schema):
    row = fields.Integer(required=True, metadata={"description": "Record of the file, from 1."})
    field = fields.String(required=True, allow_none=True, metadata={"description": "Null: the whole record."})
    reason = fields.String(required=True, metadata={"description": "What is wrong with it."})


class ImportRow(Schema):
    is_paged = True

    import_id = fields.String(required=True, metadata={"format": "uuid"})
    dataset = fields.String(required=True)
    file_name = fields.String(required=True)
    status = fields.String(required=True, metadata={"enum": list(STATES)})
    reason = fields.String(required=True, allow_none=True, metadata={"description": "Why the file was rejected."})
    rows_in = fields.Integer(required=True)
    rows_loaded = fields.Integer(required=True)
    rows_quarantined = fields.Integer(required=True)
    errors = fields.List(
        fields.Nested(BadRow), required=True, metadata={"description": f"The first {MOST_ERRORS} bad rows."}
    )
    sha256 = fields.String(required=True)
    created_at = fields.String(required=True, metadata={"format": "date-time"})
