"""What the reads of the stored copy accept and answer, field by field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from api.body_fields import Uuid
from api.fields import Int, Time
from api.pagination import CursorQuery
from data_contracts.formats import FORMATS, Refused
from data_contracts.values import clean_text

SELECTORS = ("order_ref", "email", "phone")
STATUSES = ("active", "archived", "draft", "deleted")
FINANCIAL = ("pending", "authorized", "partially_paid", "paid", "partially_refunded", "refunded", "voided")
FULFILLMENT = ("partial", "fulfilled", "restocked", None)
POLICIES = ("deny", "continue", None)
LINES = "What was bought, line by line."
_MONEY = {"pattern": r"^-?\d+(\.\d+)?$"}


class Known(fields.String):
    """Text of at most `high` characters that `form` brings into its normal form."""

    def __init__(self, high: int, form: Callable[[str], str] = str, **kwargs: Any) -> None:
        super().__init__(
            load_default=None, validate=validate.Length(1, high, error=f"must have 1 to {high} characters"), **kwargs
        )
        self.form = form

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        try:
            return self.form(clean_text(value))
        except Refused as refused:
            raise ValidationError(str(refused)) from None


class ProductsQuery(CursorQuery):
    updated_since = Time(
        load_default=None,
        metadata={"description": "Only what changed then or later: the newest updated_at you have seen."},
    )
    connection_id = Uuid(load_default=None, metadata={"description": "Only of this store; of all where absent."})
    limit = Int(1, 250, load_default=50, metadata={"description": "Products per page."})


class OrdersQuery(CursorQuery):
    """One of the three selectors at least; several are ANDed."""

    order_ref = Known(200, metadata={"description": "Shown name of the order, as `#1001`."})
    email = Known(254, FORMATS["email"], metadata={"description": "The buyer's e-mail address."})
    phone = Known(32, FORMATS["phone"], metadata={"description": "The buyer's number in E.164."})
    connection_id = Uuid(load_default=None, metadata={"description": "Only of this store; of all where absent."})
    limit = Int(1, 100, load_default=20, metadata={"description": "Orders per page."})

    @validates_schema
    def _some_selector(self, data: Mapping[str, Any], **_: Any) -> None:
        if all(data.get(name) is None for name in SELECTORS):
            raise ValidationError(f"at least one of {', '.join(SELECTORS)} is needed")


class Option(Schema):
    name = fields.String(required=True, metadata={"description": "What varies, such as Size."})
    value = fields.String(required=True, metadata={"description": "Which one this variant is, such as 42."})


class Variant(Schema):
    variant_id = fields.String(required=True, metadata={"description": "The id that a link to a cart takes."})
    title = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Its name within the product; null where the store does not tell."},
    )
    sku = fields.String(required=True, allow_none=True)
    barcode = fields.String(required=True, allow_none=True, metadata={"description": "Its barcode; null without one."})
    position = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "Its place among the product's variants; null where the store does not tell."},
    )
    price = fields.String(required=True, metadata={**_MONEY, "description": "In the product's currency."})
    compare_at_price = fields.String(
        required=True,
        allow_none=True,
        metadata={**_MONEY, "description": "The price before, in the product's currency; null without one."},
    )
    inventory_quantity = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "Units in stock, negative when oversold; null where the store does not tell."},
    )
    inventory_policy = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "enum": list(POLICIES),
            "description": "Whether it sells without stock; null where the store does not tell.",
        },
    )
    tracked = fields.Boolean(
        required=True,
        allow_none=True,
        metadata={"description": "Whether stock is counted; null where the store does not tell."},
    )
    options = fields.List(
        fields.Nested(Option), required=True, metadata={"description": "What tells it from the other variants."}
    )
    updated_at = fields.DateTime(required=True)


class Product(Schema):
    """A product of a store with all its variants."""

    is_paged = True

    product_id = fields.String(required=True)
    connection_id = fields.String(required=True, metadata={"format": "uuid"})
    title = fields.String(required=True, metadata={"description": "Its name in the store."})
    handle = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Its short name in addresses; null where the store does not tell."},
    )
    status = fields.String(
        required=True, metadata={"enum": list(STATUSES), "description": "A deleted one has no variants."}
    )
    vendor = fields.String(required=True, allow_none=True)
    product_type = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Its kind, in the store's own words; null where the store does not tell."},
    )
    tags = fields.List(fields.String(), required=True, metadata={"description": "The store's own tags."})
    image_url = fields.String(
        required=True, allow_none=True, metadata={"description": "Its picture; null without one."}
    )
    url = fields.String(
        required=True, allow_none=True, metadata={"description": "Its page in the store; null where it has none."}
    )
    currency = fields.String(required=True, metadata={"description": "ISO 4217."})
    created_at = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={"description": "When the store made it; null where the store does not tell."},
    )
    updated_at = fields.DateTime(required=True, metadata={"description": "Moves with its variants."})
    variants = fields.List(
        fields.Nested(Variant), required=True, metadata={"description": "Every variant; none of a deleted product."}
    )


class OrderLine(Schema):
    line_id = fields.String(required=True, metadata={"description": "The line, by the store's id."})
    product_id = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The product, by the store's id; null where the store names none."},
    )
    variant_id = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The variant, by the store's id; null where the store names none."},
    )
    sku = fields.String(required=True, allow_none=True)
    title = fields.String(required=True, metadata={"description": "What was bought, named as it was then."})
    quantity = fields.Integer(required=True)
    price = fields.String(required=True, metadata={**_MONEY, "description": "Of one unit."})


class OrderFigures(Schema):
    """What any read tells of an order."""

    order_id = fields.String(required=True, metadata={"description": "The order, by the store's id."})
    order_ref = fields.String(required=True, metadata={"description": "Shown name, as `#1001`."})
    connection_id = fields.String(required=True, metadata={"format": "uuid"})
    created_at = fields.DateTime(required=True, metadata={"description": "When it was placed."})
    updated_at = fields.DateTime(required=True)
    processed_at = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={"description": "When the store took it up; null where the store does not tell."},
    )
    cancelled_at = fields.DateTime(required=True, allow_none=True)
    financial_status = fields.String(
        required=True, metadata={"enum": list(FINANCIAL), "description": "How far it is paid."}
    )
    fulfillment_status = fields.String(
        required=True,
        allow_none=True,
        metadata={"enum": list(FULFILLMENT), "description": "How far it is sent out; null before anything is."},
    )
    currency = fields.String(required=True, metadata={"description": "ISO 4217."})
    subtotal = fields.String(required=True, allow_none=True, metadata=_MONEY)
    total_discounts = fields.String(required=True, allow_none=True, metadata=_MONEY)
    total_shipping = fields.String(required=True, allow_none=True, metadata=_MONEY)
    total_tax = fields.String(required=True, allow_none=True, metadata=_MONEY)
    total = fields.String(required=True, metadata=_MONEY)
    refunded_total = fields.String(required=True, allow_none=True, metadata=_MONEY)


class Order(OrderFigures):
    """An order without anybody's name, address, e-mail or phone."""

    is_paged = True

    lines = fields.List(fields.Nested(OrderLine), required=True, metadata={"description": LINES})
