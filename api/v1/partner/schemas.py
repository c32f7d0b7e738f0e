"""What POST /partner/ad-referrals accepts and answers, field by field."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from api.bodies import Instant, Text
from api.fields import Choice
from api.v1.events.schemas import Customer

MOST = 500
CHANNELS = ("chatapp", "social", "pagechat")


class Referral(Schema):
    referral_id = Text(128, required=True, metadata={"description": "Own id of the referral, for ever."})
    conversation_id = Text(
        128, required=True, metadata={"description": "Own id of the conversation that the ad opened."}
    )
    channel = Choice(CHANNELS, required=True, metadata={"description": "Where the conversation was opened."})
    ad_id = Text(128, required=True, metadata={"description": "The platform's id of the ad."})
    platform = fields.String(
        load_default=None,
        validate=validate.Regexp("[a-z0-9_]{2,32}\\Z", error="must be a slug such as meta"),
        metadata={
            "pattern": "^[a-z0-9_]{2,32}$",
            "description": "The ad's platform, such as meta; any platform that has an ad of this id when left out.",
        },
    )
    occurred_at = Instant(required=True, metadata={"description": "When it was opened, with its offset."})
    customer = fields.Nested(Customer, required=True, metadata={"description": "Who wrote: one member at least."})
    click_id = Text(
        1024, load_default=None, metadata={"description": "The platform's id of the click, where it gave one."}
    )


class ReferralsBody(Schema):
    referrals = fields.List(
        fields.Nested(Referral),
        required=True,
        validate=validate.Length(1, MOST, error=f"must hold 1 to {MOST} referrals"),
        metadata={"description": "All are taken, or none."},
    )


class ReferralOutcome(Schema):
    referral_id = fields.String(required=True, metadata={"description": "Own id of the referral, as sent."})
    status = fields.String(
        required=True,
        metadata={
            "enum": ["accepted", "duplicate", "superseded"],
            "description": "duplicate: it had come before; superseded: the conversation was seen live, and its"
            " own referral stands.",
        },
    )
    touch_id = fields.String(
        required=True, allow_none=True, metadata={"description": "Id of its touch; null when superseded."}
    )


class ReferralsOutcome(Schema):
    accepted = fields.Integer(required=True, metadata={"description": "Referrals that are new."})
    duplicates = fields.Integer(required=True, metadata={"description": "Referrals that had come before."})
    superseded = fields.Integer(
        required=True, metadata={"description": "Conversations that were seen live: their own referral stands."}
    )
    referrals = fields.List(
        fields.Nested(ReferralOutcome),
        required=True,
        metadata={"description": "One per referral of the request, in its order."},
    )
