"""What a provider is answered once its delivery is kept, and how the OpenAPI document describes that."""

from __future__ import annotations

from typing import Any

from flask import Response

_RECEIVED: dict[str, Any] = {
    "type": "object",
    "properties": {"received": {"const": True}},
    "required": ["received"],
    "additionalProperties": False,
}


def kept(description: str) -> dict[str, Any]:
    """The described answer 200 of a hook."""
    return {"description": description, "content": {"application/json": {"schema": _RECEIVED}}}


def acknowledged() -> Response:
    """`{"received": true}`, with 200."""
    return Response(b'{"received":true}', mimetype="application/json")
