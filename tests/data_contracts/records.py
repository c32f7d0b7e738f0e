"""One good record per set that tests change one value of, and the moment they are judged at."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from data_contracts.contract import load
from data_contracts.judge import Judged, judge

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)

GOOD: dict[str, dict[str, Any]] = {
    "touches": {
        "touch_key": "t1",
        "occurred_at": "2026-11-01T10:00:00Z",
        "person_key": "p1",
        "channel": "web",
        "origin": "web",
    },
    "conversions": {
        "conversion_key": "c1",
        "occurred_at": "2026-11-01T10:00:00Z",
        "conversion_type": "payment_received",
        "value": "12.50",
        "currency": "USD",
        "payment_ref": "stripe:pi_1",
    },
    "orders": {
        "connection_ref": "shop",
        "order_id": "1",
        "order_ref": "#1",
        "created_at": "2026-11-01T10:00:00Z",
        "updated_at": "2026-11-01T10:00:00Z",
        "financial_status": "paid",
        "currency": "USD",
        "total": "12.50",
    },
    "identities": {
        "kind_a": "anonymous_id",
        "value_a": "a1",
        "kind_b": "email",
        "value_b": "a@example.com",
        "observed_at": "2026-11-01T10:00:00Z",
    },
    "ad_delivery": {
        "platform": "meta",
        "ad_id": "1",
        "date": "2026-11-01",
        "ad_account_id": "a",
        "ad_set_id": "s",
        "campaign_id": "c",
        "currency": "USD",
        "spend": "1.25",
        "impressions": "10",
        "clicks": "1",
    },
    "ad_accounts": {"platform": "meta", "ad_account_id": "1", "currency": "USD", "timezone": "Europe/Madrid"},
    "creatives": {"platform": "meta", "creative_id": "1", "format": "video"},
    "variants": {
        "connection_ref": "shop",
        "variant_id": "1",
        "product_id": "1",
        "price": "5",
        "updated_at": "2026-11-01T10:00:00Z",
    },
    "entity_reach": {
        "platform": "meta",
        "level": "ad",
        "entity_id": "1",
        "date_from": "2026-11-01",
        "date_to": "2026-11-07",
        "reach": 5,
    },
    "fx_rates": {"rate_date": "2026-11-01", "base": "EUR", "quote": "USD", "rate": "1.0845123456"},
    "experiments": {
        "platform": "meta",
        "platform_study_id": "1",
        "name": "n",
        "kind": "lift",
        "status": "ACTIVE",
        "start_date": "2026-12-24",
    },
    "recurring_payments": {
        "payment_ref": "stripe:pi_2",
        "first_payment_ref": "stripe:pi_1",
        "subscription_ref": "sub_1",
        "sequence_no": 2,
        "billing_reason": "cycle",
    },
}


def record(dataset: str, **changes: Any) -> dict[str, Any]:
    """The good record of a set with some values changed."""
    return {**GOOD[dataset], **changes}


def judged(dataset: str, *records: dict[str, Any]) -> Judged:
    """The records judged at `NOW`."""
    return judge(load(dataset), list(records), now=NOW)


def row(dataset: str, **changes: Any) -> dict[str, Any]:
    """The row that the changed good record becomes; fails when it is rejected."""
    verdict = judged(dataset, record(dataset, **changes))
    assert verdict.rejected == []
    return verdict.rows[0]


def refusal(dataset: str, **changes: Any) -> tuple[str | None, str]:
    """Field and reason of the rejection of the changed good record; fails when it is accepted."""
    verdict = judged(dataset, record(dataset, **changes))
    (rejected,) = verdict.rejected
    assert verdict.rows == []
    return rejected.field, rejected.reason
