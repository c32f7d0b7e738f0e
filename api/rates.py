"""Money of several profiles in one currency, at the newest rates of the snapshot that the figures are from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction

from api.money import Unit
from api.served import Reader
from data_contracts.formats import currency_digits

_RATES = "select base, rate, rate_date from fx_latest where quote = $quote and base = any($bases)"


@dataclass(frozen=True)
class Conversion:
    """How money of each currency is told in one of them; `as_of` is the day of the oldest rate in use."""

    units: dict[str, Unit]
    as_of: date | None


def into(currency: str, reader: Reader | None, bases: Iterable[str]) -> Conversion:
    """How money of these currencies is told in `currency`; null, never unconverted, where no rate is known."""
    digits = currency_digits()
    others = sorted(set(bases) - {currency})
    rates = _rates(reader, currency, others) if reader and others else {}
    units = {currency: Unit.own(digits[currency])}
    for base in others:
        worth = rates[base][0] / 10 ** digits[base] if base in rates else None
        units[base] = Unit(worth, digits[currency])
    return Conversion(units, min((day for _, day in rates.values()), default=None))


def _rates(reader: Reader, quote: str, bases: Sequence[str]) -> dict[str, tuple[Fraction, date]]:
    read: list[tuple[str, Decimal, date]] = reader.rows(_RATES, {"quote": quote, "bases": list(bases)})
    return {base: (Fraction(rate), day) for base, rate, day in read}
