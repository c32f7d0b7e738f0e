"""The machine-readable description: errors, and the security of each operation from its guard."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Any

from apispec.ext.marshmallow import MarshmallowPlugin

from api import examples, statuses
from api.auth import Kind
from api.bodies import NamesOne, NeedsOne
from api.guard import Grain, Guard
from api.path_parts import PARTS
from api.roles import Role
from api.terms import TERMS

REFUSALS = (400, 401, 403, 404, 429, 500, 503)
REFUSALS_OF_RETIRED = (400, 401, 403, 404, 410, 429, 500, 503)
REFUSALS_OF_OPEN_WRITES = (400, 401, 404, 409, 413, 429, 500, 503)
SCHEMES: dict[Kind, tuple[str, dict[str, str]]] = {
    Kind.API_KEY: ("apiKey", {"type": "http", "scheme": "bearer", "description": "An API key, `tl_live_…`."}),
    Kind.USER_TOKEN: ("userToken", {"type": "http", "scheme": "bearer", "description": "A user token, `tl_user_…`."}),
    Kind.SESSION: ("session", {"type": "http", "scheme": "bearer", "description": "A session token, `tl_sess_…`."}),
    Kind.APP: ("app", {"type": "http", "scheme": "basic", "description": "An app's id and secret."}),
}
HEADERS: dict[str, dict[str, Any]] = {
    "X-Request-Id": {"description": "Id of this request, for support.", "schema": {"type": "string"}},
    "X-RateLimit-Limit": {"description": "Units per minute of a caller who is known.", "schema": {"type": "integer"}},
    "X-RateLimit-Remaining": {"description": "Units left in the last 60 seconds.", "schema": {"type": "integer"}},
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 1}},
    "WWW-Authenticate": {
        "description": (
            "How to be known: `Bearer`, and in `resource_metadata` who lets agents in (RFC 9728). Of a user token with "
            "too narrow a grant also `error` and, in `scope`, the grants to ask for (RFC 6750)."
        ),
        "schema": {"type": "string"},
    },
    "Idempotent-Replayed": {"description": "`true` on the first answer, sent again.", "schema": {"type": "string"}},
    "ETag": {"description": "Names this answer; send it as If-None-Match.", "schema": {"type": "string"}},
    "Deprecation": {"description": "Since when: `@` and the Unix time (RFC 9745).", "schema": {"type": "string"}},
    "Sunset": {"description": "From when on the route is unknown (RFC 8594).", "schema": {"type": "string"}},
    "Link": {"description": "Where its successor is described.", "schema": {"type": "string"}},
}
RATED = {"X-RateLimit-Limit", "X-RateLimit-Remaining"}
# of the refusals that have others than the id of the request and, of callers who are known, the allowance
HEADERS_OF = {
    "UNAUTHORIZED": {"WWW-Authenticate"},
    "FORBIDDEN": {"WWW-Authenticate", *RATED},
    "TOO_MANY_REQUESTS": {"Retry-After", *RATED},
    "SERVICE_UNAVAILABLE": {"Retry-After", *RATED},
    "GONE": {"Deprecation", "Sunset", "Link", *RATED},
}
UUID = {"type": "string", "format": "uuid"}
PROFILE_ID: dict[str, Any] = {
    "in": "query",
    "name": "profile_id",
    "required": False,
    "schema": UUID,
    "description": "The profile to answer for. An API key has one already; user tokens and sessions must send it.",
}
IDEMPOTENCY_KEY: dict[str, Any] = {
    "in": "header",
    "name": "Idempotency-Key",
    "required": False,
    "schema": {"type": "string", "pattern": "^[ -~]{1,255}$"},
    "description": "With it a request that is sent again within 24 hours gets the first answer, and does nothing anew.",
}
IF_NONE_MATCH: dict[str, Any] = {
    "in": "header",
    "name": "If-None-Match",
    "required": False,
    "schema": {"type": "string"},
    "description": (
        "The ETag of an answer that the caller holds, or several with commas: while one is of the newest answer there "
        "is, 304 without a body. `*` is any answer."
    ),
}
REFUSED = {"$ref": "#/components/schemas/ErrorEnvelope"}
PYTHON_END = r"\Z"
PLACES = {
    "workspace_id": "The workspace; people who belong to several send this or profile_id. An API key needs neither.",
    "profile_id": "The profile, instead of a whole workspace.",
}
NARROWS = "Narrows the answer to this profile; it must be one that the caller can open."
DESCRIPTION = """\
Which ad brought in which payment: spend, outcomes and money credited to campaigns, ad sets and ads under five
attribution models, beside what each ad platform claims; how ads compare; people, journeys, payments and orders; and
what changes them.

