"""What the campaign reads accept and what they answer, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, ValidationError, fields, validates_schema

from api.envelopes import DATA_AS_OF, DELIVERY_THROUGH, Meta
from api.fields import Choice, Int, OpaqueId, UuidList
from api.pagination import CursorQuery
from api.served import LEVELS, MODELS, REASONS

_MODEL = {"description": "Attribution model; figures of different models are never added."}
_LEVEL = {"description": "Whose rows: campaigns, ad sets or ads."}


class CampaignsQuery(CursorQuery):
    model = Choice(MODELS, load_default="last_touch", metadata=_MODEL)
    limit = Int(1, 100, load_default=10, metadata={"description": "Rows per page."})
    level = Choice(
        LEVELS, load_default=None, metadata={"description": "When given, rows carry delivery, cost and entity fields."}
    )
    campaign_external_id = OpaqueId(
        load_default=None, metadata={"description": "Only children of this campaign; with level ad_set or ad."}
    )
    ad_set_external_id = OpaqueId(
        load_default=None, metadata={"description": "Only children of this ad set; with level ad."}
    )

    @validates_schema
    def _parents_are_above(self, data: Mapping[str, Any], **_: Any) -> None:
        if data["campaign_external_id"] is not None and data["level"] not in {"ad_set", "ad"}:
            raise ValidationError("narrows ad sets and ads; send it with level ad_set or ad", "campaign_external_id")
        if data["ad_set_external_id"] is not None and data["level"] != "ad":
            raise ValidationError("narrows ads; send it with level ad", "ad_set_external_id")


class TrendQuery(Schema):
    entity_ids = UuidList(
        10, required=True, metadata={"description": "1 to 10 values of campaign_id, comma-separated."}
    )
    level = Choice(LEVELS, load_default="campaign", metadata=_LEVEL)


class UnattributedQuery(Schema):
    model = Choice(MODELS, load_default="last_touch", metadata=_MODEL)
    level = Choice(LEVELS, load_default="campaign", metadata=_LEVEL)


class Outcomes(Schema):
    outcome_count = fields.Integer(required=True, metadata={"description": "Payments; the denominator of cac."})
    outcome_value = fields.Float(required=True, metadata={"description": "Cash, in the reporting currency."})
    attributed_outcome_count = fields.Integer(
        required=True, metadata={"description": "Conversions of every kind, refunds excluded; never cash."}
    )
    attributed_outcomes_by_type = fields.Dict(
        keys=fields.String(),
        values=fields.Integer(),
        required=True,
        metadata={"description": "Count per conversion type; a type with none is absent."},
    )


PARENT = "Campaign of an ad set, ad set of an ad; null at campaign level."
REACH = "Accounts reached, as the platform measured; never a sum. Null where nothing within the window was measured."
REACH_BASIS = (
    "exact: measured for this very window; at_least: the largest figure measured inside it; null where reach is."
)
CTR = "Clicks per 100 impressions; null without impressions."
CPM = "Spend per 1,000 impressions; null without impressions."
CPC = "Spend per click; null without clicks."
STATUS = "As the platform spells it; null where it was never synced."
OBJECTIVE = "The campaign's, as the platform spells it; null where none was synced."


class DatedMeta(Meta):
    """What every dated read of the published figures tells about itself."""

    date_from = fields.Date(required=True)
    date_to = fields.Date(required=True)
    currency = fields.String(required=True, metadata={"description": "Reporting currency, ISO 4217."})
    level = fields.String(required=True, metadata={"enum": list(LEVELS)})
    snapshot_id = fields.String(
        required=True, allow_none=True, metadata={"description": "The published version; null before the first."}
    )
    data_as_of = fields.DateTime(required=True, allow_none=True, metadata=DATA_AS_OF)


class ModelMeta(DatedMeta):
    model = fields.String(required=True, metadata={"enum": list(MODELS)})


class CampaignsMeta(ModelMeta):
    rows_total = fields.Integer(required=True, metadata={"description": "Rows on all pages together."})
    next_cursor = fields.String(required=True, allow_none=True, metadata={"description": "Null on the last page."})
    delivery_through = fields.Date(required=True, allow_none=True, metadata=DELIVERY_THROUGH)


class Entity(Schema):
    campaign_id = fields.String(required=True, metadata={"format": "uuid", "description": "Id of the row's entity."})
    campaign_name = fields.String(required=True, metadata={"description": "Its name on the ad platform."})
    platform = fields.String(required=True, metadata={"description": "The ad platform."})
    platform_id = fields.String(required=True, metadata={"description": "The entity's own id on the platform."})
    spend = fields.Float(required=True, metadata={"description": "In the reporting currency."})


class CampaignRow(Outcomes, Entity):
    """One entity of the level; the fields after `roas` are present when level was given."""

    meta_schema = CampaignsMeta

    roas = fields.Float(
        required=True, allow_none=True, metadata={"description": "outcome_value / spend; null without spend."}
    )
    entity_level = fields.String(metadata={"enum": list(LEVELS)})
    parent_name = fields.String(allow_none=True, metadata={"description": PARENT})
    impressions = fields.Integer(metadata={"description": "Impressions served."})
    clicks = fields.Integer(metadata={"description": "Clicks."})
    reach = fields.Integer(allow_none=True, metadata={"description": REACH})
    reach_basis = fields.String(
        allow_none=True,
        metadata={
            "enum": ["exact", "at_least", None],
            "description": REACH_BASIS,
        },
    )
    ctr = fields.Float(allow_none=True, metadata={"description": CTR})
    avg_cpm = fields.Float(allow_none=True, metadata={"description": CPM})
    avg_cpc = fields.Float(allow_none=True, metadata={"description": CPC})
    cac = fields.Float(allow_none=True, metadata={"description": "spend / outcome_count; null without payments."})
    status = fields.String(allow_none=True, metadata={"description": STATUS})
    objective = fields.String(allow_none=True, metadata={"description": OBJECTIVE})
    daily_budget = fields.Float(
        allow_none=True,
        metadata={"description": "In budget_currency; null when none is set, and while its ad account is not synced."},
    )
    budget_currency = fields.String(
        allow_none=True, metadata={"description": "Currency of the ad account; null where daily_budget is."}
    )
    campaign_external_id = fields.String(
        allow_none=True, metadata={"description": "Platform id of its campaign; null at campaign level."}
    )
    ad_set_external_id = fields.String(
        allow_none=True, metadata={"description": "Platform id of its ad set; null above ad level."}
    )
    messaging_conversations_started_7d = fields.Integer(
        allow_none=True, metadata={"description": "As the platform reports; null when it reported none."}
    )


class TrendRow(Schema):
    meta_schema = DatedMeta

    entity_id = fields.String(
        required=True, metadata={"format": "uuid", "description": "The campaign, ad set or ad, as asked."}
    )
    date = fields.Date(required=True, metadata={"description": "Day of the ad account, as its platform delivered."})
    spend = fields.Float(required=True, metadata={"description": "In the reporting currency."})
    impressions = fields.Integer(required=True)
    clicks = fields.Integer(required=True)


_REASON = {
    "enum": list(REASONS),
    "description": "paid_without_ad: a paid click that named nothing. unknown_ad: a touch that named what no synced "
    "entity is, or a platform's macro as it stands; GET /quality/ad-ids tells which, and the tags that mend it. "
    "parent_only: only a parent was named. other_channel: no ad. direct: a direct visit. no_touch: none in its window.",
}


class ReasonRow(Schema):
    reason = fields.String(required=True, metadata=_REASON)
    outcome_count = fields.Integer(
        required=True,
        metadata={
            "description": "Payments without credit on any entity of the level, each under the first reason that"
            " applies."
        },
    )
    outcome_value = fields.Float(
        required=True,
        metadata={
            "description": "Cash that lies on no entity of the level for this reason, in the reporting currency."
        },
    )
    attributed_outcome_count = fields.Integer(
        required=True,
        metadata={
            "description": "Conversions of every kind without such credit, each under the first reason that applies."
        },
    )


class UnattributedRemainder(Outcomes):
    meta_schema = ModelMeta

    entity_level = fields.String(required=True, metadata={"enum": list(LEVELS)})
    profile_total = fields.Nested(Outcomes, required=True, metadata={"description": "All conversions of the profile."})
    by_reason = fields.List(
        fields.Nested(ReasonRow), required=True, metadata={"description": "Every reason, always in the same order."}
    )
