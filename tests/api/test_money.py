"""Money leaves as JSON numbers with the currency's decimals; ratios are exact, then rounded once, half to even."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.money import Unit, amount, exact, ratio


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
        (5, 200_000_000, 0.00000002),  # 0.000000025: half, to the even 2 again
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


def test_an_exact_amount_keeps_its_decimals() -> None:
    assert [exact(-1200, 2), exact(5, 3), exact(5000, 0)] == ["-12.00", "0.005", "5000"]


def test_minor_units_of_another_currency_are_worth_what_the_rate_says() -> None:
    # 0.0123 of the other currency for each minor unit, told with two decimals
    unit = Unit(Fraction(123, 10_000), 2)
    assert [unit.amount(minor) for minor in (1, 100, 0, -250, None)] == [0.01, 1.23, 0.0, -3.08, None]
    assert [unit.per(100, count) for count in (7, 1, 0, None)] == [0.17571429, 1.23, None, None]


def test_half_a_unit_of_another_currency_goes_to_the_even_one() -> None:
    unit = Unit(Fraction(1, 200), 2)
    assert [unit.amount(minor) for minor in (1, 3, 5)] == [0.0, 0.02, 0.02]


def test_the_least_amount_that_is_worth_what_was_told() -> None:
    unit = Unit(Fraction(123, 10_000), 2)
    assert [unit.minor(Decimal(told)) for told in ("1.23", "1.24", "0")] == [100, 101, 0]


def test_a_currency_told_as_it_is_has_its_own_decimals() -> None:
    assert Unit.own(2) == Unit(Fraction(1, 100), 2)
    assert [Unit.own(0).amount(12), Unit.own(3).amount(12), Unit.own(2).per(12, 5)] == [12.0, 0.012, 0.024]


def test_without_a_rate_every_amount_is_null() -> None:
    unit = Unit(None, 2)
    assert [unit.amount(1), unit.per(1, 1), unit.minor(Decimal(1))] == [None, None, None]
