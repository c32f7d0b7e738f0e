"""The last line of a money figure: minor units become JSON numbers, or exact strings, here and nowhere earlier."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from data_contracts.formats import currency_digits

RATIO_DECIMALS = 8
_SCALE: int = 10**RATIO_DECIMALS


def amount(minor: int, digits: int) -> float:
    """Minor units of a currency with that many decimals (ISO 4217), as the JSON number a reader expects."""
    # Python divides integers of any size to the nearest float
    return float(minor / 10**digits)


def exact(minor: int, digits: int) -> str:
    """The same in a string, always with the currency's decimals: `-1200` of a currency with two is `-12.00`."""
    return f"{Decimal(minor).scaleb(-digits):f}"


def in_currency(value: Decimal, currency: str) -> str:
    """An exact amount in a string, with the digits that ISO 4217 gives the currency; as it is where it gives none."""
    digits = currency_digits().get(currency)
    return f"{value:f}" if digits is None else f"{value:.{digits}f}"


def ratio(numerator: int, denominator: int) -> float | None:
    """Exact quotient rounded once, half to even, to 8 decimals; null when the denominator is 0."""
    if denominator == 0:
        return None
    sign = 1 if denominator > 0 else -1
    whole, rest = divmod(sign * numerator * _SCALE, abs(denominator))
    if 2 * rest > abs(denominator) or (2 * rest == abs(denominator) and whole % 2):
        whole += 1
    return whole / _SCALE


@dataclass(frozen=True)
class Unit:
    """How minor units of one currency are told in another: `worth` of one of them there, which has `digits` decimals.

    Without a rate `worth` is None, and every amount is null.
    """

    worth: Fraction | None
    digits: int

    @classmethod
    def own(cls, digits: int) -> Unit:
        """Of a currency that is told as it is."""
        return cls(Fraction(1, 10**digits), digits)

    def amount(self, minor: int | None) -> float | None:
        """An amount, rounded once, half to even, to the decimals of the currency it is told in."""
        if self.worth is None or minor is None:
            return None
        return float(round(minor * self.worth, self.digits))

    def per(self, minor: int, count: int | None) -> float | None:
        """An amount for one of `count`, to 8 decimals; null when there is none."""
        if self.worth is None or not count:
            return None
        return float(round(minor * self.worth / count, RATIO_DECIMALS))

    def minor(self, told: Decimal) -> int | None:
        """The least amount in minor units that is worth at least `told`; None without a rate."""
        return None if self.worth is None else math.ceil(Fraction(told) / self.worth)
