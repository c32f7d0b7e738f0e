"""Every operation of the OpenAPI document says what a caller needs beside its schemas, and names what there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from api import errors
from api.webhooks.kinds import KINDS
from tests.factories.deployments import application, settings_of

ROUTE = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE) (W?/[\w{}/.-]*[\w}])")
# a status and its code, and perhaps the reason behind it
REFUSAL = re.compile(r"\b([45]\d\d) (?:`(\w+)`(?:/`(\w+)`)?)")
EVENT = re.compile(r"`([a-z_]+(?:\.[a-z_]+)+)`")
PART = re.compile(r"\{\w+\}|<\w+>")
# members of answers, parameters of the chat app and files
NO_EVENTS = re.compile(r"^(meta|pagination|data|error|docs|hub)\.|\.(json|js|md|csv)$")


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Any:
    settings = settings_of(tmp_path_factory.mktemp("told"))
    return application(settings).test_client().get("/openapi.json").get_json()


def operations(document: Any) -> Iterator[dict[str, Any]]:
    return (one for of in document["paths"].values() for one in of.values())


def texts(part: Any) -> Iterator[str]:
    """Every description of the document."""
    if isinstance(part, dict):
        if isinstance(part.get("description"), str):
            yield part["description"]
        yield from (text for inner in part.values() for text in texts(inner))
    elif isinstance(part, list):
        yield from (text for inner in part for text in texts(inner))


def test_every_operation_says_more_than_its_summary(document: Any) -> None:
    silent = [one["operationId"] for one in operations(document) if len(one.get("description", "")) < 50]
    assert silent == []


def test_every_route_that_a_text_names_is_there(document: Any) -> None:
    known = {(method.upper(), PART.sub("{}", path)) for path, of in document["paths"].items() for method in of}
    # what sites load is described by its guide
    known |= {("GET", "/tracker.js")}
    named = {(method, PART.sub("{}", path)) for text in texts(document) for method, path in ROUTE.findall(text)}
    assert len(named) > 20
    assert {one for one in named if not known & {one, (one[0], f"/api/v1{one[1]}")}} == set()


def test_every_refusal_that_a_text_names_has_that_status_and_reason(document: Any) -> None:
    named = {found for text in texts(document) for found in REFUSAL.findall(text)}
    assert len(named) > 5
    for status, code, reason in named:
        assert errors.CATALOGUE[code].status == int(status), code
        assert not reason or reason in errors.CATALOGUE[code].reasons, reason


def test_every_event_that_a_text_names_is_told(document: Any) -> None:
    named = {one for text in texts(document) for one in EVENT.findall(text) if not NO_EVENTS.search(one)}
    assert {"import.finished", "report.ready", "customer.erased"} <= named
    assert named - set(KINDS) == set()
