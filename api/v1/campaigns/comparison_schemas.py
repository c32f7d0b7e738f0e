"""What GET /campaigns/platform-comparison accepts and answers, field by field."""

from __future__ import annotations

from marshmallow import Schema, fields

from api.fields import Choice, Int
from api.pagination import CursorQuery
from api.served import BASES, LEVELS, MODELS
from api.v1.campaigns.schemas import PARENT, ModelMeta

_EXACT = {"pattern": r"^-?\d+(\.\d+)?$"}


class ComparisonQuery(CursorQuery):
    model = Choice(
        MODELS, load_default="last_touch", metadata={"description": "Attribution model of the service's side."}
    )
    level = Choice(LEVELS, load_default="campaign", metadata={"description": "Whose rows: campaigns, ad sets or ads."})
    limit = Int(1, 1000, load_default=500, metadata={"description": "Rows per page; platforms are always all there."})


class ComparisonMeta(ModelMeta):
    rows_total = fields.Integer(required=True, metadata={"description": "Rows on all pages together."})
    next_cursor = fields.String(required=True, allow_none=True, metadata={"description": "Null on the last page."})


class Sides(Schema):
    """The platform's claims and the service's credit. Amounts are exact decimals in the reporting currency."""

    spend = fields.String(required=True, metadata={**_EXACT, "description": "In the reporting currency, exact."})
    platform_conversions = fields.Float(
        required=True, allow_none=True, metadata={"description": "The platform's own count; null if it reported none."}
    )
    platform_conversion_value = fields.String(
        required=True,
        allow_none=True,
        metadata={**_EXACT, "description": "Its own value of them; null if it told none."},
    )
    service_conversions = fields.Integer(
        required=True, metadata={"description": "Conversions of every kind credited here, each counted once."}
    )
    service_cash_conversions = fields.Integer(required=True, metadata={"description": "The payments among them."})
    service_cash_revenue = fields.String(
        required=True, metadata={**_EXACT, "description": "Cash credited here, refunds subtracted."}
    )
    conversion_gap = fields.Float(
        required=True,
        allow_none=True,
        metadata={
            "description": "Service minus platform; negative when the platform claims more, null if it reported none."
        },
    )
    conversion_gap_pct = fields.Float(
        required=True,
        allow_none=True,
        metadata={"description": "conversion_gap per hundred of the platform's count; null where that is 0 or null."},
    )
    value_gap = fields.String(
        required=True,
        allow_none=True,
        metadata={**_EXACT, "description": "Service cash minus platform value; null where that is null."},
    )
    platform_roas = fields.Float(
        required=True,
        allow_none=True,
        metadata={"description": "platform_conversion_value / spend; null without spend or that value."},
    )
    service_roas = fields.Float(
        required=True, allow_none=True, metadata={"description": "service_cash_revenue / spend; null without spend."}
    )


class PlatformTotal(Sides):
    platform = fields.String(required=True)
    platform_label = fields.String(required=True, metadata={"description": "Its name for people."})
    currency = fields.String(required=True, metadata={"description": "Reporting currency of every amount."})
    reported_basis = fields.String(
        required=True,
        metadata={
            "enum": list(BASES),
            "description": "What its count means. click_view_modeled: clicks, views and modelled conversions in the"
            " platform's own windows, dated on the interaction; click_only: clicks alone.",
        },
    )
    has_delivery = fields.Boolean(required=True, metadata={"description": "Whether its delivery was ever synced."})
    delivery_through = fields.Date(
        required=True,
        allow_none=True,
        metadata={"description": "Last full day that all its accounts but ended ones have delivered; null before one."},
    )
    unassigned_conversions = fields.Integer(
        required=True,
        metadata={"description": "Those of service_conversions with credit on paid clicks that name no known entity."},
    )
    unassigned_cash_revenue = fields.String(
        required=True, metadata={**_EXACT, "description": "The part of service_cash_revenue on such clicks."}
    )


class EntityComparison(Sides):
    platform = fields.String(required=True)
    platform_id = fields.String(required=True, metadata={"description": "The entity's own id on the platform."})
    entity_id = fields.String(required=True, metadata={"format": "uuid"})
    entity_name = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Its name at the platform; its id there while it was never synced, so never null."},
    )
    entity_level = fields.String(required=True, metadata={"enum": list(LEVELS)})
    parent_name = fields.String(required=True, allow_none=True, metadata={"description": PARENT})


class PlatformComparison(Schema):
    meta_schema = ComparisonMeta

    platforms = fields.List(
        fields.Nested(PlatformTotal), required=True, metadata={"description": "One total per platform, by name."}
    )
    rows = fields.List(
        fields.Nested(EntityComparison),
        required=True,
        metadata={
            "description": "One per campaign, ad set or ad with delivery or credit, by platform, most credited"
            " cash first."
        },
    )
