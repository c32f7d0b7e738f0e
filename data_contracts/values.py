"""Values: what each kind of column accepts, the same for CSV text, JSON, Parquet and Python values.

A parser takes one value that is not null and gives the typed value, or raises Refused with the reason.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from data_contracts import instants
from data_contracts.contract import Column
from data_contracts.formats import FORMATS, Refused, identifier
from data_contracts.normal_form import nfc
from data_contracts.records import members

Parser = Callable[[Any], Any]

EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
AHEAD = timedelta(days=1)
LARGEST = 2**63 - 1
LONGEST = 65_536
DEEPEST = 5

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_INTEGER = re.compile(r"-?\d{1,19}", re.ASCII)
_DECIMAL = re.compile(r"-?\d{1,30}(?:\.\d{1,30})?", re.ASCII)
# what takes no place on a page: white space, joiners, marks of direction, fillers
_INVISIBLE = re.compile("\\A[\\s\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff]+\\Z")
_SURROGATE = re.compile("[\ud800-\udfff]")


def unwritable(text: str) -> str | None:
    """What a text holds that no database takes: NUL or half of a surrogate pair; None for a good one."""
    if "\0" in text:
        return "contains a NUL character"
    return "contains half of a surrogate pair" if not text.isascii() and _SURROGATE.search(text) else None


def clean_text(value: Any) -> str:
    """Text trimmed and in NFC, empty where nothing of it shows; refuses other types, NUL and lone surrogates."""
    if not isinstance(value, str):
        raise Refused(f"expected text, not {_kind_of(value)}")
    problem = unwritable(value)
    if problem is not None:
        raise Refused(problem)
    return value.strip() if value.isascii() else _INVISIBLE.sub("", nfc(value)).strip()


def _written(value: Any, expected: str) -> str:
    if not isinstance(value, str):
        raise Refused(expected)
    return clean_text(value)


def _kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float, Decimal)):
        return "a number"
    if isinstance(value, (datetime, date)):
        return "a date"
    if isinstance(value, bytes):
        return "binary data"
    return "a list" if isinstance(value, (list, tuple)) else "an object"


def _text(column: Column) -> Parser:
    longest = column.max_length or LONGEST
    pattern = re.compile(column.pattern, re.ASCII).fullmatch if column.pattern else None
    allowed, shape = frozenset(column.allowed), FORMATS.get(column.format or "", identifier if column.is_id else None)

    def parse(value: Any) -> str | None:
        text = clean_text(value)
        if not text:
            return None
        if len(text) > longest:
            raise Refused(f"longer than {longest} characters")
        if allowed and text not in allowed:
            raise Refused(f"not one of {', '.join(column.allowed)}")
        if pattern and not pattern(text):
            raise Refused(f"does not match {column.pattern}")
        return shape(text) if shape else text

    return parse


def _is_blank(value: Any) -> bool:
    return type(value) is str and (not value or value.isspace())


def _within(value: Any, earliest: Any, latest: Any) -> None:
    if value < earliest:
        raise Refused("before 2000-01-01")
    if value > latest:
        raise Refused("more than one day ahead")


def instant(value: Any) -> datetime:
    """A time in UTC from a datetime or ISO 8601 text; refuses times without their offset from UTC.

    A leap second (`23:59:60` at the end of a month, in UTC) is the second after it.
    """
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise Refused("a timestamp needs its offset from UTC")
        return instants.in_utc(value)
    return instants.parsed(_written(value, instants.EXPECTED))


def _timestamp(column: Column, now: datetime) -> Parser:
    latest = now + AHEAD

    def parse(value: Any) -> datetime | None:
        if _is_blank(value):
            return None
        at = instant(value)
        if not column.unbounded:
            _within(at, EARLIEST, latest)
        return at

    return parse


def _day(value: Any) -> date:
    if isinstance(value, datetime):
        raise Refused("expected a date, not a timestamp")
    if isinstance(value, date):
        return value
    text = _written(value, "not a date like 2026-01-31")
    if not _DATE.fullmatch(text):
        raise Refused("not a date like 2026-01-31")
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise Refused("not a day that exists") from None


def _date(column: Column, now: datetime) -> Parser:
    earliest, latest = EARLIEST.date(), (now + AHEAD).date()

    def parse(value: Any) -> date | None:
        if _is_blank(value):
            return None
        day = _day(value)
        if not column.unbounded:
            _within(day, earliest, latest)
        return day

    return parse


def _bounded(column: Column, number: Any) -> Any:
    if column.minimum is not None and number < column.minimum:
        raise Refused("negative" if column.minimum == 0 else f"below {column.minimum}")
    if column.above is not None and number <= column.above:
        raise Refused(f"not above {column.above}")
    if column.maximum is not None and number > column.maximum:
        raise Refused(f"above {column.maximum}")
    return number


def _whole(value: Any) -> int | None:
    if type(value) is int:
        return value
    if isinstance(value, Decimal) and value.as_tuple().exponent == 0:
        # Snowflake unloads whole numbers into Parquet as decimals of scale 0
        return int(value)
    text = _written(value, "not a whole number")
    if not text:
        return None
    if not _INTEGER.fullmatch(text):
        raise Refused("not a whole number")
    return int(text)


def _integer(column: Column) -> Parser:
    def parse(value: Any) -> int | None:
        number = _whole(value)
        if number is None:
            return None
        if not -LARGEST <= number <= LARGEST:
            raise Refused("too large for a whole number")
        return int(_bounded(column, number))

    return parse


def _exact(value: Any) -> Decimal | None:
    if type(value) is int:
        return Decimal(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise Refused("not a finite number")
        return Decimal(format(Decimal(repr(value)), "f"))
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise Refused("not a finite number")
        if (value.as_tuple().exponent or 0) > 0:  # type: ignore[operator]
            raise Refused("not a plain decimal number like 1234.50")
        return value
    text = _written(value, "not a plain decimal number like 1234.50")
    if not text:
        return None
    if not _DECIMAL.fullmatch(text):
        raise Refused("not a plain decimal number like 1234.50")
    return Decimal(text)


def _decimal(column: Column) -> Parser:
    unit, whole_digits = Decimal(1).scaleb(-column.scale), column.precision - column.scale
    ceiling = Decimal(10) ** whole_digits

    def parse(value: Any) -> Decimal | None:
        number = _exact(value)
        if number is None:
            return None
        if abs(number) >= ceiling:
            raise Refused(f"more than {whole_digits} digits before the point")
        scaled = number.quantize(unit)
        if scaled != number:
            raise Refused(f"more than {column.scale} decimals")
        if column.currency_column and isinstance(value, float) and len(number.as_tuple().digits) > sys.float_info.dig:
            # 99999999999999.99 is read as 99999999999999.98: where a cent is lost nobody sees it any more
            raise Refused(
                f"a floating-point number of more than {sys.float_info.dig} digits; give it as text or as a decimal"
            )
        return Decimal(_bounded(column, scaled))

    return parse


def _boolean(_column: Column) -> Parser:
    def parse(value: Any) -> bool | None:
        if isinstance(value, bool):
            return value
        text = _written(value, "not true or false")
        if text in ("true", "false"):
            return text == "true"
        if text:
            raise Refused("not true or false")
        return None

    return parse


def _element(column: Column, item: Any) -> Any:
    if column.items == "object":
        if not isinstance(item, dict) or not {"name", "value"} == item.keys():
            raise Refused("each element needs name and value")
        return {part: clean_text(item[part]) for part in ("name", "value")}
    return clean_text(item)


def _list(column: Column) -> Parser:
    def parse(value: Any) -> str | None:
        if isinstance(value, str):
            text = clean_text(value)
            if not text:
                return None
            try:
                value = json.loads(text, object_pairs_hook=members)
            except (ValueError, RecursionError):
                raise Refused("not a JSON list") from None
        if not isinstance(value, (list, tuple)):
            raise Refused("not a list")
        text = json.dumps([_element(column, item) for item in value], ensure_ascii=False, separators=(",", ":"))
        if len(text) > LONGEST:
            raise Refused(f"longer than {LONGEST} characters")
        return text

    return parse


def parser(column: Column, now: datetime) -> Parser:
    """The parser of a column; `now` decides what lies more than one day ahead."""
    if column.kind in ("timestamp", "date"):
        return (_timestamp if column.kind == "timestamp" else _date)(column, now)
    kinds = {"text": _text, "integer": _integer, "decimal": _decimal, "boolean": _boolean, "list": _list}
    return kinds[column.kind](column)
