from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from random import Random

from sandbox.exchange import Exchange, build_rates
from sandbox.money import Rate

FRIDAY = date(2026, 11, 13)


def exchange() -> Exchange:
    rates = (("USD", "1.0850"), ("GBP", "0.85000"), ("JPY", "160.00"))
    return Exchange([Rate(FRIDAY, "EUR", quote, Decimal(rate)) for quote, rate in rates])


def test_a_tie_goes_to_the_even_cent() -> None:
    assert exchange().convert(100, "EUR", "USD", FRIDAY) == 108
    assert exchange().convert(300, "EUR", "USD", FRIDAY) == 326
    assert exchange().convert(1010, "EUR", "USD", FRIDAY) == 1096


def test_a_weekend_takes_fridays_rate_and_the_eighth_day_none() -> None:
    assert exchange().convert(100_00, "EUR", "USD", FRIDAY + timedelta(days=2)) == 108_50
    assert exchange().convert(100_00, "EUR", "USD", FRIDAY + timedelta(days=7)) == 108_50
    assert exchange().convert(100_00, "EUR", "USD", FRIDAY + timedelta(days=8)) is None
    assert exchange().convert(100_00, "EUR", "USD", FRIDAY - timedelta(days=1)) is None


def test_crosses_go_through_the_euro_and_yen_have_no_cents() -> None:
    assert exchange().convert(85_00, "GBP", "USD", FRIDAY) == 108_50
    assert exchange().convert(1600, "JPY", "USD", FRIDAY) == 10_85
    assert exchange().convert(10_85, "USD", "JPY", FRIDAY) == 1600


def test_one_currency_needs_no_rate() -> None:
    assert exchange().rate(date(2001, 1, 1), "USD", "USD") == 1


def test_rates_are_published_on_business_days_only() -> None:
    rates = build_rates(Random(1), date(2026, 11, 16), 30)
    assert {row.day.weekday() for row in rates} == {0, 1, 2, 3, 4}
    assert min(row.day for row in rates) <= date(2026, 10, 17) - timedelta(days=8)
