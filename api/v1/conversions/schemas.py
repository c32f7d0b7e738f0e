"""What the conversion reads accept and what they answer, field by field."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields, validate

from api.envelopes import Meta
from api.fields import TOKEN, Choice, Int
from api.pagination import CursorQuery
from api.served import CONVERSION_TYPES, MODELS, REVENUE_TYPES

CHANNELS = ("chatapp", "social", "pagechat", "web", "other")
ORIGINS = ("partner_ad_referral", "conversation_referral", "web", "other")
_TYPE: dict[str, Any] = {
    "description": f"{', '.join(CONVERSION_TYPES)}, or the conversion_key of the profile's own goal."
}
_UUID: dict[str, Any] = {"format": "uuid"}
_TIME: dict[str, Any] = {"format": "date-time", "description": "UTC, in the whole seconds that attribution compares."}


class TruthValue(Choice):
    """`true` or `false`, spelt exactly."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(("true", "false"), **kwargs)

    def deserialize(self, value: Any, attr: str | None = None, data: Any = None, **kwargs: Any) -> Any:
        text = super().deserialize(value, attr, data, **kwargs)
        return text == "true" if isinstance(text, str) else text


class ListQuery(CursorQuery):
    type = fields.String(
        load_default=None,
        validate=validate.Regexp(f"{TOKEN.pattern}\\Z", error="is no conversion type"),
        metadata={"description": "Only conversions of this type: one of the seven, or the profile's own goal's."},
    )
    model = Choice(MODELS, load_default="last_touch", metadata={"description": "Model that campaign_id is told under."})
    credited = TruthValue(
        load_default=None, metadata={"description": "Only those with (true) or without (false) a credited campaign."}
    )
    limit = Int(1, 200, load_default=50, metadata={"description": "Rows per page."})


class ConversionCountMeta(Meta):
    date_from = fields.Date(required=True)
    date_to = fields.Date(required=True)


class ConversionCountRow(Schema):
    meta_schema = ConversionCountMeta

    event_type = fields.String(required=True, metadata=_TYPE)
    count = fields.Integer(required=True, metadata={"description": "Conversions of the type in the window."})
    value = fields.Float(required=True, metadata={"description": "Net cash; 0 for types that are no payments."})
    revenue_type = fields.String(
        required=True,
        metadata={
            "enum": list(REVENUE_TYPES),
            "description": "What their value is: cash of payments, pipeline that is projected, or gross that is"
            " neither.",
        },
    )


class ConversionDayRow(Schema):
    meta_schema = ConversionCountMeta

    date = fields.Date(required=True, metadata={"description": "Day in the profile's time zone."})
    event_type = fields.String(required=True, metadata=_TYPE)
    count = fields.Integer(required=True, metadata={"description": "Conversions of the type that day; 0 when none."})


class Named(Schema):
    conversion_id = fields.String(required=True, metadata=_UUID)
    outcome_event_id = fields.String(
        required=True, allow_none=True, metadata={**_UUID, "description": "Of POST /events; null for other sources."}
    )
    type = fields.String(required=True, metadata=_TYPE)
    occurred_at = fields.String(required=True, metadata=_TIME)
    date = fields.Date(required=True, metadata={"description": "Local date in the profile's time zone."})
    value = fields.Float(
        required=True, allow_none=True, metadata={"description": "Net cash; null without cash or without a rate."}
    )
    refunded_value = fields.Float(required=True, metadata={"description": "What was taken back of it."})
    currency = fields.String(required=True, metadata={"description": "Reporting currency, ISO 4217."})


class ListRow(Named):
    is_paged = True

    event_key = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "Key of the record that tells of it: the sender's own, `event:` and an id for an event "
            "sent to POST /events without one, `web:` and its eventId for one of the tracker; null where only a "
            "processor or a store tells of it. DELETE /events/{idempotency_key} takes that of an event of POST /events."
        },
    )
    credited = fields.Boolean(required=True, metadata={"description": "Whether a campaign has credit on it."})
    campaign_id = fields.String(
        required=True,
        allow_none=True,
        metadata={**_UUID, "description": "Campaign with the largest share; null where none has credit."},
    )
    touches = fields.Integer(required=True, metadata={"description": "Touches of its path."})


