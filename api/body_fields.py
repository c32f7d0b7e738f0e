"""Strict members of a JSON body: host names, and booleans that are booleans."""

from __future__ import annotations

import re
from typing import Any

from marshmallow import ValidationError, fields, validate

MOST_HOSTS = 50

_LABEL = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
HOST = re.compile(rf"({_LABEL}\.)+{_LABEL}")
LONGEST_HOST = 253


class Flag(fields.Boolean):
    """true or false; 1, "true" and "yes" are neither."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bool:
        if not isinstance(value, bool):
            raise ValidationError("must be true or false")
        return value


class Host(fields.String):
    """A host name of at least two labels, in any case; loads to lower case, without a final dot."""

    def __init__(self, **kwargs: Any) -> None:
        shape = HOST.pattern.replace("a-z", "A-Za-z")
        super().__init__(metadata={"pattern": f"^{shape}$", "maxLength": LONGEST_HOST}, **kwargs)

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
