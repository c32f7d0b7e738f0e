"""What the live reads of a store accept and answer, beyond the stored copy."""

from __future__ import annotations

from marshmallow import Schema, fields

from api.body_fields import Uuid
from api.envelopes import Meta
from api.fields import Int, Time
from api.pagination import CursorQuery
from api.v1.commerce.schemas import FINANCIAL, LINES, STATUSES, OrderFigures, OrderLine, Product

ASKED = ("updated_since", "connection_id", "limit")
LIMIT = 50


class LiveQuery(CursorQuery):
    """A first page by its filters, or a further one by the cursor alone."""

    updated_since = Time(load_default=None, metadata={"description": "Only what changed then or later."})
    connection_id = Uuid(
        load_default=None, metadata={"description": "The store to read; required where the profile has several."}
    )
    limit = Int(1, 250, load_default=None, metadata={"description": f"Rows per page, {LIMIT} if absent."})


class LiveMeta(Meta):
    connection_id = fields.String(
        required=True, metadata={"format": "uuid", "description": "The connection of the store that was read."}
    )
    shop = fields.String(required=True, metadata={"description": "The store, by its own name for itself."})


class LiveProduct(Product):
    """A product as the store tells it now; one that it deleted is not there."""

    meta_schema = LiveMeta

    status = fields.String(
        required=True,
        metadata={
            "enum": [one for one in STATUSES if one != "deleted"],
            "description": "active, archived or draft; only active ones are for sale.",
        },
    )


class Attribute(Schema):
    name = fields.String(required=True, metadata={"description": "Its name."})
    value = fields.String(required=True, metadata={"description": "Its value; empty where it has none."})


class LiveOrderLine(OrderLine):
    discount = fields.String(
        required=True, metadata={"pattern": r"^-?\d+(\.\d+)?$", "description": "Taken off this line."}
    )


class LiveOrder(OrderFigures):
    """An order as the store tells it now, with its buyer's e-mail and phone."""

    is_paged = True
    meta_schema = LiveMeta

    financial_status = fields.String(
        required=True, metadata={"enum": list(FINANCIAL), "description": "As the store's own webhooks spell it."}
    )
    status_updated_at = fields.DateTime(
        required=True, metadata={"description": "When payment, shipment or cancellation last moved."}
    )
    email = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "The buyer's, as the store tells it; null without one, or where the store withholds it."
        },
    )
    phone = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "The buyer's, as the store tells it; null without one, or where the store withholds it."
        },
    )
    attributes = fields.List(
        fields.Nested(Attribute), required=True, metadata={"description": "Of the cart and the note."}
    )
    lines = fields.List(fields.Nested(LiveOrderLine), required=True, metadata={"description": LINES})
