"""The settings that figures are computed under, as they are read and written."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields, validate

from api.body_fields import MOST_HOSTS, Flag, HostList
from api.v1.attribution.recompute_schemas import RecomputeAnswer


def _days(most: int, description: str) -> fields.Integer:
    within = validate.Range(1, most, error=f"must be from 1 to {most}")
    return fields.Integer(strict=True, validate=within, metadata={"description": description})


class SettingsBody(Schema):
    """What to change; a member left out keeps its value."""

    lookback_days = _days(365, "Days before a conversion in which a touch counts, both ends included.")
    half_life_days = _days(90, "Days after which a touch weighs half under time_decay.")
    inherit_recurring = Flag(
        metadata={"description": "Whether renewals keep the credit of their subscription's first payment."}
    )
    own_domains = HostList(
        metadata={
            "description": f"Hosts of the business, their subdomains meant too; up to {MOST_HOSTS}. Coming back from "
            "them opens no visit."
        }
    )
    payment_hosts = HostList(
        metadata={"description": f"Hosts of payment pages that customers come back from; up to {MOST_HOSTS}."}
    )


class SettingsAnswer(SettingsBody):
    """The settings as they now are, and the recompute that brings them into the figures."""

    settings_version = fields.String(
        required=True,
        metadata={"description": "Changes with every setting that changes figures; part of every ETag."},
    )
    recompute = fields.Nested(
        RecomputeAnswer,
        required=True,
        allow_none=True,
        metadata={"description": "The profile's newest recompute; null before the first."},
    )

    def on_bind_field(self, field_name: str, field_obj: fields.Field[Any]) -> None:
        # a change may leave any setting out, an answer holds them all
        field_obj.required = True
