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
    name = fields.String(required=True)
    value = fields.String(required=True)


class Variant(Schema):
    variant_id = fields.String(required=True, metadata={"description": "The id that a link to a cart takes."})
    title = fields.String(required=True, allow_none=True)
    sku = fields.String(required=True, allow_none=True)
    barcode = fields.String(required=True, allow_none=True)
    position = fields.Integer(required=True, allow_none=True)
    price = fields.String(required=True, metadata={**_MONEY, "description": "In the product's currency."})
    compare_at_price = fields.String(required=True, allow_none=True, metadata=_MONEY)
    inventory_quantity = fields.Integer(
        required=True, allow_none=True, metadata={"description": "Negative when oversold."}
    )
    inventory_policy = fields.String(
        required=True, allow_none=True, metadata={"enum": list(POLICIES), "description": "What happens without stock."}
    )
    tracked = fields.Boolean(required=True, allow_none=True, metadata={"description": "Whether stock is counted."})
    options = fields.List(fields.Nested(Option), required=True)
    updated_at = fields.DateTime(required=True)


class Product(Schema):
    """A product of a store with all its variants."""

    is_paged = True

    product_id = fields.String(required=True)
    connection_id = fields.String(required=True, metadata={"format": "uuid"})
    title = fields.String(required=True)
    handle = fields.String(required=True, allow_none=True)
    status = fields.String(
        required=True, metadata={"enum": list(STATUSES), "description": "A deleted one has no variants."}
    )
    vendor = fields.String(required=True, allow_none=True)
    product_type = fields.String(required=True, allow_none=True)
    tags = fields.List(fields.String(), required=True)
    image_url = fields.String(required=True, allow_none=True)
    url = fields.String(required=True, allow_none=True)
    currency = fields.String(required=True, metadata={"description": "ISO 4217."})
    created_at = fields.DateTime(required=True, allow_none=True)
    updated_at = fields.DateTime(required=True, metadata={"description": "Moves with its variants."})
    variants = fields.List(fields.Nested(Variant), required=True)


class OrderLine(Schema):
    line_id = fields.String(required=True)
    product_id = fields.String(required=True, allow_none=True)
    variant_id = fields.String(required=True, allow_none=True)
    sku = fields.String(required=True, allow_none=True)
    title = fields.String(required=True)
    quantity = fields.Integer(required=True)
    price = fields.String(required=True, metadata={**_MONEY, "description": "Of one unit."})


class OrderFigures(Schema):
    """What any read tells of an order."""

    order_id = fields.String(required=True)
    order_ref = fields.String(required=True, metadata={"description": "Shown name, as `#1001`."})
    connection_id = fields.String(required=True, metadata={"format": "uuid"})
    created_at = fields.DateTime(required=True)
    updated_at = fields.DateTime(required=True)
    processed_at = fields.DateTime(required=True, allow_none=True)
    cancelled_at = fields.DateTime(required=True, allow_none=True)
    financial_status = fields.String(required=True, metadata={"enum": list(FINANCIAL)})
    fulfillment_status = fields.String(required=True, allow_none=True, metadata={"enum": list(FULFILLMENT)})
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

    lines = fields.List(fields.Nested(OrderLine), required=True)
