"""What the document shows is what the product takes and answers: every example fits the schema beside it.

That each was asked and answered so is the last test of tests/end_to_end/test_demo.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from api import errors, examples
from api.docs_pages.article import DOCS
from tests.factories.deployments import application, settings_of

SECRET = re.compile(r"\b(tl_(live|user|sess|app|secret|refr|inv|shr|rst|vfy)|trk_live|whsec)_[0-9A-Za-z+/=]{20,}")
# they answer whoever asks, and tell of no refusal but the one of all
NEVER_REFUSED = {"liveness", "readiness", "description_at_the_root", "description_of_the_version"}
ENVELOPE = "#/components/schemas/ErrorEnvelope"
FILES = {"text/html", "application/pdf"}


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Any:
    # without the notes that other tests have beside the product's routes
    return application(settings_of(tmp_path_factory.mktemp("nobody"))).test_client().get("/openapi.json").get_json()


def _operations(document: Any) -> Iterator[dict[str, Any]]:
    for operations in document["paths"].values():
        yield from operations.values()


def _bodies(operation: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """What it is, the media type and what is told, of each body that an operation takes or answers without refusing."""
    for what, part in {"request": operation.get("requestBody", {}), **operation["responses"]}.items():
        for media, told in part.get("content", {}).items():
            if told["schema"].get("$ref") != ENVELOPE:
                yield what, media, told


def _refusals(document: Any, operation: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The status and the body of each refusal that an operation shows as its own."""
    for status, response in operation["responses"].items():
        for example in response.get("content", {}).get("application/json", {}).get("examples", {}).values():
            name = example.get("$ref", "").rpartition("/")[2]
            yield status, (document["components"]["examples"][name] if name else example)["value"]


def _problems(document: Any, schema: dict[str, Any], example: Any) -> list[str]:
    whole = {**schema, "components": document["components"]}
    return [problem.message for problem in jsonschema.Draft202012Validator(whole).iter_errors(example)]


def test_every_body_that_is_taken_or_answered_has_an_example_that_its_schema_allows(document: Any) -> None:
    bare, wrong = [], []
    for operation in _operations(document):
        for what, media, told in _bodies(operation):
            place = (operation["operationId"], what, media)
            if "example" not in told:
                bare += [place] if media not in FILES else []
            elif problems := _problems(document, told["schema"], told["example"]):
                wrong.append((place, problems))
    assert (bare, wrong) == ([], [])


def test_nothing_is_kept_of_an_operation_that_is_no_more(document: Any) -> None:
    assert set(examples.recorded()) <= {operation["operationId"] for operation in _operations(document)}


def test_every_operation_shows_how_it_refuses(document: Any) -> None:
    refused = {name for name, told in examples.recorded().items() if told.get("refusals")}
    known = {operation["operationId"] for operation in _operations(document)}
    assert known - refused == NEVER_REFUSED


def test_every_refusal_of_an_operation_is_one_of_the_catalogue_under_its_status(document: Any) -> None:
    shown = [
        (operation["operationId"], status, body)
        for operation in _operations(document)
        for status, body in _refusals(document, operation)
    ]
    assert len(shown) > 200
    for name, status, body in shown:
        assert _problems(document, {"$ref": ENVELOPE}, body) == [], name
        error = body["error"]
        assert str(errors.CATALOGUE[error["code"]].status) == str(error["status"]) == status, name
        assert error["docs_url"] == f"http://127.0.0.1:8000/docs/errors#{error['code']}"


def test_no_refusal_is_shown_as_a_schema_alone(document: Any) -> None:
    # those of hooks and of the collector were
    bare = [
        (operation["operationId"], status)
        for operation in _operations(document)
        for status, response in operation["responses"].items()
        for told in response.get("content", {}).values()
        if told["schema"].get("$ref") == ENVELOPE and not {"example", "examples"} & told.keys()
    ]
    assert bare == []


def test_what_is_wrong_with_a_body_is_told_by_its_field(document: Any) -> None:
    for name, told in examples.recorded().items():
        for refusal in told.get("refusals", []):
            if refusal["code"] in ("validation_error", "invalid_parameter"):
                assert re.match(r"[A-Za-z_][\w.\[\]]*(:| is not )", refusal["message"]), (name, refusal)


def test_every_refusal_is_shown_as_it_is_answered(document: Any) -> None:
    for name, response in document["components"]["responses"].items():
        error = response["content"]["application/json"]["example"]["error"]
        assert error["code"] in errors.CATALOGUE, name
        assert error["docs_url"] == f"http://127.0.0.1:8000/docs/errors#{error['code']}"
        schema = {"$ref": ENVELOPE, "components": document["components"]}
        jsonschema.validate({"error": error}, schema)
    refused = document["components"]["responses"]["UNAUTHORIZED"]["content"]["application/json"]["example"]
    assert refused["error"]["message"] == errors.UNAUTHORIZED.message


def test_lists_show_their_first_rows(document: Any) -> None:
    def longest(told: Any) -> int:
        inner = told.values() if isinstance(told, dict) else told if isinstance(told, list) else ()
        own = len(told) if isinstance(told, list) and told and isinstance(told[0], dict) else 0
        return max([own, *map(longest, inner)])

    answers = {name: longest(told.get("answers")) for name, told in examples.recorded().items()}
    assert {name for name, rows in answers.items() if rows > 2} == set()


def test_the_event_of_the_guide_is_the_example(document: Any) -> None:
    body = document["paths"]["/api/v1/events"]["post"]["requestBody"]["content"]["application/json"]["example"]
    printed = re.findall(r"-d '(\{.*?\})'", (DOCS / "api.md").read_text(), re.DOTALL)
    assert [json.loads(one) for one in printed] == [body]


def test_no_example_holds_what_opens_something() -> None:
    assert SECRET.search(examples.RECORDED.read_text()) is None
