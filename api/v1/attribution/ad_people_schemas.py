"""What GET /attribution/ad-people accepts and answers, field by field."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields

from api.envelopes import DATA_AS_OF, Meta
from api.fields import Choice, Flag, Int
from api.served import CHANNELS, ORIGINS
from api.v1.attribution.ad_people_queries import GROUPINGS


class AdPeopleQuery(Schema):
    group_by = Choice(
        GROUPINGS, load_default="month", metadata={"description": "Buckets: every month, every day, or the best ads."}
    )
    channel = Choice(
        CHANNELS, load_default=None, metadata={"description": "Only ad touches of this channel; all when absent."}
    )
    first_only = Flag(
        load_default=False,
        metadata={"description": "Count each person only where their earliest ad touch of all time was."},
    )
    limit = Int(1, 1000, load_default=100, metadata={"description": "With group_by=ad: how many ads at most."})


class Made(fields.List[dict[str, Any]]):
    """A list whose items already are what is sent: at 366 days, dumping each again would take longer than all else."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return value


class OriginCount(Schema):
    people = fields.Integer(required=True, metadata={"description": "Distinct people reached through the origin."})
    touches = fields.Integer(required=True, metadata={"description": "Their ad touches of the origin."})


ByOrigin = Schema.from_dict({origin: fields.Nested(OriginCount, required=True) for origin in ORIGINS}, name="ByOrigin")


class Figures(Schema):
    ad_people = fields.Integer(required=True, metadata={"description": "Distinct people with an ad touch."})
    ad_touches = fields.Integer(required=True, metadata={"description": "Ad touches."})
    by_origin = fields.Nested(
        ByOrigin, required=True, metadata={"description": "Every origin; a person reached through two counts in both."}
    )
    platform_messaging_conversations_started = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "The platforms' own count by the ad account's day, all channels; null if unreported."},
    )


class Bucket(Figures):
    key = fields.String(required=True, metadata={"description": "YYYY-MM, YYYY-MM-DD or the platform's ad id."})
    start = fields.Date(required=True, metadata={"description": "First day, inside the window."})
    end = fields.Date(required=True, metadata={"description": "Last day, included, inside the window."})
    ad_id = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The platform's id, as the touch carried it; null unless group_by is ad."},
    )
    ad_name = fields.String(
        required=True, allow_none=True, metadata={"description": "Null unless exactly one synced ad has the id."}
    )


class OriginLabel(Schema):
    label_en = fields.String(required=True, metadata={"description": "Its name for people, in English."})
    label_es = fields.String(required=True, metadata={"description": "Its name for people, in Spanish."})
    description = fields.String(required=True, metadata={"description": "What the origin is, in English."})


OriginLabels = Schema.from_dict(
    {origin: fields.Nested(OriginLabel, required=True) for origin in ORIGINS}, name="OriginLabels"
)


class AdPeopleMeta(Meta):
    date_from = fields.Date(required=True)
    date_to = fields.Date(required=True)
    snapshot_id = fields.String(
        required=True, allow_none=True, metadata={"description": "The published version; null before the first."}
    )
    data_as_of = fields.DateTime(required=True, allow_none=True, metadata=DATA_AS_OF)


class AdPeople(Schema):
    """Counts alone: nothing in the answer is about one person."""

    meta_schema = AdPeopleMeta

    date_from = fields.Date(required=True)
    date_to = fields.Date(required=True)
    group_by = fields.String(
        required=True, metadata={"enum": list(GROUPINGS), "description": "What the buckets are, as asked."}
    )
    channel = fields.String(
        required=True,
        allow_none=True,
        metadata={"enum": [*CHANNELS, None], "description": "The only channel of the touches, as asked; null for all."},
    )
    first_only = fields.Boolean(
        required=True,
        metadata={"description": "Whether each person counts only where their earliest ad touch was, as asked."},
    )
    timezone = fields.String(required=True, metadata={"description": "IANA zone that days and months are in."})
    totals = fields.Nested(
        Figures, required=True, metadata={"description": "The whole window, each person counted once."}
    )
    buckets = Made(fields.Nested(Bucket), required=True, metadata={"description": "Never added up: see totals."})
    buckets_total = fields.Integer(
        required=True, metadata={"description": "Buckets that there are, also those cut at limit."}
    )
    buckets_truncated = fields.Boolean(required=True, metadata={"description": "True when ads were cut at limit."})
    origin_labels = fields.Nested(OriginLabels, required=True)
