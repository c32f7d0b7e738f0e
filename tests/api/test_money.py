"""Money leaves as JSON numbers with the currency's decimals; ratios are exact, then rounded once, half to even."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.money import amount, ratio


@pytest.mark.parametrize(
    ("minor", "digits", "text"),
    [
        (15033, 2, "150.33"),
        (1, 2, "0.01"),
        (-1200, 2, "-12.0"),
        (5000, 0, "5000.0"),
        (1234567, 3, "1234.567"),
        (0, 2, "0.0"),
    ],
)
def test_an_amount_is_written_with_its_own_decimals(minor: int, digits: int, text: str) -> None:
    assert orjson.dumps(amount(minor, digits)).decode() == text


@given(st.integers(-(10**15), 10**15), st.sampled_from([0, 2, 3]))
def test_an_amount_read_back_is_the_same_minor_units(minor: int, digits: int) -> None:
    written = orjson.dumps(amount(minor, digits)).decode()
    assert Decimal(written) == Decimal(minor).scaleb(-digits)


def test_a_ratio_over_nothing_is_null() -> None:
    assert ratio(0, 0) is None
    assert ratio(5, 0) is None
    assert ratio(0, 5) == 0


@pytest.mark.parametrize(
    ("over", "under", "rounded"),
    [
        (1, 200_000_000, 0.0),  # 0.000000005: half, to the even 0
        (3, 200_000_000, 0.00000002),  # 0.000000015: half, to the even 2
        (2, 3, 0.66666667),
        (15033, 3050, 4.92885246),
    ],
)
def test_a_ratio_is_rounded_half_to_even_at_the_eighth_decimal(over: int, under: int, rounded: float) -> None:
    assert ratio(over, under) == rounded


@given(st.integers(0, 10**12), st.integers(1, 10**9))
def test_a_ratio_is_within_half_a_unit_of_the_exact_quotient(over: int, under: int) -> None:
    found = ratio(over, under)
    assert found is not None
    # the float itself adds at most one part in 2**52
    allowed = Fraction(1, 2 * 10**8) + Fraction(over, under) / 2**52
    assert abs(Fraction(found) - Fraction(over, under)) <= allowed


@given(st.integers(-(10**15), 10**15), st.integers(-(10**12), 10**12).filter(bool))
def test_a_ratio_is_the_exact_quotient_rounded(over: int, under: int) -> None:
    assert ratio(over, under) == float(round(Fraction(over, under), 8))
