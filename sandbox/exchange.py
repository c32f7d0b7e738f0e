"""Daily exchange rates as a central bank publishes them: base EUR, business days only."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from random import Random

from sandbox.money import DIGITS, Rate

START = {"USD": ("1.0860", "0.0001"), "GBP": ("0.85510", "0.00001"), "JPY": ("161.40", "0.01")}
REACH_BACK_DAYS = 7


def build_rates(random: Random, today: date, days: int) -> list[Rate]:
    """A slow random walk per currency from ten days before the first day."""
    rates = []
    level = {quote: Decimal(start) for quote, (start, _) in START.items()}
    for offset in range(days + 10, -1, -1):
        day = today - timedelta(days=offset)
        if day.weekday() >= 5:
            continue
        for quote, (_, step) in START.items():
            moved = level[quote] * (1 + Decimal(round(random.gauss(0, 0.003), 6)).quantize(Decimal("0.000001")))
            level[quote] = moved.quantize(Decimal(step))
            rates.append(Rate(day, "EUR", quote, level[quote]))
    return rates


class Exchange:
    """Converts minor units at a day's rate, or the nearest earlier one within 7 days; crosses go through EUR."""

    def __init__(self, rates: Iterable[Rate]) -> None:
        self._rates = {(row.day, row.quote): row.rate for row in rates}

    def rate(self, day: date, base: str, quote: str) -> Decimal | None:
        """How many `quote` one `base` buys, cut to 12 decimals half to even; None without a rate in reach."""
        if base == quote:
            return Decimal(1)
        for back in range(REACH_BACK_DAYS + 1):
            source = day - timedelta(days=back)
            from_euro = {"EUR": Decimal(1)} | {q: self._rates[source, q] for q in START if (source, q) in self._rates}
            if base in from_euro and quote in from_euro:
                return (from_euro[quote] / from_euro[base]).quantize(Decimal("1e-12"), ROUND_HALF_EVEN)
        return None

    def convert(self, minor: int, base: str, quote: str, day: date) -> int | None:
        """`minor` units of `base` in minor units of `quote`, rounded half to even; None without a rate."""
        rate = self.rate(day, base, quote)
        if rate is None:
            return None
        exact = (Decimal(minor) * rate).scaleb(DIGITS[quote] - DIGITS[base])
        return int(exact.to_integral_value(ROUND_HALF_EVEN))
