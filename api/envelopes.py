"""The documented envelope of an answer: `{data, meta}`, and `pagination` beside them on paged lists."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import marshmallow as ma
from marshmallow import fields

DATA_AS_OF = {
    "description": "When the source that has been quiet for longest last brought anything new: reading it again does"
    " not move this; null before any."
}

DELIVERY_THROUGH = {
    "description": "Last full day that every ad account has delivered; one over four weeks behind another has ended,"
    " and does not hold it. Null before there is one."
}


class Meta(ma.Schema):
    """What an answer says about itself; which members are there depends on the route."""

    profile_id = fields.UUID(metadata={"description": "The profile the answer is about."})
    workspace_id = fields.UUID(metadata={"description": "The workspace the answer is about."})
    client_id = fields.String(metadata={"description": "The app that asked."})
    date_from = fields.Date(metadata={"description": "First day of the window."})
    date_to = fields.Date(metadata={"description": "Last day of the window, included."})
    currency = fields.String(metadata={"description": "The reporting currency of every amount."})
    model = fields.String(metadata={"description": "The attribution model of every credited figure."})
    level = fields.String(metadata={"description": "Whose rows these are: campaign, ad_set or ad."})
    snapshot_id = fields.String(
        allow_none=True, metadata={"description": "The published data the answer was read from; null before any."}
    )
    data_as_of = fields.DateTime(allow_none=True, metadata=DATA_AS_OF)
    delivery_through = fields.Date(allow_none=True, metadata=DELIVERY_THROUGH)
    pii_level_applied = fields.String(
        validate=ma.validate.OneOf(["masked", "full"]),
        metadata={"description": "Whether who a row is about is told in full."},
    )
    rows_total = fields.Integer(metadata={"description": "Rows on all pages together."})
    next_cursor = fields.String(
        allow_none=True, metadata={"description": "Send it as `cursor` for the next page; null on the last."}
    )


class Pagination(ma.Schema):
    """The sibling of `data` on paged lists."""

    cursor = fields.String(required=True, allow_none=True, metadata={"description": "Null on the last page."})
    has_next = fields.Boolean(required=True, metadata={"description": "Whether `cursor` names a further page."})


def envelope_of(schema: ma.Schema | None) -> Any:
    """The documented `{data, meta}` around a row schema.

    A schema class may name the schema of its route's `meta` in the attribute `meta_schema`; with `is_paged`, lists of
    it have the sibling `pagination`, and so has one object with `has_paged_part`.
    """
    if schema is None:
        return None
    return _envelope(type(schema), bool(schema.many))


@lru_cache(maxsize=512)
def _envelope(schema: type[ma.Schema], many: bool) -> type[ma.Schema]:
    # cached: the same pair must give the same class, or the document grows …Envelope1, …Envelope2
    name = f"{schema.__name__}{'List' if many else ''}Envelope"
    members = {
        "data": fields.Nested(schema, many=many, required=True, metadata={"description": "The rows."} if many else {}),
        "meta": fields.Nested(getattr(schema, "meta_schema", Meta), required=True),
    }
    if (many and getattr(schema, "is_paged", False)) or getattr(schema, "has_paged_part", False):
        members["pagination"] = fields.Nested(Pagination, required=True)
    return type(name, (ma.Schema,), members)
