"""Strict types of query parameters: everything arrives as text, and nothing is coerced, clamped or ignored."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from marshmallow import ValidationError, fields, validate

from api.bodies import Moment
from data_contracts.normal_form import nfc

LONGEST_ID = 128

_INTEGER = re.compile(r"[0-9]{1,9}")
TOKEN = re.compile(r"[a-z0-9_]{1,40}")
_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,6})?")
_UNESCAPED = re.compile(r"[^ ]+[Tt][^ ]+ [0-9]{2}(:?[0-9]{2})?")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Int(fields.Integer):
    """A whole number of at most nine digits, within a range."""

    def __init__(self, low: int, high: int, **kwargs: Any) -> None:
        super().__init__(validate=validate.Range(low, high, error=f"must be from {low} to {high}"), **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> int:
        if not isinstance(value, str) or not _INTEGER.fullmatch(value):
            raise ValidationError("must be a whole number of at most nine digits")
        return int(value)


class Num(fields.Decimal):
    """A number that is not negative: up to 15 digits, and up to 6 after the point; loads to a Decimal."""

    def __init__(self, metadata: Mapping[str, Any], **kwargs: Any) -> None:
        super().__init__(metadata={"minimum": 0, "exclusiveMaximum": 10**15, **metadata}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if not isinstance(value, str) or not _NUMBER.fullmatch(value):
            raise ValidationError("must be a number such as 12.50, not negative")
        return Decimal(value)


class Time(Moment):
    """An RFC 3339 time with its offset, of which a + that is not escaped arrives as a space; loads in UTC."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> datetime:
        if isinstance(value, str) and _UNESCAPED.fullmatch(value):
            raise ValidationError("has a space before its offset; a + is written %2B in an address")
        return super()._deserialize(value, attr, data, **kwargs)


class Flag(fields.Boolean):
    """`true` or `false`, spelt exactly so."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bool:
        if value not in ("true", "false"):
            raise ValidationError("must be true or false")
        return bool(value == "true")


class Choice(fields.String):
    """One of a few words, spelt exactly."""

    def __init__(self, choices: Iterable[str], **kwargs: Any) -> None:
        listed = tuple(choices)
        super().__init__(validate=validate.OneOf(listed, error=f"must be one of {', '.join(listed)}"), **kwargs)


class OpaqueId(fields.String):
    """An id of somebody else's making: 1 to 128 characters, none of them a control character."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            validate=validate.Length(1, LONGEST_ID, error=f"must have 1 to {LONGEST_ID} characters"), **kwargs
        )

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        return _opaque(value)


class OpaqueIdList(fields.String):
    """Comma-separated ids of somebody else's making, trimmed, duplicates collapsed; loads to a list as sent."""

    def __init__(self, most: int, metadata: Mapping[str, Any], **kwargs: Any) -> None:
        super().__init__(metadata={**metadata, "pattern": f"^[^,]{{1,128}}(,[^,]{{1,128}}){{0,{most - 1}}}$"}, **kwargs)
        self.most = most

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        items = list(dict.fromkeys(map(_opaque, str(value).split(","))))
        if "" in items:
            raise ValidationError("an item is empty")
        if any(len(item) > LONGEST_ID for item in items):
            raise ValidationError(f"an item has more than {LONGEST_ID} characters")
        if len(items) > self.most:
            raise ValidationError(f"holds more than {self.most} ids")
        return items


class UuidList(fields.String):
    """Comma-separated UUIDs in any case, trimmed, duplicates collapsed; loads to lower case in the order sent."""

    def __init__(self, most: int, metadata: Mapping[str, Any], **kwargs: Any) -> None:
        one = _UUID.pattern.replace("a-f", "a-fA-F")
        super().__init__(metadata={**metadata, "pattern": f"^{one}(,{one}){{0,{most - 1}}}$"}, **kwargs)
        self.most = most

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        items = list(dict.fromkeys(map(str.lower, _items(value))))
        if bad := next((item for item in items if not _UUID.fullmatch(item)), None):
            raise ValidationError(f"{bad[:40]} is not a UUID")
        if len(items) > self.most:
            raise ValidationError(f"holds more than {self.most} ids")
        return items


class ChoiceList(fields.String):
    """Comma-separated words of a few, spelt exactly, duplicates collapsed; loads to a list in the order sent."""

    def __init__(self, choices: Iterable[str], metadata: Mapping[str, Any], **kwargs: Any) -> None:
        self.choices = tuple(choices)
        one = f"({'|'.join(self.choices)})"
        super().__init__(metadata={**metadata, "pattern": f"^{one}(,{one})*$"}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        items = _items(value)
        if bad := next((item for item in items if item not in self.choices), None):
            raise ValidationError(f"{bad[:40]} is none of {', '.join(self.choices)}")
        return items


class TokenList(fields.String):
    """Comma-separated words of lower-case letters, digits and underscores; loads to a list in the order sent."""

    def __init__(self, most: int, metadata: Mapping[str, Any], **kwargs: Any) -> None:
        one = TOKEN.pattern
        super().__init__(metadata={**metadata, "pattern": f"^{one}(,{one}){{0,{most - 1}}}$"}, **kwargs)
        self.most = most

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        items = _items(value)
        if any(not TOKEN.fullmatch(item) for item in items):
            raise ValidationError("an item is not 1 to 40 lower-case letters, digits and underscores")
        if len(items) > self.most:
            raise ValidationError(f"holds more than {self.most} items")
        return items


def _items(value: object) -> list[str]:
    items = list(dict.fromkeys(item.strip() for item in str(value).split(",")))
    if "" in items:
        raise ValidationError("an item is empty")
    return items


def _opaque(value: object) -> str:
    text = nfc(str(value)).strip()
    if any(unicodedata.category(sign) == "Cc" for sign in text):
        raise ValidationError("holds a control character")
    return text
