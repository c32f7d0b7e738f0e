"""The quick way through the check of e-mail addresses decides as the full one does."""

from __future__ import annotations

import pytest
from email_validator import EmailNotValidError, validate_email
from hypothesis import example, given, settings
from hypothesis import strategies as st

from data_contracts.formats import Refused, currency, currency_digits, email, phone, reporting_currency

LOCALS = st.text('aZ9._+-\u00e9 "', min_size=1, max_size=66)
DOMAINS = st.sampled_from(
    [
        "example.com",
        "EXAMPLE.com",
        "a.b.co",
        "example",
        "x.test",
        "b\u00fccher.example",
        "-a.com",
        "a..com",
        "",
        "[1.2.3.4]",
    ]
    + [f"{'a' * 63}.{'b' * 63}.{'c' * size}.com" for size in (56, 57, 58, 63)]
)


def by_the_library(text: str) -> str | None:
    try:
        return validate_email(text, check_deliverability=False).normalized.lower()
    except EmailNotValidError:
        return None


def by_us(text: str) -> str | None:
    try:
        return email(text)
    except Refused:
        return None


@settings(max_examples=500)
@given(st.builds("{}@{}".format, LOCALS, DOMAINS))
@example("a@b@example.com")
@example("no address")
@example(f"{'a' * 64}@{'a' * 63}.{'b' * 63}.{'c' * 57}.com")
def test_an_address_is_judged_as_the_library_judges_it(address: str) -> None:
    assert by_us(address) == by_the_library(address)


@pytest.mark.parametrize(("code", "digits"), [("JPY", 0), ("USD", 2), ("KWD", 3)])
def test_currencies_know_their_decimal_places(code: str, digits: int) -> None:
    assert currency_digits()[code] == digits


def test_an_amount_may_be_in_a_currency_that_is_over_and_a_report_may_not() -> None:
    """A Croatian shop's payments of 2022 were kept out of every count as if kuna had never been money."""
    assert (currency("HRK"), currency_digits()["BYR"]) == ("HRK", 0)
    with pytest.raises(Refused, match="no longer in use"):
        reporting_currency("HRK")
    with pytest.raises(Refused, match="unknown"):
        reporting_currency("XQX")
    assert reporting_currency("EUR") == "EUR"


@pytest.mark.parametrize("written", ["+5215512345678", "+52 1 55 1234 5678", "+52 55 1234 5678"])
def test_a_mobile_number_of_mexico_is_one_with_and_without_the_1_it_had(written: str) -> None:
    assert phone(written) == "+525512345678"


@pytest.mark.parametrize("other", ["+52155123456789", "+5225512345678"])
def test_another_number_that_is_too_long_is_refused(other: str) -> None:
    with pytest.raises(Refused):
        phone(other)


@pytest.mark.parametrize("written", ["+553188887777", "+55 31 98888-7777", "+55 (31) 8888-7777"])
def test_a_mobile_number_of_brazil_is_one_with_and_without_the_9_it_got(written: str) -> None:
    assert phone(written) == "+5531988887777"


# lines that never got one: at home, and trunked radio
@pytest.mark.parametrize("other", ["+553133334444", "+551178887777", "+551132654321"])
def test_a_number_of_brazil_that_has_eight_digits_keeps_them(other: str) -> None:
    assert phone(other) == other