- **Who asks**: `Authorization: Bearer` with an API key of one profile, a user token or a session; apps use HTTP Basic.
  A caller who has several profiles says which by `profile_id`.
- **Answers** are `{data, meta}`, refusals `{error: {code, message, status, request_id, docs_url}}`: branch on `code`.
- **Pages**: send `pagination.cursor` (`meta.next_cursor` where there is none) as `cursor` until it is null.
- **Allowance**: units a minute, told by `X-RateLimit-Remaining`; 429 says in `Retry-After` how long to wait.
- **Writes** with an `Idempotency-Key` are done once, however often they are sent.

More: [Using the API](SERVER/docs/api), [error codes](SERVER/docs/errors), [attribution models](SERVER/docs/models),
[webhooks](SERVER/docs/webhooks), [data sets](SERVER/docs/data-sets).
"""


def describe_guard(doc: dict[str, Any], doc_info: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Give an operation its refusals; flask-smorest calls it for every operation, `build` adds the security."""
    guard: Guard = doc_info["guard"]
    known = REFUSALS if not guard.is_public else REFUSALS_OF_OPEN_WRITES if "requestBody" in doc else ()
    if guard.gone is not None:
        known, doc["deprecated"] = REFUSALS_OF_RETIRED, True
    refusals = {status: HTTPStatus(status).name for status in known}
    doc["responses"] = {**refusals, **doc.get("responses", {})}
    if doc_info.get("keyed") and guard.kinds and guard.gone is None:
        doc["parameters"] = [*doc.get("parameters", []), IDEMPOTENCY_KEY]
    if doc_info.get("tagged"):
        doc["parameters"] = [*doc.get("parameters", []), IF_NONE_MATCH]
        doc["responses"][304] = {"description": "The caller holds this answer already."}
    doc["operationId"] = doc_info["operation"]
    doc["x-guard"] = guard
    return doc


def build(spec: Any, *, server: str) -> dict[str, Any]:
    """The finished OpenAPI 3.1 document. `server` may be relative (`/`), which means: where the document came from."""
    document: dict[str, Any] = spec.to_dict()
    document.setdefault("components", {})
    statuses.rename(document)
    document["info"]["description"] = DESCRIPTION.replace("SERVER", server.rstrip("/"))
    document["info"]["license"] = {"name": "Apache-2.0", "identifier": "Apache-2.0"}
    document["servers"] = [{"url": server}]
    components = document["components"]
    components["securitySchemes"] = dict(SCHEMES.values())
    components["headers"] = HEADERS
    for path, operations in document["paths"].items():
        in_path = operations.pop("parameters", [])
        for method, operation in operations.items():
            ids = operation["x-guard"].uuids
            named = [one | ({"schema": UUID} if one["name"] in ids else {}) for one in in_path]
            told = [*named, *operation.get("parameters", [])]
            operation["parameters"] = [_described(one) for one in told]
            _secure(path, method.upper(), operation, operation.pop("x-guard"))
            operation["responses"] = {status: _refusal(status, one) for status, one in operation["responses"].items()}
    for (schema, *_), name in _converter(spec).refs.items():
        if issubclass(schema, (NeedsOne, NamesOne)):
            components["schemas"][name]["minProperties"] = 1
        if issubclass(schema, NamesOne):
            components["schemas"][name]["maxProperties"] = 1
    for name, response in components.get("responses", {}).items():
        response["headers"] = _headers({"X-Request-Id"} | HEADERS_OF.get(name, RATED))
    for schema in components["schemas"].values():
        for name, member in schema.get("properties", {}).items():
            # an object says itself what it is
            if name in TERMS and not {"description", "$ref"} & member.keys():
                member["description"] = _term(name, member)
    _in_the_dialect_of_json_schema(document)
    examples.show(document, server)
    return document


def _term(name: str, member: dict[str, Any]) -> str:
    """What the name means, and of a member that may be null also when it is."""
    kinds = member.get("type", ())
    is_never_null = "null" not in ([kinds] if isinstance(kinds, str) else kinds)
    meaning, null, _ = TERMS[name].partition("; null")
    return f"{meaning}." if null and is_never_null else TERMS[name]


