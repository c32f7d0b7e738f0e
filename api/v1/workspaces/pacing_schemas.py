"""What GET W/pacing accepts and answers, field by field."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from marshmallow import Schema, ValidationError, fields

from api.envelopes import DELIVERY_THROUGH
from api.fields import UuidList

STATUSES = ("under", "on_track", "over", "no_budget")
MOST_PROFILES = 200

_MONTH = re.compile(r"(20[0-9]{2})-(0[1-9]|1[0-2])")


class Month(fields.String):
    """A calendar month of this century; loads to its first day."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if not isinstance(value, str) or not _MONTH.fullmatch(value):
            raise ValidationError("must be a month written YYYY-MM")
        return date.fromisoformat(f"{value}-01")


class PacingQuery(Schema):
    month = Month(
        load_default=None,
        metadata={
            "description": "YYYY-MM; the current one of the workspace's time zone if absent.",
            "pattern": f"^{_MONTH.pattern}$",
        },
    )
    profile_ids = UuidList(
        MOST_PROFILES, load_default=None, metadata={"description": "Only these profiles, comma-separated."}
    )


_MONEY_OR_NULL: dict[str, Any] = {"required": True, "allow_none": True}


class PacingTotals(Schema):
    """Sums over the profiles in the workspace's currency."""

    budget = fields.Float(
        **_MONEY_OR_NULL,
        metadata={"description": "Of the profiles that have one; null where none has, and as `reason` says."},
    )
    spend_mtd = fields.Float(**_MONEY_OR_NULL, metadata={"description": "Sum of the profiles'; null as `reason` says."})
    cash_outcomes_mtd = fields.Integer(required=True, metadata={"description": "Sum of the profiles'; never null."})
    revenue_mtd = fields.Float(
        **_MONEY_OR_NULL, metadata={"description": "Sum of the profiles'; null as `reason` says."}
    )
    roas = fields.Float(
        **_MONEY_OR_NULL, metadata={"description": "revenue_mtd / spend_mtd; null without spend, and as `reason` says."}
    )
    reason = fields.String(
        required=True,
        allow_none=True,
        metadata={"enum": ["currencies_differ", None], "description": "Why money is null: no rate is known."},
    )


class PacingRow(Schema):
    """One profile's month, in its own currency, from the first through the last day with complete delivery."""

    profile_id = fields.UUID(required=True)
    profile_name = fields.String(required=True)
    currency = fields.String(required=True)
    timezone = fields.String(required=True, metadata={"description": "Whose days the outcomes are counted in."})
    month = fields.String(required=True, metadata={"description": "The month, YYYY-MM."})
    days_in_month = fields.Integer(required=True, metadata={"description": "All days of the month."})
    days_elapsed = fields.Integer(required=True, metadata={"description": "Days with complete delivery."})
    delivery_through = fields.Date(required=True, allow_none=True, metadata=DELIVERY_THROUGH)
    budget = fields.Float(
        **_MONEY_OR_NULL,
        metadata={
            "description": "The profile's monthly budget; null where none is set in the currency of the figures."
        },
    )
    spend_mtd = fields.Float(
        required=True,
        metadata={"description": "Spend of the campaigns on the days with complete delivery; 0 before any."},
    )
    expected_spend = fields.Float(
        **_MONEY_OR_NULL, metadata={"description": "The budget's share of these days; null without a budget."}
    )
    pace = fields.Float(
        **_MONEY_OR_NULL, metadata={"description": "spend_mtd / expected_spend; null where that is null or 0."}
    )
    projected_spend = fields.Float(
        **_MONEY_OR_NULL,
        metadata={
            "description": "spend_mtd and, for each day left, the mean of the last 7 days; null before any full day."
        },
    )
    status = fields.String(
        required=True,
        metadata={
            "enum": list(STATUSES),
            "description": "By `pace`: under below 0.9, over above 1.1; no_budget where `budget` is null.",
        },
    )
    cash_outcomes_mtd = fields.Integer(
        required=True,
        metadata={
            "description": "Payments that last_touch credits to campaigns, through delivery_through where it is told."
        },
    )
    outcomes_mtd = fields.Integer(
        required=True, metadata={"description": "Conversions of every kind, counted as cash_outcomes_mtd is."}
    )
    revenue_mtd = fields.Float(
        required=True,
        metadata={"description": "Cash that last_touch credits to campaigns, over the same days as cash_outcomes_mtd."},
    )
    roas = fields.Float(**_MONEY_OR_NULL)
    outcome_target = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "Outcomes wanted in the month; null where none is set."},
    )


class Pacing(Schema):
    """Month-to-date spend and outcomes against budget."""

    currency = fields.String(required=True, metadata={"description": "Of the totals."})
    totals = fields.Nested(PacingTotals, required=True)
    profiles = fields.List(
        fields.Nested(PacingRow),
        required=True,
        metadata={"description": "One for each profile asked for, else for each that the caller can open."},
    )
