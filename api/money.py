"""The last line of a money figure: minor units become JSON numbers, or exact strings, here and nowhere earlier."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from data_contracts.formats import currency_digits

RATIO_DECIMALS = 8


def amount(minor: int, digits: int) -> float:
    """Minor units of a currency with that many decimals (ISO 4217), as the JSON number a reader expects."""
    return float(Decimal(minor).scaleb(-digits))


def exact(minor: int, digits: int) -> str:
    """The same in a string, always with the currency's decimals: `-1200` of a currency with two is `-12.00`."""
    return f"{Decimal(minor).scaleb(-digits):f}"


def in_currency(value: Decimal, currency: str) -> str:
    """An exact amount in a string, with the digits that ISO 4217 gives the currency."""
    return f"{value:.{currency_digits()[currency]}f}"


def ratio(numerator: int, denominator: int) -> float | None:
    """Exact quotient rounded once, half to even, to 8 decimals; null when the denominator is 0."""
    if denominator == 0:
        return None
    return float(round(Fraction(numerator, denominator), RATIO_DECIMALS))
