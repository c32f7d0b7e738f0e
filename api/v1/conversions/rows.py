"""From served rows to the conversions and touches a caller reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from api.money import amount
from api.served import MODELS, ProfileFacts
from api.v1.conversions.split import Cents, shares, values

Row = Mapping[str, Any]

MARKETING = (
    "channel", "origin", "platform", "source", "medium", "campaign_label", "campaign_id", "campaign_name", "ad_set_id",
    "ad_id", "ad_external_id", "ad_name", "is_direct", "is_paid",
)  # fmt: skip


def timestamp(ts: int) -> str:
    """RFC 3339 of whole epoch seconds, UTC."""
    return datetime.fromtimestamp(ts, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def conversion(row: Row, profile: ProfileFacts) -> dict[str, Any]:
    """One conversion; `value` is net cash, null on outcomes that are no payment and where no rate is known."""
    return {
        "conversion_id": row["conversion_id"],
        "outcome_event_id": row["outcome_event_id"],
        "type": row["conversion_type"],
        "occurred_at": timestamp(row["ts"]),
        "date": row["day"],
        "is_cash": row["is_cash"],
        "value": _amount(row["cash_minor"], profile),
        "refunded_value": amount(row["refunded_minor"], profile.digits),
        "projected_value": _amount(row["pipeline_minor"], profile),
        "currency": profile.currency,
        "inherited_from": row["inherited_from"],
    }


def listed(row: Row, profile: ProfileFacts) -> dict[str, Any]:
    """One conversion of the list."""
    shown = conversion(row, profile)
    kept = ("conversion_id", "outcome_event_id", "type", "occurred_at", "date", "value", "refunded_value", "currency")
    extra = ("event_key", "credited", "campaign_id", "touches")
    return {**{name: shown[name] for name in kept}, **{name: row[name] for name in extra}}


def touch(row: Row, *, position: int, inherited: bool = False) -> dict[str, Any]:
    """The marketing facts of one touch: no person, key, page, path, referrer, device or place."""
    facts = {name: row[name] for name in MARKETING}
    return {"position": position, "occurred_at": timestamp(row["ts"]), **facts, "inherited": inherited}


def journey(
    found: Row, path: Sequence[Row], cents: Cents, profile: ProfileFacts, *, touches_total: int
) -> dict[str, Any]:
    """One conversion and the touches that share it; values split cash, so they are 0 where there is none."""
    parts = values(found["conversion_id"], path, cents if found["is_cash"] else {})
    inherited = found["inherited_from"] is not None
    return {
        "conversion": conversion(found, profile),
        "lookback_days": profile.lookback_days,
        "half_life_days": profile.half_life_days,
        "touches": [
            {
                **touch(row, position=place, inherited=inherited),
                "weights": {model: shares(row)[model].weight for model in MODELS},
                "values": {model: amount(part[model], profile.digits) for model in MODELS},
            }
            for place, (row, part) in enumerate(zip(path, parts, strict=True), start=1)
        ],
        "touches_total": touches_total,
        "touches_truncated": touches_total > len(path),
    }


def counts(days: Iterable[Row], digits: int) -> list[dict[str, Any]]:
    """Totals per type, most frequent first."""
    totals: dict[tuple[str, str], list[int]] = {}
    for row in days:
        total = totals.setdefault((row["type"], row["revenue_type"]), [0, 0])
        total[0] += row["count"]
        total[1] += row["cash_minor"]
    ordered = sorted(totals.items(), key=lambda item: (-item[1][0], item[0]))
    return [
        {
            "event_type": name,
            "count": count,
            "value": amount(cash, digits),
            "revenue_type": worth,
        }
        for (name, worth), (count, cash) in ordered
    ]


def timeseries(days: Iterable[Row], window: Iterable[date]) -> list[dict[str, Any]]:
    """One row per day and type seen in the window, zeros included."""
    counted = {(row["day"], row["type"]): row["count"] for row in days}
    types = sorted({name for _, name in counted})
    return [{"date": day, "event_type": name, "count": counted.get((day, name), 0)} for day in window for name in types]


def _amount(minor: int | None, profile: ProfileFacts) -> float | None:
    return None if minor is None else amount(minor, profile.digits)
