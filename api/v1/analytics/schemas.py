"""What the reads about the whole profile accept and answer."""

from __future__ import annotations

from marshmallow import Schema, fields

from api.envelopes import DATA_AS_OF, DELIVERY_THROUGH, Meta
from api.fields import Choice
from api.served import MODELS, REASONS


class ModelQuery(Schema):
    model = Choice(
        MODELS,
        load_default="last_touch",
        metadata={"description": "Attribution model; figures of different models are never added."},
    )


class WindowMeta(Meta):
    """What these reads tell about themselves."""

    date_from = fields.Date(required=True)
    date_to = fields.Date(required=True)
    currency = fields.String(required=True, metadata={"description": "Reporting currency, ISO 4217."})
    model = fields.String(required=True, metadata={"enum": list(MODELS)})
    snapshot_id = fields.String(
        required=True, allow_none=True, metadata={"description": "The published version; null before the first."}
    )
    data_as_of = fields.DateTime(required=True, allow_none=True, metadata=DATA_AS_OF)
    delivery_through = fields.Date(required=True, allow_none=True, metadata=DELIVERY_THROUGH)


class Part(Schema):
    """Part of a window's conversions."""

    outcomes = fields.Integer(required=True, metadata={"description": "Conversions of every kind."})
    cash_payments = fields.Integer(required=True, metadata={"description": "Payments among them."})
    cash_revenue = fields.Float(required=True, metadata={"description": "Cash, net, in the reporting currency."})
    percent = fields.Float(
        required=True, allow_none=True, metadata={"description": "Its share of all conversions; null when none."}
    )


class ReasonPart(Part):
    reason = fields.String(
        required=True,
        metadata={
            "enum": list(REASONS),
            "description": "Why no campaign got credit; GET /campaigns/unattributed says what each means.",
        },
    )


class Coverage(Schema):
    """All conversions, by whether a campaign got credit and if not why; the parts add up to the whole."""

    attributed = fields.Nested(Part, required=True, metadata={"description": "Credited to at least one campaign."})
    by_reason = fields.List(
        fields.Nested(ReasonPart),
        required=True,
        metadata={"description": "Credited to none: every reason, always in the same order."},
    )


class WindowFigures(Schema):
    date_from = fields.Date(required=True)
    date_to = fields.Date(required=True)
    spend = fields.Float(required=True, metadata={"description": "In the reporting currency."})
    revenue = fields.Float(required=True, metadata={"description": "Cash credited to campaigns under the model."})
    cash_revenue = fields.Float(required=True, metadata={"description": "All cash, net; the same under every model."})
    cash_payments = fields.Integer(required=True, metadata={"description": "All payments."})
    organic_direct_revenue = fields.Float(
        required=True, metadata={"description": "Cash credited to direct visits and to channels nobody paid for."}
    )
    roas = fields.Float(
        required=True, allow_none=True, metadata={"description": "revenue / spend; null without spend."}
    )
    cac = fields.Float(
        required=True,
        allow_none=True,
        metadata={"description": "spend / payments with credit on a campaign; null without any."},
    )
    outcomes = fields.Integer(required=True, metadata={"description": "All conversions, of every kind."})
    attributed_outcomes = fields.Integer(
        required=True, metadata={"description": "Those with credit on at least one campaign."}
    )
    coverage_percent = fields.Float(
        required=True,
        allow_none=True,
        metadata={"description": "100 * attributed_outcomes / outcomes; null without outcomes."},
    )
    coverage = fields.Nested(Coverage, required=True)


class Overview(Schema):
    meta_schema = WindowMeta

    current = fields.Nested(WindowFigures, required=True, metadata={"description": "The window asked for."})
    previous = fields.Nested(
        WindowFigures, required=True, metadata={"description": "As many days, ending the day before it."}
    )


class DayRow(Schema):
    meta_schema = WindowMeta

    date = fields.Date(required=True)
    spend = fields.Float(required=True, metadata={"description": "In the reporting currency."})
    revenue = fields.Float(required=True, metadata={"description": "Cash credited to campaigns under the model."})
    cash_revenue = fields.Float(required=True, metadata={"description": "All cash, net."})
    cash_payments = fields.Integer(required=True, metadata={"description": "All payments."})
    outcomes = fields.Integer(required=True, metadata={"description": "All conversions, of every kind."})
