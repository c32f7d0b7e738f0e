"""What the document shows is what the product takes and answers: every example fits the schema beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from flask.testing import FlaskClient

from api import errors, examples
from api.docs_pages.article import DOCS

SECRET = re.compile(r"\b(tl_(live|user|sess|app|secret|refr|inv|shr|rst)|trk_live|whsec)_[0-9A-Za-z+/=]{20,}")


@pytest.fixture
def document(client: FlaskClient) -> Any:
    return client.get("/openapi.json").get_json()


def _shown(document: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and media type of every request and success that has an example."""
    for operations in document["paths"].values():
        for operation in operations.values():
            bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
            for body in bodies:
                told = body.get("content", {}).get("application/json", {})
                if "example" in told:
                    yield operation["operationId"], told


def test_every_example_is_what_its_schema_says(document: Any) -> None:
    shown = list(_shown(document))
    recorded = json.loads(examples.RECORDED.read_bytes())
    assert sorted(name for name, _ in shown) == sorted(name for name, told in recorded.items() for _ in told)
    for name, told in shown:
        schema = {**told["schema"], "components": document["components"]}
        problems = [problem.message for problem in jsonschema.Draft202012Validator(schema).iter_errors(told["example"])]
        assert problems == [], name


def test_every_refusal_is_shown_as_it_is_answered(document: Any) -> None:
    for name, response in document["components"]["responses"].items():
        error = response["content"]["application/json"]["example"]["error"]
        assert error["code"] in errors.CATALOGUE, name
        assert error["docs_url"] == f"http://127.0.0.1:8000/docs/errors#{error['code']}"
        schema = {"$ref": "#/components/schemas/ErrorEnvelope", "components": document["components"]}
        jsonschema.validate({"error": error}, schema)
    refused = document["components"]["responses"]["UNAUTHORIZED"]["content"]["application/json"]["example"]
    assert refused["error"]["message"] == errors.UNAUTHORIZED.message


def test_the_event_of_the_guide_is_the_example(document: Any) -> None:
    body = document["paths"]["/api/v1/events"]["post"]["requestBody"]["content"]["application/json"]["example"]
    printed = re.findall(r"-d '(\{.*?\})'", (DOCS / "api.md").read_text(), re.DOTALL)
    assert [json.loads(one) for one in printed] == [body]


def test_no_example_holds_what_opens_something() -> None:
    assert SECRET.search(examples.RECORDED.read_text()) is None
