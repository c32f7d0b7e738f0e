"""The collector's two operations as OpenAPI tells them."""

from __future__ import annotations

from typing import Any

_TEXT: dict[str, Any] = {"type": "string"}
_LABELS: dict[str, Any] = {
    "type": "object",
    "properties": dict.fromkeys(("source", "medium", "campaign", "content", "term", "id"), _TEXT),
}
_IDS: dict[str, Any] = {"type": "object", "additionalProperties": _TEXT, "maxProperties": 16}
_TIME: dict[str, Any] = {
    "description": "By the browser's clock: RFC 3339, or milliseconds since 1970.",
    "oneOf": [{"type": "string", "format": "date-time"}, {"type": "number"}],
}
_IDENTIFIERS: dict[str, Any] = {
    "type": "array",
    "description": "More of them; the first 16 are read.",
    "items": {
        "type": "object",
        "properties": {"type": {"type": "string", "enum": ["userId", "email", "phone"]}, "value": _TEXT},
    },
}
_KEY = {"trackingKey": {"type": "string", "description": "Or the header X-Tracking-Key."}}
_EVENT: dict[str, Any] = {
    "type": "object",
    "required": ["eventId", "eventName", "eventTimeClient", "anonymousId", "sessionId", "pageUrl"],
    "properties": {
        **_KEY,
        "eventId": {"type": "string", "maxLength": 128, "description": "Kept once in its profile, for ever."},
        "eventName": {"type": "string", "maxLength": 64, "description": "A goal that names it makes it a conversion."},
        "eventTimeClient": _TIME,
        "anonymousId": {"type": "string", "maxLength": 128, "description": "The browser."},
        "sessionId": {"type": "string", "maxLength": 128, "description": "The visit."},
        "pageUrl": {"type": "string", "description": "Only its host, campaign parameters and tl_id are kept."},
        "referrer": {"type": "string", "description": "Only its host is kept."},
        "userId": {"type": "string", "maxLength": 128, "description": "Your own id of whoever is signed in."},
        "utm": _LABELS,
        "clickIds": _IDS,
        "fbc": {"type": "string", "description": "Meta's cookie; its time dates the click."},
        "consent": {
            "description": "marketing false: counted, never exported. One answer stands for all; a text is granted "
            "or another word for yes, and any other refuses.",
            "oneOf": [{"type": kind} for kind in ("object", "boolean", "string")],
        },
        "identify": {
            "type": "object",
            "properties": {
                **dict.fromkeys(("userId", "email", "phone", "firstName", "lastName"), _TEXT),
                "identifiers": _IDENTIFIERS,
            },
        },
        "valueAmount": {"type": "number", "minimum": 0, "description": "Never cash, whatever the event is called."},
        "currency": {"type": "string", "description": "ISO 4217; needed with valueAmount."},
        "order_id": {"type": "string", "maxLength": 190},
        "payload": {"type": "object", "description": "Kept raw, as is every other field, to 16 KiB together."},
    },
}
_SIGNAL: dict[str, Any] = {
    "type": "object",
    "required": ["anonymousId", "idType", "idValue", "pageUrl", "capturedAt"],
    "properties": {
        **_KEY,
        "anonymousId": {"type": "string", "maxLength": 128},
        "idType": {"type": "string", "enum": ["email", "phone"]},
        "idValue": {"type": "string", "description": "A phone number with its country code."},
        "pageUrl": _TEXT,
        "capturedAt": _TIME,
    },
}
_NONCE: dict[str, Any] = {
    "type": "object",
    "required": ["nonce", "pageUrl"],
    "properties": {
        **_KEY,
        "nonce": {"type": "string", "maxLength": 64, "description": "What the page's address holds as tl_verify."},
        "pageUrl": _TEXT,
    },
}
_RESPONSES: dict[int, dict[str, Any]] = {
    202: {
        "description": "Kept, or here before.",
        "content": {"application/json": {"schema": {"type": "object", "maxProperties": 0}}},
    },
    400: {"description": "Not a JSON object."},
    401: {"description": "Nobody's tracking key."},
    403: {"description": "A host that the key does not collect from, or an automated visitor."},
    410: {"description": "The key was revoked, or its profile archived."},
    413: {"description": "Larger than 60 KiB."},
    422: {"description": "A field that cannot be."},
    429: {"description": "More than 6,000 a minute with this key, or 300 from this address."},
}


def _operation(schema: dict[str, Any]) -> dict[str, Any]:
    content = {kind: {"schema": schema} for kind in ("application/json", "text/plain")}
    return {"requestBody": {"required": True, "content": content}, "responses": _RESPONSES}


COLLECT = _operation(_EVENT)
SIGNAL = _operation(_SIGNAL)
BEACON = _operation(_NONCE)
BEACON["responses"] = {
    **{status: _RESPONSES[status] for status in (202, 400, 401, 403, 410, 413)},
    404: {"description": "No such nonce of this profile, or one older than fifteen minutes."},
    422: {"description": "A field that cannot be, or a page on another host."},
}
