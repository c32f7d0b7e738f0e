"""Who answers with an ETag says so in the OpenAPI document, and nobody else does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from flask.testing import FlaskClient

import api.v1
from tests.api.conftest import Caller

CONDITIONAL = {"published", "published_across", "conditional"}


def views() -> Iterator[tuple[str, bool]]:
    """Name of every view of the interface, and whether it comes to a conditional answer within its module."""
    for path in sorted(Path(api.v1.__file__).parent.rglob("*.py")):
        found = {one.name: one for one in ast.parse(path.read_text()).body if isinstance(one, ast.FunctionDef)}
        calls = {name: set(called(body)) for name, body in found.items()}
        for name, body in found.items():
            if any(called_name(one) == "route" for one in body.decorator_list):
                yield name, bool(CONDITIONAL & reached(name, calls))


def called(body: ast.AST) -> Iterator[str]:
    return (called_name(one) for one in ast.walk(body) if isinstance(one, ast.Call))


def called_name(node: ast.AST) -> str:
    function = node.func if isinstance(node, ast.Call) else node
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def reached(name: str, calls: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        if (one := waiting.pop()) not in seen:
            seen.add(one)
            waiting += calls.get(one, ())
    return seen


def test_a_view_is_described_with_an_etag_if_it_gives_one(client: FlaskClient) -> None:
    document = client.get("/openapi.json").get_json()
    told = {
        operation["operationId"]: "304" in operation["responses"]
        for path, operations in document["paths"].items()
        for operation in operations.values()
        if path.startswith("/api/v1/")
    }
    given = dict(views())
    assert sum(given.values()) > 20
    assert {name: told[name] for name in given} == given


def test_the_document_says_of_itself_how_it_is_asked_for_again(client: FlaskClient) -> None:
    first = client.get("/openapi.json")
    for path in ("/openapi.json", "/api/v1/openapi.json"):
        operation = first.get_json()["paths"][path]["get"]
        # it told of 304, and neither what brings it about nor where the tag is
        assert [one["name"] for one in operation["parameters"]] == ["If-None-Match"]
        for status in ("200", "304"):
            assert operation["responses"][status]["headers"].keys() == {"ETag", "X-Request-Id"}
    assert client.get("/openapi.json", headers={"If-None-Match": first.headers["ETag"]}).status_code == 304


def test_what_is_described_is_what_is_answered(client: FlaskClient, caller: Caller) -> None:
    operation = client.get("/openapi.json").get_json()["paths"]["/api/v1/campaigns"]["get"]
    assert "If-None-Match" in [one.get("name") for one in operation["parameters"]]
    assert "ETag" in operation["responses"]["200"]["headers"] and "ETag" in operation["responses"]["304"]["headers"]
    path = "/campaigns?date_from=2026-01-01&date_to=2026-01-31"
    tag = caller.get(path).headers["ETag"]
    known = caller.get(path, headers={"If-None-Match": tag})
    assert (known.status_code, known.headers["ETag"], known.data) == (304, tag, b"")
