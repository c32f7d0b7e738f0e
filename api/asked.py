"""What a request asks for before anybody reads its body: ids in path and query, query names, and its size."""

from __future__ import annotations

import difflib
import uuid
from collections.abc import Collection, Mapping
from typing import Any

import marshmallow as ma
from flask import request

from api import errors
from api.incoming import too_large

EVERYWHERE = frozenset({"profile_id", "workspace_id"})


def query_names(view: Any) -> set[str]:
    """The names of all query parameters that the view's `arguments` decorators declare."""
    names: set[str] = set()
    for parameter in getattr(view, "_apidoc", {}).get("arguments", {}).get("parameters", []):
        if parameter["in"] == "query":
            schema: ma.Schema = parameter["schema"]() if isinstance(parameter["schema"], type) else parameter["schema"]
            names |= {field.data_key or name for name, field in schema.fields.items()}
    return names


def one_of(name: str, path: Mapping[str, str]) -> str | None:
    """The id of this name in the path or the query, in lower case; 400 where the two differ or it is malformed."""
    named = _named(name)
    if name in path and named not in {None, path[name]}:
        raise errors.INVALID_PARAMETER(f"{name} is one in the path and another in the query.")
    return path.get(name, named)


def as_uuid(name: str, value: str) -> str:
    """The UUID in lower case; 400 invalid_parameter for any other text."""
    try:
        given = uuid.UUID(value)
    except ValueError:
        given = None
    if given is None or str(given) != value.lower():
        raise errors.INVALID_PARAMETER(f"{name} is not a UUID.")
    return str(given)


def refuse_names(known: Collection[str]) -> None:
    """400 invalid_parameter for a query name that is not known, with the nearest one that is, or sent twice."""
    for name, values in request.args.lists():
        if name not in known:
            nearest = difflib.get_close_matches(name, sorted(known), n=1)
            hint = f" Did you mean {nearest[0]}?" if nearest else ""
            raise errors.INVALID_PARAMETER(f"{name[:80]} is not a parameter of this route.{hint}")
        if len(values) > 1:
            raise errors.INVALID_PARAMETER(f"{name} is given more than once.")


def refuse_size(most: int, *, sized: bool) -> None:
    """413 payload_too_large for a body of more than `most` bytes; without a length it is found in reading."""
    request.max_content_length = most
    if sized and (request.content_length or 0) > most:
        raise too_large(most)


def _named(name: str) -> str | None:
    values = request.args.getlist(name)
    if len(values) > 1:
        raise errors.INVALID_PARAMETER(f"{name} is given more than once.")
    return as_uuid(name, values[0]) if values else None