class Conversion(Named):
    is_cash = fields.Boolean(required=True, metadata={"description": "Whether it is a payment."})
    projected_value = fields.Float(
        required=True, allow_none=True, metadata={"description": "Pipeline, never cash; null on payments."}
    )
    inherited_from = fields.String(
        required=True,
        allow_none=True,
        metadata={**_UUID, "description": "First payment whose path a renewal takes; null for all else."},
    )


class Touch(Schema):
    position = fields.Integer(required=True, metadata={"description": "Its place in order of time, from 1."})
    occurred_at = fields.String(required=True, metadata=_TIME)
    channel = fields.String(
        required=True,
        metadata={
            "enum": list(CHANNELS),
            "description": "Where the person arrived: in a chat, on the web, or elsewhere.",
        },
    )
    origin = fields.String(
        required=True,
        metadata={
            "enum": list(ORIGINS),
            "description": "How it is known: from a partner, the chat itself, a tracked visit, or otherwise.",
        },
    )
    platform = fields.String(
        required=True, allow_none=True, metadata={"description": "The ad platform; null where none is known."}
    )
    source = fields.String(
        required=True, allow_none=True, metadata={"description": "utm_source, a label only; null without one."}
    )
    medium = fields.String(
        required=True, allow_none=True, metadata={"description": "utm_medium, a label only; null without one."}
    )
    campaign_label = fields.String(
        required=True, allow_none=True, metadata={"description": "utm_campaign, a label only; null without one."}
    )
    campaign_id = fields.String(
        required=True,
        allow_none=True,
        metadata={**_UUID, "description": "The campaign, by our id; null where it led to none that is known."},
    )
    campaign_name = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The campaign's name at its platform; null without campaign_id."},
    )
    ad_set_id = fields.String(
        required=True,
        allow_none=True,
        metadata={**_UUID, "description": "The ad set, by our id; null where it led to none that is known."},
    )
    ad_id = fields.String(
        required=True,
        allow_none=True,
        metadata={**_UUID, "description": "The ad, by our id; null where it led to none that is known."},
    )
    ad_external_id = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Platform ad id as the touch carried it, known or not; null where it carried none."},
    )
    ad_name = fields.String(
        required=True, allow_none=True, metadata={"description": "The ad's name at its platform; null without ad_id."}
    )
    is_direct = fields.Boolean(
        required=True,
        metadata={"description": "Whether it is a visit without campaign, click id, referral and outside referrer."},
    )
    is_paid = fields.Boolean(required=True, metadata={"description": "Whether it was paid for."})
    inherited = fields.Boolean(required=True, metadata={"description": "Taken over from the first payment's path."})


class PerModel(Schema):
    last_touch = fields.Float(required=True, metadata={"description": "Under last_touch: all to the newest touch."})
    first_touch = fields.Float(required=True, metadata={"description": "Under first_touch: all to the earliest touch."})
    linear = fields.Float(required=True, metadata={"description": "Under linear: the same to each touch."})
    time_decay = fields.Float(
        required=True,
        metadata={"description": "Under time_decay: half as much for each half-life before the newest touch."},
    )
    last_non_direct = fields.Float(
        required=True,
        metadata={"description": "Under last_non_direct: all to the newest that is not direct, else to the newest."},
    )


class CreditedTouch(Touch):
    weights = fields.Nested(PerModel, required=True, metadata={"description": "Add up to 1 over all touches."})
    values = fields.Nested(PerModel, required=True, metadata={"description": "Add up to the conversion's value."})


class Journey(Schema):
    conversion = fields.Nested(Conversion, required=True)
    lookback_days = fields.Integer(
        required=True, metadata={"description": "Days before the conversion in which touches count."}
    )
    half_life_days = fields.Integer(
        required=True, metadata={"description": "Days in which a touch's weight halves under time_decay."}
    )
    touches = fields.List(fields.Nested(CreditedTouch), required=True, metadata={"description": "In order of time."})
    touches_total = fields.Integer(required=True, metadata={"description": "Touches in the look-back window."})
    touches_truncated = fields.Boolean(
        required=True, metadata={"description": "More than 500: the path is the newest 500 under every model."}
    )
