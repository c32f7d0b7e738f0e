"""Strict members of a JSON body: ids, host names, time zones, currencies, and booleans that are booleans."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from marshmallow import ValidationError, fields, validate

from api.bodies import Text
from data_contracts.formats import Refused, reporting_currency, time_zone

MOST_HOSTS = 50

_LABEL = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
HOST = re.compile(rf"({_LABEL}\.)+{_LABEL}")
LONGEST_HOST = 253
# for descriptions; what follows is judged by the field
HTTPS = "^[Hh][Tt][Tt][Pp][Ss]://"
UUID = "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"


class Flag(fields.Boolean):
    """true or false; 1, "true" and "yes" are neither."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bool:
        if not isinstance(value, bool):
            raise ValidationError("must be true or false")
        return value


class Uuid(fields.String):
    """A UUID with its hyphens, in any case; loads in lower case."""

    def __init__(self, metadata: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(metadata={**(metadata or {}), "format": "uuid", "pattern": f"^{UUID}$"}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = str(super()._deserialize(value, attr, data, **kwargs))
        if not re.fullmatch(UUID, text):
            raise ValidationError("must be a UUID")
        return text.lower()


class Uuids(fields.List[Any]):
    """One to `most` UUIDs; loads in lower case, each once."""

    def __init__(self, most: int, **kwargs: Any) -> None:
        held = validate.Length(1, most, error=f"must hold 1 to {most} ids")
        super().__init__(fields.UUID(), validate=held, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return list(dict.fromkeys(str(one) for one in super()._deserialize(value, attr, data, **kwargs)))


class Whole(fields.Integer):
    """A whole number within a range; true and 1.0 are none."""

    def __init__(self, low: int, high: int, **kwargs: Any) -> None:
        error = f"must be a whole number from {low} to {high}"
        super().__init__(validate=validate.Range(low, high, error=error), strict=True, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValidationError("must be a whole number")
        return value


class Host(fields.String):
    """A host name of at least two labels, in any case; loads to lower case, without a final dot."""

    def __init__(self, metadata: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        form = {"pattern": f"^{HOST.pattern.replace('a-z', 'A-Za-z')}$", "maxLength": LONGEST_HOST}
        super().__init__(metadata={**(metadata or {}), **form}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        host = str(super()._deserialize(value, attr, data, **kwargs)).strip().lower().removesuffix(".")
        if len(host) > LONGEST_HOST or not HOST.fullmatch(host):
            raise ValidationError("must be a host name such as shop.example, without scheme, port or path")
        return host


class HostList(fields.List[str]):
    """Up to fifty hosts; loads sorted, each once, so that the same hosts are always the same list."""

    def __init__(self, **kwargs: Any) -> None:
        most = validate.Length(max=MOST_HOSTS, error=f"holds more than {MOST_HOSTS} hosts")
        super().__init__(Host(), validate=most, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return sorted({str(host) for host in super()._deserialize(value, attr, data, **kwargs)})


class TimeZone(Text):
    """A zone of the IANA database, spelt as there."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(64, metadata={"description": "IANA name, for example Europe/Madrid."}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        return _known(time_zone, super()._deserialize(value, attr, data, **kwargs))


class Currency(Text):
    """A currency to report in: an ISO 4217 code of three capital letters that is still in use."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(3, low=3, metadata={"description": "ISO 4217.", "pattern": "^[A-Z]{3}$"}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        return _known(reporting_currency, super()._deserialize(value, attr, data, **kwargs))


def _known(form: Callable[[str], str], text: str) -> str:
    try:
        return form(text)
    except Refused as refused:
        raise ValidationError(str(refused)) from None
