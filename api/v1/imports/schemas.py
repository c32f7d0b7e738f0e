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

    import_id = fields.String(
        required=True, metadata={"format": "uuid", "description": "Ask GET /imports/{import_id} how it stands."}
    )
    dataset = fields.String(required=True, metadata={"description": "Name of the data set, of docs/data.md."})
    file_name = fields.String(required=True, metadata={"description": "The file's name, as sent."})
    status = fields.String(
        required=True,
        metadata={
            "enum": list(STATES),
            "description": "queued: the next build loads it; loaded: good rows are in, others in quarantine;"
            " rejected: nothing is.",
        },
    )
    reason = fields.String(
        required=True, allow_none=True, metadata={"description": "Why the file was rejected; null unless it was."}
    )
    rows_in = fields.Integer(required=True, metadata={"description": "Rows of the file; 0 until it was loaded."})
    rows_loaded = fields.Integer(required=True, metadata={"description": "Rows that were good and are in."})
    rows_quarantined = fields.Integer(
        required=True, metadata={"description": "Rows that are kept aside, with what is wrong with them."}
    )
    errors = fields.List(
        fields.Nested(BadRow), required=True, metadata={"description": f"The first {MOST_ERRORS} bad rows."}
    )
    sha256 = fields.String(
        required=True, metadata={"description": "SHA-256 of the file, hexadecimal: the same bytes are the same import."}
    )
    created_at = fields.String(required=True, metadata={"format": "date-time"})
