"""Money of several profiles in one currency, at the newest rates of the snapshot that the figures are from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction

from api.money import Unit
from api.reading_across import Across
from data_contracts.formats import currency_digits

_RATES = "select base, rate, rate_date from fx_latest where quote = $quote and base = any($bases)"


@dataclass(frozen=True)
class Conversion:
    """How each profile's money is told, by its key; `as_of` is the day of the oldest rate in use."""

    units: dict[int, Unit]
    as_of: date | None


def into(currency: str, found: Across) -> Conversion:
    """How the money of these profiles is told in `currency`; null, never unconverted, where no rate is known."""
    bases = sorted({one.currency for one in found.profiles} - {currency})
    rates = _rates(found, currency, bases) if bases else {}
    units = {}
    for one in found.profiles:
        rate = Fraction(1) if one.currency == currency else rates[one.currency][0] if one.currency in rates else None
        worth = None if rate is None else rate / 10**one.digits
        units[one.profile_key] = Unit(worth, currency_digits()[currency])
    return Conversion(units, min((day for _, day in rates.values()), default=None))


def _rates(found: Across, quote: str, bases: Sequence[str]) -> dict[str, tuple[Fraction, date]]:
    read: list[tuple[str, Decimal, date]] = found.reader.rows(_RATES, {"quote": quote, "bases": list(bases)})
    return {base: (Fraction(rate), day) for base, rate, day in read}
