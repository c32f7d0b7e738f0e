"""What the two routes of a UTM scan accept and answer, field by field."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from api.url_tags import SEVERITIES

_PLATFORM = validate.Regexp(r"[a-z0-9_]{2,32}\Z", error="must be the slug of a platform")
_WRONG = {
    "enum": list(SEVERITIES),
    "description": "missing_ad_id: no ad_id, or the id of another ad. macro_not_expanded: a macro that the platform "
    "does not know. personal_data_in_url: an e-mail address or phone number; it is hidden here.",
}


class UtmBody(Schema):
    platform = fields.String(
        load_default=None,
        validate=_PLATFORM,
        metadata={"description": "Only ads of this platform, for example meta.", "pattern": "^[a-z0-9_]{2,32}$"},
    )


class UtmCheck(Schema):
    check = fields.String(required=True, metadata=_WRONG)
    severity = fields.String(
        required=True,
        metadata={"enum": ["error", "warning"], "description": "error: it costs health; warning: it is only told."},
    )
    ads = fields.Integer(required=True, metadata={"description": "Ads of the scan that fail it."})


class UtmAd(Schema):
    ad_id = fields.UUID(required=True)
    ad_external_id = fields.String(required=True)
    ad_name = fields.String(required=True)
    campaign_name = fields.String(required=True)
    platform = fields.String(required=True)
    issues = fields.List(
        fields.String(metadata=_WRONG), required=True, metadata={"description": "Checks that the ad fails."}
    )
    url_tags = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Parameters that the platform appends to its links; null without any."},
    )
    landing_host = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Where its link leads, by the host alone; null where it has none."},
    )
    suggested_url_tags = fields.String(
        required=True, metadata={"description": "URL parameters that make the link name its ad."}
    )


class SkippedAccount(Schema):
    connection_id = fields.UUID(required=True)
    name = fields.String(required=True, metadata={"description": "The account's name at the provider."})
    status = fields.String(
        required=True, metadata={"description": "Status of the connection, as GET /connections tells it."}
    )


class UtmHealth(Schema):
    """Of ads that are neither archived nor deleted. Nothing of landing URLs but their hosts is told."""

    refreshed = fields.Boolean(required=True, metadata={"description": "False for the summary of an earlier scan."})
    platform = fields.String(
        required=True, allow_none=True, metadata={"description": "The only one scanned; null for all."}
    )
    scanned_at = fields.DateTime(required=True)
    next_refresh_at = fields.DateTime(required=True, metadata={"description": "When a scan would be made anew."})
    source = fields.String(
        required=True,
        metadata={
            "enum": ["live", "last_synced"],
            "description": "last_synced where no ad account is connected: the tags synced last were checked, and not "
            "those of ads that were never synced.",
        },
    )
    ads_scanned = fields.Integer(required=True, metadata={"description": "Ads that were looked at."})
    ads_ok = fields.Integer(required=True, metadata={"description": "Ads without an error; warnings cost no health."})
    ads_with_issues = fields.Integer(required=True, metadata={"description": "Ads with at least one error."})
    health_pct = fields.Float(
        required=True, allow_none=True, metadata={"description": "100 x ads_ok / ads_scanned; null without an ad."}
    )
    verdict = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "enum": ["healthy", "caution", "poor", None],
            "description": "healthy above 80, caution from 50, poor below; null without an ad.",
        },
    )
    checks = fields.List(
        fields.Nested(UtmCheck), required=True, metadata={"description": "Every check, always in the same order."}
    )
    ads = fields.List(
        fields.Nested(UtmAd), required=True, metadata={"description": "Ads with an issue, worst first, at most 200."}
    )
    ads_truncated = fields.Boolean(
        required=True, metadata={"description": "Whether ads with an issue are left out of the list."}
    )
    accounts_skipped = fields.List(
        fields.Nested(SkippedAccount),
        required=True,
        metadata={"description": "Ad accounts that are lost and were not looked at."},
    )
