"""What GET /quality/ad-ids accepts and answers, field by field."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from api.envelopes import DATA_AS_OF, Meta
from api.fields import Int
from api.served import UNNAMED

_REASON = {
    "enum": list(UNNAMED),
    "description": "no_ad_parameter: the link named nothing. macro_not_expanded: the platform's macro was sent as it "
    "stands. malformed_ad_id: no id looks so. unknown_ad_id: no synced ad has it. parent_only: an ad set or campaign.",
}
_TOLD = {"description": "Null when the click did not tell."}


class AdIdsQuery(Schema):
    platform = fields.String(
        load_default=None,
        validate=validate.Regexp(r"[a-z0-9_]{2,32}\Z", error="must be the slug of a platform"),
        metadata={
            "description": "Only clicks of this ad platform, for example meta; one that nothing came from is refused.",
            "pattern": "^[a-z0-9_]{2,32}$",
        },
    )
    limit = Int(1, 1000, load_default=100, metadata={"description": "Rows at most."})


class ClickTotals(Schema):
    paid_clicks = fields.Integer(
        required=True,
        metadata={
            "description": "Touches of the window that were paid for, or name an ad, ad set or campaign: what they name"
            " is credited whatever `is_paid` says."
        },
    )
    with_ad = fields.Integer(required=True, metadata={"description": "Of these, those that named a synced ad."})
    without_ad = fields.Integer(required=True, metadata={"description": "Those that named none; by_reason tells why."})
    without_ad_pct = fields.Float(
        required=True, allow_none=True, metadata={"description": "Of 100 paid clicks; null when there was none."}
    )
    conversions_affected = fields.Integer(
        required=True,
        metadata={"description": "Conversions of the window whose last touch is a paid click without an ad."},
    )
    cash_affected = fields.Float(required=True, metadata={"description": "Their cash, in the reporting currency."})


class ClickReason(Schema):
    reason = fields.String(required=True, metadata=_REASON)
    clicks = fields.Integer(required=True, metadata={"description": "Paid clicks of the window without a synced ad."})
    conversions = fields.Integer(
        required=True, metadata={"description": "Conversions of every kind whose last touch is such a click."}
    )


class ClickRow(ClickReason):
    platform = fields.String(required=True, allow_none=True, metadata=_TOLD)
    landing_host = fields.String(required=True, allow_none=True, metadata=_TOLD)
    utm_source = fields.String(required=True, allow_none=True, metadata=_TOLD)
    utm_medium = fields.String(required=True, allow_none=True, metadata=_TOLD)
    utm_campaign = fields.String(required=True, allow_none=True, metadata=_TOLD)
    click_id_type = fields.String(required=True, allow_none=True, metadata=_TOLD)
    first_seen = fields.Date(required=True, metadata={"description": "First day with such a click or conversion."})
    last_seen = fields.Date(required=True, metadata={"description": "Last such day of the window."})
    suggested_url_tags = fields.String(
        required=True, metadata={"description": "URL parameters that make the platform's links name their ads."}
    )


class AdIdsMeta(Meta):
    date_from = fields.Date(required=True)
    date_to = fields.Date(required=True)
    currency = fields.String(required=True, metadata={"description": "Reporting currency, ISO 4217."})
    snapshot_id = fields.String(
        required=True, allow_none=True, metadata={"description": "The published version; null before the first."}
    )
    data_as_of = fields.DateTime(required=True, allow_none=True, metadata=DATA_AS_OF)


class AdIds(Schema):
    """No person, no path and no full URL."""

    meta_schema = AdIdsMeta

    totals = fields.Nested(ClickTotals, required=True)
    by_reason = fields.List(
        fields.Nested(ClickReason), required=True, metadata={"description": "Every reason, always in the same order."}
    )
    rows = fields.List(fields.Nested(ClickRow), required=True, metadata={"description": "Most clicks first."})
    rows_total = fields.Integer(
        required=True, metadata={"description": "Rows that there are, also those cut at limit."}
    )
    rows_truncated = fields.Boolean(required=True, metadata={"description": "True when rows were cut at limit."})
