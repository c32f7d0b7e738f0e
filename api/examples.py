"""What the OpenAPI document shows: what a demo was asked and answered, and how it refuses, operation by operation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from api import errors, statuses

# by operation: `request` by media type, `answers` by status and media type, and `refusals`; written by
# `python -m tests.recording`, which asks all of it of a demo, and cuts lists to their first rows
RECORDED = Path(__file__).with_name("examples.json")
JSON = "application/json"
# of each kind the one that no operation is needed for
REFUSALS = {
    "BAD_REQUEST": errors.INVALID_PARAMETER("modell is not a parameter of this route. Did you mean model?"),
    "UNAUTHORIZED": errors.UNAUTHORIZED(),
    "FORBIDDEN": errors.INSUFFICIENT_SCOPE(
        "This credential lacks the scope customers:read.", required_scopes=["customers:read"]
    ),
    "NOT_FOUND": errors.NOT_FOUND(),
    "CONFLICT": errors.IDEMPOTENCY_KEY_CONFLICT(),
    "GONE": errors.FEATURE_RETIRED(),
    "REQUEST_ENTITY_TOO_LARGE": errors.PAYLOAD_TOO_LARGE("The body may hold at most 1048576 bytes."),
    "UNPROCESSABLE_ENTITY": errors.VALIDATION_ERROR("foo: Unknown field."),
    "TOO_MANY_REQUESTS": errors.RATE_LIMIT_EXCEEDED(reason="request_rate"),
    "INTERNAL_SERVER_ERROR": errors.INTERNAL_ERROR(),
    "SERVICE_UNAVAILABLE": errors.SERVICE_UNAVAILABLE(),
    "DEFAULT_ERROR": errors.INTERNAL_ERROR(),
}
# what any route may answer, in the same words
EVERYWHERE = {"401", "429", "503"}
ENVELOPE = {"$ref": "#/components/schemas/ErrorEnvelope"}
Part = dict[str, Any]


def show(document: Part, server: str) -> None:
    """Put the examples into an OpenAPI document whose parts are complete; addresses of ours begin with `server`."""
    shared = document["components"].get("responses", {})
    for name, response in shared.items():
        response["content"][JSON]["example"] = _envelope(_told(REFUSALS[name]), server)
    for operation in _operations(document):
        told = recorded().get(operation["operationId"], {})
        for media, request in told.get("request", {}).items():
            operation["requestBody"]["content"][media]["example"] = request
        responses = {str(status): response for status, response in operation["responses"].items()}
        for status, bodies in told.get("answers", {}).items():
            for media, body in bodies.items():
                responses[status]["content"][media]["example"] = body
        for refusal in told.get("refusals", []):
            _refuse(responses, refusal, shared, server)
        for status, response in responses.items():
            _fill(status, response, server)
        operation["responses"] = responses
    shown = (response for operation in _operations(document) for response in operation["responses"].values())
    used = {response["$ref"].rpartition("/")[2] for response in shown if "$ref" in response}
    for name in shared.keys() - used:
        del shared[name]
    _name_what_is_said_often(document)


def _refuse(responses: Part, refusal: Part, shared: Part, server: str) -> None:
    """Show a refusal under its status, which needs one of its own only for what the shared one does not say."""
    code = errors.CATALOGUE[refusal["code"]]
    status, kind = str(code.status), statuses.name(code.status)
    body = _envelope(refusal, server)
    known = responses.get(status, {})
    if "content" not in known:
        of_kind: Part = shared[kind if kind in shared else "DEFAULT_ERROR"]
        if "$ref" in known and of_kind["content"][JSON]["example"] == body:
            return
        schema = of_kind["content"][JSON]["schema"]
        made = {
            "description": statuses.phrase(code.status),
            "content": {JSON: {"schema": schema}},
            "headers": of_kind["headers"],
        }
        known = responses[status] = made
    known["content"][JSON].setdefault("examples", {})[code.code] = {"value": body}


def _fill(status: str, response: Part, server: str) -> None:
    """Show under a refusal that a route words itself what every route answers there."""
    told = response.get("content", {}).get(JSON, {})
    if status in EVERYWHERE and told.get("schema") == ENVELOPE and not {"example", "examples"} & told.keys():
        told["example"] = _envelope(_told(REFUSALS[statuses.name(int(status))]), server)


def _name_what_is_said_often(document: Part) -> None:
    """Say once, among the components, what several operations refuse alike."""
    met: dict[bytes, list[tuple[Part, str]]] = {}
    for operation in _operations(document):
        for response in operation["responses"].values():
            examples = response.get("content", {}).get(JSON, {}).get("examples", {})
            for code, example in examples.items():
                met.setdefault(orjson.dumps(example["value"]), []).append((examples, code))
    named: Part = {}
    for places in met.values():
        if len(places) > 1:
            examples, code = places[0]
            name = f"{code}.{sum(one.partition('.')[0] == code for one in named) + 1}"
            named[name] = examples[code]
            for examples, code in places:
                examples[code] = {"$ref": f"#/components/examples/{name}"}
    document["components"]["examples"] = named


def _operations(document: Part) -> Iterator[Part]:
    for operations in document["paths"].values():
        yield from operations.values()


@lru_cache(maxsize=1)
def recorded() -> dict[str, Part]:
    """What the file holds, by operation."""
    return orjson.loads(RECORDED.read_bytes())  # type: ignore[no-any-return]


def _told(error: errors.ApiError) -> Part:
    reason = {"reason": error.reason} if error.reason else {}
    return {"code": error.code.code, "message": error.message, **reason, **error.fields}


def _envelope(refusal: Part, server: str) -> Part:
    """The whole refusal, of which `refusal` has what is not of one request and one deployment."""
    code = errors.CATALOGUE[refusal["code"]]
    of_one = {
        "status": code.status,
        "request_id": "req_7182ec12e2284e90bb36cf9f7b8235bc",
        "docs_url": f"{server.rstrip('/') or 'http://127.0.0.1:8000'}/docs/errors#{code.code}",
    }
    head = {name: refusal[name] for name in ("code", "message")}
    return {"error": head | of_one | refusal}
