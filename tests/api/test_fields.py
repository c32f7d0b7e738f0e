"""Query types take exactly their form, and nothing near it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from marshmallow import ValidationError, fields

from api.fields import Choice, Int, OpaqueId, Time, UuidList

ONE = "01900000-0000-7000-8000-0000000000aa"
TWO = "01900000-0000-7000-8000-0000000000bb"


@pytest.mark.parametrize(("text", "value"), [("1", 1), ("007", 7), ("100", 100)])
def test_a_whole_number_is_taken(text: str, value: int) -> None:
    assert Int(1, 100).deserialize(text) == value


@pytest.mark.parametrize(
    "text", ["", "0", "101", "-1", "+1", "1.0", " 1", "1 ", "1e2", "0x1", "1_0", "٣", "1\n", "1234567890"]
)
def test_what_is_not_a_whole_number_in_range_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        Int(1, 100).deserialize(text)


@pytest.mark.parametrize("text", ["2026-03-01T11:30:00.5+01:30", "2026-03-01 10:00:00.500Z", "2026-03-01t10:00:00.5z"])
def test_a_time_is_taken_with_its_offset(text: str) -> None:
    assert Time().deserialize(text) == datetime(2026, 3, 1, 10, microsecond=500_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2026-03-01T00:00:00 01:00", "a \\+ is written %2B"),
        ("2026-03-01t00:00:00 01:00", "a \\+ is written %2B"),
        ("2026-03-01T00:00:00 01", "a \\+ is written %2B"),
        ("2026-03-01 00:00", "needs its offset"),
        ("2026-03-01", "like 2026-01-31T09:30:00"),
        ("2026-02-30T00:00:00Z", "not a time that exists"),
        ("", "like 2026-01-31T09:30:00"),
    ],
)
def test_what_is_no_time_is_told_what_is_expected(text: str, told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        Time().deserialize(text)


@pytest.mark.parametrize("text", ["", "AD", " ad", "ad,ad", "camp"])
def test_a_choice_is_spelt_exactly(text: str) -> None:
    assert Choice(["ad", "campaign"]).deserialize("ad") == "ad"
    with pytest.raises(ValidationError, match="ad, campaign"):
        Choice(["ad", "campaign"]).deserialize(text)


def test_ids_come_in_lower_case_in_the_order_sent_and_once() -> None:
    assert UuidList(2, {}).deserialize(f"{TWO.upper()} , {ONE},{TWO}") == [TWO, ONE]


@pytest.mark.parametrize(
    "text", ["", ",", f"{ONE},", f"{ONE},,{TWO}", ONE[:-1], ONE + "0", f"{{{ONE}}}", ONE.replace("-", "")]
)
def test_a_list_with_one_bad_id_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        UuidList(10, {}).deserialize(text)


def test_a_list_holds_no_more_than_its_most() -> None:
    with pytest.raises(ValidationError, match="more than 1"):
        UuidList(1, {}).deserialize(f"{ONE},{TWO}")


@pytest.mark.parametrize("text", ["", "   ", "x" * 129, "a\x00b", "a\nb"])
def test_an_opaque_id_has_1_to_128_printable_characters(text: str) -> None:
    assert OpaqueId().deserialize(" 120210000:é ") == "120210000:é"
    with pytest.raises(ValidationError):
        OpaqueId().deserialize(text)


@pytest.mark.parametrize("field", [Int(1, 9), UuidList(2, {}), OpaqueId(), Choice(["a"])])
def test_an_absent_parameter_is_its_default(field: fields.Field[object]) -> None:
    field.load_default = "the default"
    assert field.deserialize(fields.missing_) == "the default"
