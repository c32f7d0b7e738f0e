"""Fields of request bodies: JSON types are not coerced, text is trimmed and in NFC, a time carries its offset."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from api.db import now
from data_contracts.formats import Refused, email, phone
from data_contracts.values import EARLIEST, clean_text, instant

AHEAD = timedelta(minutes=10)


class Nothing(Schema):
    """No body, or an empty object."""


class NeedsOne(Schema):
    """A change: at least one of its members must be there, and the OpenAPI document says so."""

    @validates_schema
    def _something(self, data: Mapping[str, Any], **_: Any) -> None:
        if not data:
            raise ValidationError(f"at least one of {', '.join(self.fields)} is needed")


class NamesOne(Schema):
    """One thing, named by one of its members: exactly one must be there, and the OpenAPI document says so."""

    @validates_schema
    def _exactly_one(self, data: Mapping[str, Any], **_: Any) -> None:
        if len(data) != 1:
            raise ValidationError(f"exactly one of {', '.join(self.fields)} is needed")


def may_be_left_out(schema: type[Schema] | Schema) -> bool:
    """Whether no body is as good as an empty object: where nothing must be sent."""
    made = schema() if isinstance(schema, type) else schema
    is_change = isinstance(made, (NeedsOne, NamesOne))
    return not is_change and not any(field.required for field in made.fields.values())


class Text(fields.String):
    """Text of `low` to `high` characters after trimming."""

    def __init__(self, high: int, *, low: int = 1, **kwargs: Any) -> None:
        many = f"{high}" if low == high else f"{low} to {high}"
        self._length = validate.Length(low, high, error=f"must have {many} characters")
        super().__init__(validate=self._length, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        try:
            text = clean_text(value)
        except Refused as refused:
            raise ValidationError(str(refused)) from None
        # before anybody looks for the form of an address in a megabyte
        return str(self._length(text))


class Email(Text):
    """An e-mail address, in lower case; nobody is asked whether it exists."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(254, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        return _formatted(email, super()._deserialize(value, attr, data, **kwargs))


class Phone(Text):
    """A phone number in E.164."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(32, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        if not text.startswith("+"):
            raise ValidationError("must be E.164, for example +14155550100")
        return _formatted(phone, text)


class Moment(fields.DateTime):
    """Any RFC 3339 time with its offset; loads in UTC."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> datetime:
        try:
            at = instant(value) if isinstance(value, str) else None
        except Refused as refused:
            raise ValidationError(str(refused)) from None
        if at is None:
            raise ValidationError("not an RFC 3339 time")
        return at.astimezone(UTC)


class Instant(Moment):
    """An RFC 3339 time with its offset, from 2000 to ten minutes ahead of now; loads in UTC."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> datetime:
        at = super()._deserialize(value, attr, data, **kwargs)
        if at < EARLIEST:
            raise ValidationError("before 2000-01-01")
        if at > now() + AHEAD:
            raise ValidationError("more than ten minutes ahead")
        return at


def _formatted(form: Any, text: str) -> str:
    try:
        return str(form(text))
    except Refused as refused:
        raise ValidationError(str(refused)) from None
