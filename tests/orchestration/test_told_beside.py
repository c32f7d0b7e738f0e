"""What stands beside an order, a payment or an ad may be of any form: the row lands all the same."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from data_contracts.contract import load
from orchestration.told_beside import fitting

PAYMENT: dict[str, Any] = {
    "conversion_key": "stripe:pi_1", "occurred_at": "2026-11-01T12:00:00Z", "conversion_type": "payment_received",
    "value": Decimal("100.00"), "currency": "EUR", "payment_ref": "stripe:pi_1", "source": "payments",
}  # fmt: skip
ORDER: dict[str, Any] = {
    "connection_ref": "shop", "order_id": "1", "order_ref": "#1", "created_at": "2026-11-01T12:00:00Z",
    "updated_at": "2026-11-01T12:00:00Z", "financial_status": "paid", "currency": "EUR", "total": Decimal("100.00"),
}  # fmt: skip
AD = {
    "platform": "meta", "ad_id": "3", "ad_set_id": "2", "campaign_id": "1", "name": "Coat", "status": "ACTIVE",
    "url_tags": "utm_source=meta",
}  # fmt: skip
CREATIVE = {"platform": "meta", "creative_id": "4", "format": "image", "title": "Coat"}
ODD = [
    {"phone": "0151 23456789"},
    {"phone": "(415) 555-0100"},
    {"email": "kasse@laden"},
    {"utm_campaign": "x" * 300},
    {"touch_at": "1793400000"},
    {"touch_at": "2026-11-01T12:00:00"},
    {"ad_platform": "Facebook"},
    {"anonymous_id": "\0"},
]


@pytest.mark.parametrize(("dataset", "row"), [("conversions", PAYMENT), ("orders", ORDER)])
@pytest.mark.parametrize("odd", ODD, ids=str)
def test_what_is_none_is_left_out_and_the_money_kept(dataset: str, row: dict[str, Any], odd: dict[str, Any]) -> None:
    told = {"email": "Ada@Example.com", "ad_id": "23851", **row, **odd}
    judged = load(dataset).judge(fitting(load(dataset), [told]))
    assert judged.rejected == []
    (kept,) = judged.rows
    assert [kept[name] for name in odd] == [None]
    assert kept["ad_id"] == "23851"
    assert kept["email"] == (None if "email" in odd else "ada@example.com")


@pytest.mark.parametrize(
    ("dataset", "row", "link"),
    [("ads", AD, "landing_url"), ("creatives", CREATIVE, "landing_url"), ("creatives", CREATIVE, "thumbnail_url")],
)
def test_an_ad_or_creative_stays_without_a_link_that_is_too_long(dataset: str, row: dict[str, Any], link: str) -> None:
    judged = load(dataset).judge(fitting(load(dataset), [{**row, link: f"https://shop.example/?{'x' * 4096}"}]))
    assert judged.rejected == []
    assert [kept[link] for kept in judged.rows] == [None]


@pytest.mark.parametrize("odd", [{"click_id": "x" * 1025}, {"click_id_type": "x" * 33}])
def test_a_click_id_and_its_kind_go_together(odd: dict[str, str]) -> None:
    told = {**PAYMENT, "click_id_type": "gclid", "click_id": "abc", **odd}
    assert list(fitting(load("conversions"), [told])) == [PAYMENT]


def test_a_reference_that_a_payment_needs_not_is_left_out_but_an_orders_own_is_judged() -> None:
    odd = {"order_ref": "#" * 201}
    assert list(fitting(load("conversions"), [{**PAYMENT, **odd}])) == [PAYMENT]
    assert list(fitting(load("orders"), [{**ORDER, **odd}])) == [{**ORDER, **odd}]


def test_what_is_money_or_a_key_is_never_left_out() -> None:
    odd = {**PAYMENT, "value": "much", "payment_ref": "Stripe pi_1", "conversion_key": ""}
    assert list(fitting(load("conversions"), [odd])) == [odd]
