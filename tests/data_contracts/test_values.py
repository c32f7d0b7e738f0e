"""What each kind of column accepts, and what it is told when it does not."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from data_contracts.values import clean_text
from tests.data_contracts.records import GOOD, NOW, judged, record, refusal, row


@pytest.mark.parametrize("dataset", sorted(GOOD))
def test_the_good_record_of_each_set_is_accepted(dataset: str) -> None:
    assert judged(dataset, record(dataset)).rejected == []


@pytest.mark.parametrize(
    "given",
    [
        "2026-11-01T11:30:00+01:30",
        "2026-11-01 10:00:00Z",
        "2026-11-01T10:00Z",
        "2026-11-01T10:00:00.000000000+0000",
        # as PostgreSQL and DuckDB write them
        "2026-11-01 11:00:00+01",
        "2026-11-01 05:00:00.000-05",
        # as RFC 3339 allows
        "2026-11-01t10:00:00z",
        "2026-11-01t05:00:00.0-05:00",
        datetime(2026, 11, 1, 10, tzinfo=UTC),
        datetime(2026, 11, 1, 5, tzinfo=timezone(timedelta(hours=-5))),
    ],
)
def test_a_timestamp_becomes_the_instant_in_utc(given: Any) -> None:
    assert row("touches", occurred_at=given)["occurred_at"] == datetime(2026, 11, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("2026-11-01T10:00:00", "a timestamp needs its offset from UTC"),
        (datetime.fromisoformat("2026-11-01T00:00:00"), "a timestamp needs its offset from UTC"),
        ("yesterday", "not an ISO 8601 timestamp like 2026-01-31T09:30:00+01:00"),
        ("2026-11-01", "not an ISO 8601 timestamp like 2026-01-31T09:30:00+01:00"),
        (1_790_000_000, "not an ISO 8601 timestamp like 2026-01-31T09:30:00+01:00"),
        ("2026-02-30T10:00:00Z", "not a time that exists"),
        ("0001-01-01T00:00:00+14:00", "not a time that exists"),
        # no month ends with it
        ("2026-11-16T10:00:60Z", "not a time that exists"),
        ("2026-10-30T23:59:60Z", "not a time that exists"),
        ("2026-10-31T23:59:61Z", "not a time that exists"),
        ("2026-11-01T10:00+60:00", "not a time that exists"),
        ("9999-12-31T23:59:60Z", "not a time that exists"),
        (datetime.fromisoformat("0001-01-01T00:00:00+14:00"), "not a time that exists"),
        ("1999-12-31T23:59:59Z", "before 2000-01-01"),
        ("2026-11-17T12:00:01Z", "more than one day ahead"),
        ("", "missing"),
        (None, "missing"),
    ],
)
def test_a_wrong_timestamp_is_refused(given: Any, reason: str) -> None:
    assert refusal("touches", occurred_at=given) == ("occurred_at", reason)


@pytest.mark.parametrize("given", ["2016-12-31T23:59:60Z", "2017-01-01t00:59:60.250+01:00", "2016-12-31 15:59:60-08"])
def test_a_leap_second_is_the_second_after_it(given: str) -> None:
    # RFC 3339 allows it; each row of such a second was refused as a time that does not exist
    at = row("touches", occurred_at=given)["occurred_at"]
    assert at.replace(microsecond=0) == datetime(2017, 1, 1, tzinfo=UTC)


def test_one_day_ahead_is_still_a_time() -> None:
    assert row("touches", occurred_at=NOW + timedelta(days=1))
    assert row("ad_delivery", date="2026-11-17")["date"] == date(2026, 11, 17)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("2026-11-18", "more than one day ahead"),
        ("1999-12-31", "before 2000-01-01"),
        ("01.11.2026", "not a date like 2026-01-31"),
        ("2026-11-31", "not a day that exists"),
        (datetime(2026, 11, 1, tzinfo=UTC), "expected a date, not a timestamp"),
        (20261101, "not a date like 2026-01-31"),
    ],
)
def test_a_wrong_date_is_refused(given: Any, reason: str) -> None:
    assert refusal("ad_delivery", date=given) == ("date", reason)


def test_a_study_may_be_planned() -> None:
    assert row("experiments", end_date="2027-01-31")["end_date"] == date(2027, 1, 31)


def test_the_first_second_of_2000_is_the_earliest() -> None:
    first = datetime(2000, 1, 1, tzinfo=UTC)
    assert row("touches", occurred_at="2000-01-01T00:00:00Z")["occurred_at"] == first


def test_a_decimal_without_decimals_is_a_plain_number() -> None:
    assert row("conversions", value=Decimal(5))["value"] == Decimal(5)


@pytest.mark.parametrize("given", ["12.5", "12.50", 12.5, Decimal("12.5"), "012.5000"])
def test_a_decimal_is_exact(given: Any) -> None:
    value = row("conversions", value=given)["value"]
    assert value == Decimal("12.5")
    assert str(value) == "12.5000"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("1e3", "not a plain decimal number like 1234.50"),
        (Decimal("1E+3"), "not a plain decimal number like 1234.50"),
        ("1,5", "not a plain decimal number like 1234.50"),
        ("+1", "not a plain decimal number like 1234.50"),
        ("12.", "not a plain decimal number like 1234.50"),
        ("\u0661\u0662", "not a plain decimal number like 1234.50"),
        ("NaN", "not a plain decimal number like 1234.50"),
        (float("nan"), "not a finite number"),
        (float("inf"), "not a finite number"),
        (Decimal("NaN"), "not a finite number"),
        (1e308, "more than 14 digits before the point"),
        ("100000000000000", "more than 14 digits before the point"),
        ("1.23456", "more than 4 decimals"),
        (True, "not a plain decimal number like 1234.50"),
        ("-0.01", "negative"),
    ],
)
def test_a_wrong_amount_is_refused(given: Any, reason: str) -> None:
    assert refusal("conversions", value=given) == ("value", reason)


@pytest.mark.parametrize("given", [99_999_999_999_999.99, 12_345_678_901_234.56, 999_999_999_999.1234])
def test_money_of_more_digits_than_a_float_keeps_is_given_as_text(given: float) -> None:
    reason = "a floating-point number of more than 15 digits; give it as text or as a decimal"
    assert refusal("conversions", value=given) == ("value", reason)
    for exact in (f"{given:.2f}", Decimal(f"{given:.2f}")):
        assert row("conversions", value=exact)["value"] == Decimal(f"{given:.2f}")


@pytest.mark.parametrize("given", [99_999_999_999.9999, 9_999_999_999_999.25, 90_000_000_000_000.0])
def test_money_of_15_digits_may_be_a_float(given: float) -> None:
    assert row("conversions", value=given)["value"] == Decimal(repr(given))


def test_a_rate_has_ten_decimals_and_is_above_zero() -> None:
    assert row("fx_rates")["rate"] == Decimal("1.0845123456")
    assert refusal("fx_rates", rate="0") == ("rate", "not above 0")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("1.0", "not a whole number"),
        (1.0, "not a whole number"),
        (True, "not a whole number"),
        ("-1", "negative"),
        (2**63, "too large for a whole number"),
        ("9" * 5000, "not a whole number"),
    ],
)
def test_a_wrong_count_is_refused(given: Any, reason: str) -> None:
    assert refusal("ad_delivery", clicks=given) == ("clicks", reason)


@pytest.mark.parametrize("given", ["100", 100, Decimal(100), Decimal("1E+2").quantize(Decimal(1))])
def test_a_count_may_be_a_decimal_without_decimals(given: Any) -> None:
    assert row("ad_delivery", clicks=given)["clicks"] == 100


@pytest.mark.parametrize("given", [Decimal("100.00"), Decimal("1E+2"), Decimal("NaN"), Decimal("Infinity")])
def test_any_other_decimal_is_no_count(given: Any) -> None:
    assert refusal("ad_delivery", clicks=given) == ("clicks", "not a whole number")


def test_a_sequence_starts_at_one() -> None:
    assert refusal("recurring_payments", sequence_no=0) == ("sequence_no", "below 1")


@pytest.mark.parametrize(("given", "expected"), [("true", True), ("false", False), (True, True), ("", None)])
def test_a_boolean_is_true_or_false(given: Any, expected: bool | None) -> None:
    assert row("touches", consent_marketing=given)["consent_marketing"] is expected


@pytest.mark.parametrize("given", ["TRUE", "1", 1, "yes"])
def test_other_spellings_of_a_boolean_are_refused(given: Any) -> None:
    assert refusal("touches", consent_marketing=given) == ("consent_marketing", "not true or false")


def test_text_is_trimmed_and_normalised() -> None:
    assert row("touches", person_key="  Zoe\u0308 ")["person_key"] == "Zo\u00eb"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("a\0b", "contains a NUL character"),
        ("a\ud800", "contains half of a surrogate pair"),
        ("x" * 129, "longer than 128 characters"),
        ("x" * 1_000_000, "longer than 128 characters"),
        (5, "expected text, not a number"),
        (b"t1", "expected text, not binary data"),
        (float("nan"), "expected text, not a number"),
        ({"a": 1}, "expected text, not an object"),
        ("   ", "missing"),
    ],
)
def test_wrong_text_is_refused(given: Any, reason: str) -> None:
    assert refusal("touches", touch_key=given) == ("touch_key", reason)


def test_a_value_outside_its_list_is_refused_and_the_list_is_told() -> None:
    assert refusal("touches", channel="tv") == ("channel", "not one of chatapp, social, pagechat, web, other")
    field, reason = refusal("conversions", conversion_type="demo_watched")
    assert field == "conversion_type"
    assert reason.startswith("not one of appointment_attended")


@pytest.mark.parametrize("reference", ["pi_1", "Stripe:pi_1", ":x", "stripe:"])
def test_a_payment_reference_names_its_provider(reference: str) -> None:
    assert refusal("conversions", payment_ref=reference)[0] == "payment_ref"


def test_a_platform_is_a_slug() -> None:
    assert refusal("touches", ad_platform="Meta Ads")[0] == "ad_platform"


def test_an_email_is_lower_cased_and_checked() -> None:
    assert row("touches", email="Ada.Lovelace@Example.COM")["email"] == "ada.lovelace@example.com"
    assert refusal("touches", email="ada@") == ("email", "not an e-mail address")


def test_a_phone_becomes_e164() -> None:
    assert row("touches", phone="+1 (415) 555-0100")["phone"] == "+14155550100"
    assert refusal("touches", phone="415 555 0100") == ("phone", "not a phone number with its country code")
    assert refusal("touches", phone="+1 415") == ("phone", "not a possible phone number")


def test_a_currency_is_one_of_iso_4217() -> None:
    assert refusal("conversions", currency="BTC") == ("currency", "unknown currency")
    assert refusal("conversions", currency="usd") == ("currency", "unknown currency; did you mean USD?")


def test_a_time_zone_is_one_of_iana() -> None:
    for zone in ("Madrid", "localtime", "Factory", "posixrules"):
        assert refusal("ad_accounts", timezone=zone) == ("timezone", "unknown time zone")


def test_a_country_has_two_capital_letters() -> None:
    assert row("touches", country="ES")["country"] == "ES"
    assert refusal("touches", country="Spain")[0] == "country"


@pytest.mark.parametrize("given", [["a", "b"], '["a", "b"]', ("a", "b")])
def test_a_list_is_kept_as_json_text(given: Any) -> None:
    assert row("creatives", offers=given)["offers"] == '["a","b"]'


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("a;b", "not a JSON list"),
        ('{"a": 1}', "not a list"),
        ([1], "expected text, not a number"),
        ("[" * 100_000, "not a JSON list"),
        (["x" * 70_000], "longer than 65536 characters"),
    ],
)
def test_a_wrong_list_is_refused(given: Any, reason: str) -> None:
    assert refusal("creatives", offers=given) == ("offers", reason)


def test_options_are_names_with_values() -> None:
    assert row("variants", options=[{"name": "Size", "value": "M"}])["options"] == '[{"name":"Size","value":"M"}]'
    twice = '[{"name": "Size", "name": "Colour", "value": "M"}]'
    assert refusal("variants", options=twice) == ("options", "not a JSON list")
    assert refusal("variants", options=[{"name": "Size"}]) == ("options", "each element needs name and value")


@pytest.mark.parametrize("blank", ["\u200b", "\ufeff", " \u2060\u200e ", "\u3164\u00ad"])
def test_a_text_of_which_nothing_shows_is_none(blank: str) -> None:
    """Such names were accepted, and stood as empty cells in lists that nobody could pick them from."""
    assert clean_text(blank) == ""
    assert refusal("touches", touch_key=blank) == ("touch_key", "missing")


@pytest.mark.parametrize(
    "text", ["\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "a\u200bb", "\U0001f469\u200d\U0001f680"]
)
def test_what_takes_no_place_stays_within_a_text_that_shows(text: str) -> None:
    assert clean_text(text) == text