def _described(parameter: dict[str, Any]) -> dict[str, Any]:
    is_known = parameter["in"] == "path" and parameter["name"] in PARTS
    return parameter | ({"description": PARTS[parameter["name"]]} if is_known else {})


def _converter(spec: Any) -> Any:
    """What turned schemas into components, and knows which of them came of which."""
    return next(one.converter for one in spec.plugins if isinstance(one, MarshmallowPlugin))


def _in_the_dialect_of_json_schema(part: Any) -> None:
    """Anchor patterns as ECMA-262 does, and call an address `uri`, as apispec does not.

    A Python pattern begins where the text does, and `\\Z` is where that ends.
    """
    if isinstance(part, dict):
        pattern = part.get("pattern")
        if isinstance(pattern, str) and pattern.endswith(PYTHON_END):
            part["pattern"] = f"^{pattern.removeprefix('^').removesuffix(PYTHON_END)}$"
        if part.get("format") == "url":
            part["format"] = "uri"
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        _in_the_dialect_of_json_schema(inner)


def _refusal(status: Any, response: dict[str, Any]) -> dict[str, Any]:
    """A refusal that a route words itself, with the headers of all the others, and their body unless it has its own."""
    if str(status)[0] not in "45" or "$ref" in response:
        return response
    names = {"X-Request-Id"} | ({"Retry-After"} if str(status) in {"429", "503"} else set())
    return {"content": {"application/json": {"schema": REFUSED}}, **response, "headers": _headers(names)}


def _secure(path: str, method: str, operation: dict[str, Any], guard: Guard) -> None:
    if guard.is_public:
        operation["security"] = []
        _head(operation, {"X-Request-Id"})
        return
    operation["parameters"] = _parameters(operation.get("parameters", []), guard)
    kinds = guard.kinds_for(method, re.sub(r"\{(\w+)\}", r"<\1>", path))
    scopes = [scope.value for scope in guard.scopes]
    operation["security"] = [
        {SCHEMES[kind][0]: [scope.value for scope in asked]} for kind in kinds for asked in guard.asked_of(kind)
    ]
    operation["x-units"] = guard.units
    operation |= {"x-scope": " ".join(scopes)} if scopes else {}
    operation |= {"x-partner-key": True} if guard.partner else {}
    operation |= {"x-role": guard.role.word} if guard.grain is Grain.WORKSPACE or guard.role > Role.GUEST else {}
    _head(operation, {"X-Request-Id", *RATED})


def _head(operation: dict[str, Any], names: set[str]) -> None:
    """Give what is no refusal the headers of these names, and those that a parameter of the operation is about."""
    names |= {"Idempotent-Replayed"} if IDEMPOTENCY_KEY in operation["parameters"] else set()
    names |= {"ETag"} if IF_NONE_MATCH in operation["parameters"] else set()
    for status, response in operation["responses"].items():
        if "$ref" not in response and str(status)[0] in "23":
            response.setdefault("headers", {}).update(_headers(names))


def _parameters(declared: list[dict[str, Any]], guard: Guard) -> list[dict[str, Any]]:
    texts = [{**one, "schema": _as_text(one["schema"])} if one.get("in") == "query" else one for one in declared]
    return [*sorted(texts, key=lambda one: not one.get("required", False)), *_named(texts, guard)]


def _named(declared: list[dict[str, Any]], guard: Guard) -> list[dict[str, Any]]:
    """`profile_id`, which every route knows, unless the route declares its own or is gone; where asked for, the place.

    The place is one workspace or profile of a caller who may have several.
    """
    if guard.gone is not None or any(one["name"] == "profile_id" for one in declared):
        return []
    if guard.is_placed:
        return [{**PROFILE_ID, "name": name, "description": text} for name, text in PLACES.items()]
    return [PROFILE_ID if guard.grain is Grain.PROFILE else {**PROFILE_ID, "description": NARROWS}]


def _as_text(schema: dict[str, Any]) -> dict[str, Any]:
    # a query has no null: a parameter that may be absent is one that is not required
    kept = {name: value for name, value in schema.items() if not (name == "default" and value is None)}
    if isinstance(kept.get("type"), list):
        kept["type"] = next(kind for kind in kept["type"] if kind != "null")
    if "enum" in kept:
        kept["enum"] = [value for value in kept["enum"] if value is not None]
    return kept


def _headers(names: set[str]) -> dict[str, dict[str, str]]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in sorted(names)}
