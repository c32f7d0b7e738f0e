"""The machine-readable description: envelopes, errors, and the security of each operation from its guard."""

from __future__ import annotations

from functools import lru_cache
from http import HTTPStatus
from typing import Any

import marshmallow as ma
from marshmallow import fields

from api.auth import Kind
from api.guard import Guard

PREFIX = "/api/v1"
REFUSALS = (400, 401, 403, 404, 429, 500, 503)
SCHEMES = {
    Kind.API_KEY: "apiKey",
    Kind.USER_TOKEN: "userToken",
    Kind.SESSION: "session",
    Kind.APP: "app",
}


class ErrorBody(ma.Schema):
    """The `error` member of every refusal."""

    code = fields.String(required=True, metadata={"description": "Branch on this."})
    message = fields.String(required=True, metadata={"description": "For people; may change."})
    status = fields.Integer(required=True, metadata={"description": "The HTTP status."})
    request_id = fields.String(required=True, metadata={"pattern": "^req_[0-9a-f]{32}$"})
    docs_url = fields.Url(required=True, metadata={"description": "The code's entry on the errors page."})
    reason = fields.String(metadata={"description": "Stable refinement inside a shared code."})
    required_scopes = fields.List(fields.String(), metadata={"description": "On insufficient_scope."})


class ErrorEnvelope(ma.Schema):
    """Every refusal: `{"error": {...}}`."""

    error = fields.Nested(ErrorBody, required=True)


class Meta(ma.Schema):
    """Members present on every profile route; routes add their own."""

    profile_id = fields.UUID(metadata={"description": "The profile the answer is about."})


def envelope_of(schema: ma.Schema | None) -> Any:
    """The documented `{data, meta}` around a row schema."""
    if schema is None:
        return None
    return _envelope(type(schema), bool(schema.many))


@lru_cache(maxsize=512)
def _envelope(schema: type[ma.Schema], many: bool) -> type[ma.Schema]:
    # cached: the same pair must give the same class, or the document grows …Envelope1, …Envelope2
    name = f"{schema.__name__}{'List' if many else ''}Envelope"
    members = {
        "data": fields.Nested(schema, many=many, required=True),
        "meta": fields.Nested(Meta, required=True),
    }
    return type(name, (ma.Schema,), members)


def describe_guard(doc: dict[str, Any], doc_info: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Give an operation its security and its refusals; called by flask-smorest for every operation."""
    guard: Guard = doc_info["guard"]
    if guard.is_public:
        return {**doc, "security": []}
    refusals = {status: HTTPStatus(status).name for status in REFUSALS}
    doc["responses"] = {**refusals, **doc.get("responses", {})}
    doc["x-guard"] = guard
    return doc
