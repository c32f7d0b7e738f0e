"""Figures of ad platforms: read with care, and as exact as the contracts keep them."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation

from connectors.errors import Malformed

# what the contracts keep of an amount and of a claim; platforms that split a sale over ads write more decimals
KEPT = Decimal("0.0001")
LONGEST_FIGURE = 20
_WHOLE = (
    "BIF", "BYR", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV", "XAF",
    "XOF", "XPF",
)  # fmt: skip
_DIGITS = {
    **dict.fromkeys(_WHOLE, 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
    **dict.fromkeys(("CLF", "UYW"), 4),
}


def number(provider: str, text: object) -> Decimal:
    """A figure as a platform writes it. Raises Malformed unless it is a finite number of a sane size."""
    try:
        value = Decimal(str(text))
    except InvalidOperation:
        raise Malformed(provider, "a figure that is not a number") from None
    # an exponent is never a platform's, and making an integer of a huge one would take all memory
    if not value.is_finite() or abs(value.adjusted()) > LONGEST_FIGURE:
        raise Malformed(provider, "a figure that is not a number")
    return value


def kept(value: Decimal) -> Decimal:
    """An amount or claim to its fourth decimal, half to even: one more would be refused with its whole row."""
    return value.quantize(KEPT, ROUND_HALF_EVEN)


def digits(currency: str) -> int:
    """Decimal places of a currency's minor unit (ISO 4217): two, of most."""
    return _DIGITS.get(currency, 2)
