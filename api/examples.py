"""What the OpenAPI document shows: what the demo was asked and answered, and a refusal of each kind."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from api import errors

# by operation: `answer`, and of one with a body `request`; recorded from the demo, lists cut to their first rows
RECORDED = Path(__file__).with_name("examples.json")
JSON = "application/json"
REFUSALS = {
    "BAD_REQUEST": errors.INVALID_PARAMETER("modell is not a parameter of this route. Did you mean model?"),
    "UNAUTHORIZED": errors.UNAUTHORIZED(),
    "FORBIDDEN": errors.INSUFFICIENT_SCOPE(
        "This credential lacks the scope customers:read.", required_scopes=["customers:read"]
    ),
    "NOT_FOUND": errors.NOT_FOUND(),
    "CONFLICT": errors.IDEMPOTENCY_KEY_CONFLICT(),
    "GONE": errors.FEATURE_RETIRED(),
    "REQUEST_ENTITY_TOO_LARGE": errors.PAYLOAD_TOO_LARGE(),
    "UNPROCESSABLE_ENTITY": errors.VALIDATION_ERROR("foo: Unknown field."),
    "TOO_MANY_REQUESTS": errors.RATE_LIMIT_EXCEEDED(reason="request_rate"),
    "INTERNAL_SERVER_ERROR": errors.INTERNAL_ERROR(),
    "SERVICE_UNAVAILABLE": errors.SERVICE_UNAVAILABLE(),
    "DEFAULT_ERROR": errors.INTERNAL_ERROR(),
}


def show(document: dict[str, Any], server: str) -> None:
    """Put the examples into an OpenAPI document whose parts are complete; addresses of ours begin with `server`."""
    for name, response in document["components"].get("responses", {}).items():
        response["content"][JSON]["example"] = _refused(REFUSALS[name], server)
    recorded = _recorded()
    for operations in document["paths"].values():
        for operation in operations.values():
            told = recorded.get(operation["operationId"], {})
            if "request" in told:
                operation["requestBody"]["content"][JSON]["example"] = told["request"]
            if "answer" in told:
                success = next(one for status, one in operation["responses"].items() if str(status)[0] == "2")
                success["content"][JSON]["example"] = told["answer"]


@lru_cache(maxsize=1)
def _recorded() -> dict[str, dict[str, Any]]:
    return orjson.loads(RECORDED.read_bytes())  # type: ignore[no-any-return]


def _refused(error: errors.ApiError, server: str) -> dict[str, Any]:
    code = error.code
    body = {
        "code": code.code,
        "message": error.message,
        "status": code.status,
        "request_id": "req_7182ec12e2284e90bb36cf9f7b8235bc",
        "docs_url": f"{server.rstrip('/') or 'http://127.0.0.1:8000'}/docs/errors#{code.code}",
    }
    return {"error": body | ({"reason": error.reason} if error.reason else {}) | error.fields}
