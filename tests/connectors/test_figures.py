"""Amounts, claims and budgets: as exact as the contracts keep them, in the units of their currency."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest

from connectors import figures, google_rows, meta_rows, tiktok_rows
from connectors.ad_platform import Row
from connectors.errors import Malformed
from data_contracts.contract import load
from data_contracts.formats import currency_digits


def meta(spend: str, value: str) -> Row:
    ids = {"account_id": "1", "campaign_id": "2", "adset_id": "3", "ad_id": "4", "account_currency": "USD"}
    claims = [{"action_type": "omni_purchase", "value": value}]
    told = {"date_start": "2026-11-10", "spend": spend, "actions": claims, "action_values": claims}
    return meta_rows.delivery({**ids, **told})


def tiktok(spend: str, value: str) -> Row:
    ids = {"adgroup_id": "3", "campaign_id": "2", "impressions": "1", "clicks": "1"}
    told = {**ids, "spend": spend, "complete_payment": value, "total_complete_payment_rate": value}
    about = {"ad_id": "4", "stat_time_day": "2026-11-10 00:00:00"}
    return tiktok_rows.delivery({"metrics": told, "dimensions": about}, "1", "USD")


@pytest.mark.parametrize("delivery", [meta, tiktok])
def test_a_fifth_decimal_is_rounded_half_to_even_and_costs_no_row(delivery: Callable[[str, str], Row]) -> None:
    row = delivery("250.00005", "149.970150000000")
    verdict = load("ad_delivery").judge([row])
    assert verdict.rejected == []
    told = [verdict.rows[0][name] for name in ("spend", "platform_conversions", "platform_conversion_value")]
    assert told == [Decimal("250.0000"), Decimal("149.9702"), Decimal("149.9702")]


def test_google_rounds_its_claims_likewise() -> None:
    told = google_rows.claims({"metrics": {"conversions": 3.00005, "conversionsValue": 149.97015}})
    assert (told["platform_conversions"], told["platform_conversion_value"]) == (Decimal("3.0000"), Decimal("149.9702"))


def test_a_currency_has_the_decimal_places_that_the_figures_are_counted_in() -> None:
    known = currency_digits()
    assert {currency: figures.digits(currency) for currency in known} == dict(known)


@pytest.mark.parametrize(("currency", "minor", "micros", "units"), [
    ("EUR", 1250, "12500000", 12.5), ("JPY", 1250, "1250000000", 1250), ("KWD", 1250, "1250000", 1.25),
    ("CLF", 12500, "1250000", 1.25), ("UYI", 1250, "1250000000", 1250),
])  # fmt: skip
def test_a_budget_is_spelled_in_its_currencys_own_units(currency: str, minor: int, micros: str, units: float) -> None:
    assert google_rows.spelled_micros(minor, currency) == micros
    assert tiktok_rows.spelled_budget(minor, currency) == units
    assert tiktok_rows.budgets({"budget_mode": "BUDGET_MODE_DAY", "budget": units}, currency) == {
        "daily_budget_minor": minor, "lifetime_budget_minor": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    "text", ["NaN", "sNaN", "Infinity", "-inf", "1e21", "-1e21", "1e-21", "9e999999", "twelve", "", None]
)
def test_what_is_no_finite_number_of_a_sane_size_is_refused(text: object) -> None:
    with pytest.raises(Malformed, match="a figure that is not a number"):
        figures.number("meta", text)


@pytest.mark.parametrize("text", ["0", "-12.5", "1e20", "-1e20", "1e-20", 7])
def test_a_number_of_a_sane_size_is_read_exactly(text: object) -> None:
    assert figures.number("meta", text) == Decimal(str(text))
