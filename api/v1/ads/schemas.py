"""What the ad reads accept and what they answer, field by field."""

from __future__ import annotations

from marshmallow import Schema, fields

from api.fields import Choice, OpaqueIdList
from api.served import MODELS
from api.v1.ads.queries import MOST_ADS
from api.v1.campaigns.schemas import (
    CPC,
    CPM,
    CTR,
    OBJECTIVE,
    REACH,
    REACH_BASIS,
    STATUS,
    DatedMeta,
    ModelMeta,
    Outcomes,
)
from api.v1.top_performers.schemas import AdScore


class AdQuery(Schema):
    model = Choice(
        MODELS, load_default="last_touch", metadata={"description": "Attribution model of every credited figure."}
    )


class AdTrendQuery(Schema):
    entity_ids = OpaqueIdList(
        MOST_ADS,
        load_default=None,
        metadata={"description": "1 to 10 ads by the service's or the platform's id; else those that spent most."},
    )


def _of_parent(what: str, how: str, **metadata: str) -> fields.String:
    about = f"The ad's {what}, {how}; null where none is known."
    return fields.String(required=True, allow_none=True, metadata={"description": about, **metadata})


class Creative(Schema):
    """What the ad shows; what the platform or an analysis did not tell is null."""

    creative_id = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The platform's id of the creative; null where the ad names none."},
    )
    format = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "video, image, carousel or collection; null where the creative is not synced."},
    )
    thumbnail_url = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "A small picture of it, at the platform; null where none is told."},
    )
    video_id = fields.String(required=True, allow_none=True)
    title = fields.String(
        required=True, allow_none=True, metadata={"description": "Its headline; null where none is told."}
    )
    body = fields.String(required=True, allow_none=True, metadata={"description": "Its text; null where none is told."})
    landing_host = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Host that it leads to; null where neither ad nor creative tells one."},
    )
    url_tags = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "URL parameters that the platform adds to the ad's links; null without any."},
    )
    hook_type = fields.String(required=True, allow_none=True)
    creative_format = fields.String(required=True, allow_none=True)
    cta_type = fields.String(required=True, allow_none=True)
    primary_angle = fields.String(required=True, allow_none=True)
    offers = fields.List(
        fields.String(),
        required=True,
        allow_none=True,
        metadata={"description": "What it offers, words of docs/creatives.md; null where nobody tells."},
    )
    analysed_at = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={"description": "When an analysis of ours read it; null where none read what is shown now."},
    )


class Identity(Schema):
    ad_id = fields.String(required=True, metadata={"format": "uuid"})
    platform = fields.String(required=True)
    ad_external_id = fields.String(required=True, metadata={"description": "The platform's id."})
    ad_name = fields.String(required=True)
    status = fields.String(required=True, allow_none=True, metadata={"description": STATUS})
    objective = fields.String(required=True, allow_none=True, metadata={"description": OBJECTIVE})
    campaign_id = _of_parent("campaign", "by our id", format="uuid")
    campaign_name = _of_parent("campaign", "by its name at the platform")
    campaign_external_id = _of_parent("campaign", "by its platform's id")
    ad_set_id = _of_parent("ad set", "by our id", format="uuid")
    ad_set_name = _of_parent("ad set", "by its name at the platform")
    ad_set_external_id = _of_parent("ad set", "by its platform's id")
    created_at = fields.String(
        required=True,
        allow_none=True,
        metadata={"format": "date-time", "description": "When the platform made it; null where it does not tell."},
    )


class Delivery(Schema):
    spend = fields.Float(required=True, metadata={"description": "In the reporting currency."})
    impressions = fields.Integer(required=True)
    clicks = fields.Integer(required=True)
    link_clicks = fields.Integer(
        required=True, allow_none=True, metadata={"description": "Null when the ad delivered and none were measured."}
    )
    reach = fields.Integer(required=True, allow_none=True, metadata={"description": REACH})
    reach_basis = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "enum": ["exact", "at_least", None],
            "description": REACH_BASIS,
        },
    )
    ctr = fields.Float(required=True, allow_none=True, metadata={"description": CTR})
    avg_cpm = fields.Float(required=True, allow_none=True, metadata={"description": CPM})
    avg_cpc = fields.Float(required=True, allow_none=True, metadata={"description": CPC})
    video_3s_views = fields.Integer(
        required=True, allow_none=True, metadata={"description": "Views of at least 3 seconds; null if unmeasured."}
    )
    video_15s_views = fields.Integer(
        required=True, allow_none=True, metadata={"description": "Views of at least 15 seconds; null if unmeasured."}
    )
    messaging_conversations_started_7d = fields.Integer(
        required=True, allow_none=True, metadata={"description": "As the platform reports; null when it reported none."}
    )


class AdDetail(Identity, Delivery, Outcomes):
    """One ad. The service's figures and the platform's claims stand apart and are never added."""

    meta_schema = ModelMeta

    creative = fields.Nested(Creative, required=True)
    roas = fields.Float(
        required=True, allow_none=True, metadata={"description": "outcome_value / spend; null without spend."}
    )
    cac = fields.Float(
        required=True, allow_none=True, metadata={"description": "spend / outcome_count; null without payments."}
    )
    platform_reported_conversions = fields.Float(
        required=True, allow_none=True, metadata={"description": "The platform's own claim; null when it made none."}
    )
    platform_reported_conversion_value = fields.Float(
        required=True, allow_none=True, metadata={"description": "Its own value of them; null when it told none."}
    )
    score = fields.Nested(
        AdScore,
        required=True,
        allow_none=True,
        metadata={"description": "Its row of GET /top-performers over 28 days, without what names it; null before."},
    )


class AdTrendRow(Schema):
    meta_schema = DatedMeta

    entity_id = fields.String(required=True, metadata={"format": "uuid"})
    ad_external_id = fields.String(required=True, metadata={"description": "The platform's id."})
    ad_name = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The ad's name at its platform, or its id there where no name was read; never null."},
    )
    date = fields.Date(required=True)
    spend = fields.Float(required=True, metadata={"description": "In the reporting currency."})
    impressions = fields.Integer(required=True)
    clicks = fields.Integer(required=True)
    messaging_conversations_started_7d = fields.Integer(
        required=True, allow_none=True, metadata={"description": "As the platform reports; null when it reported none."}
    )
