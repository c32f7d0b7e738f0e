"""Names of statuses, the same on every Python."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from flask import Flask

from api import statuses
from api.app import create_app
from touchledger.settings import Settings

# as Python names them from 3.13 on, and before
RENAMED = {
    413: ("CONTENT_TOO_LARGE", "REQUEST_ENTITY_TOO_LARGE"),
    422: ("UNPROCESSABLE_CONTENT", "UNPROCESSABLE_ENTITY"),
}


def test_the_document_names_refusals_alike_whichever_python_runs(settings: Settings) -> None:
    app: Flask = create_app(settings)
    document: Any = app.test_client().get("/openapi.json").get_json()
    shared = document["components"]["responses"]
    assert {"UNPROCESSABLE_ENTITY", "REQUEST_ENTITY_TOO_LARGE", "NOT_FOUND"} <= set(shared)
    assert shared["UNPROCESSABLE_ENTITY"]["description"] == "Unprocessable Entity"
    assert not {new for new, _ in RENAMED.values()} & set(shared)


def test_names_and_words_of_a_newer_python_become_those_of_an_older_one() -> None:
    names = {status: of_python.name for status, of_python in ((413, HTTPStatus(413)), (422, HTTPStatus(422)))}
    shared = {name: {"description": "of this Python"} for name in names.values()} | {
        "NOT_FOUND": {"description": "Not Found"}
    }
    responses = {status: {"$ref": f"#/components/responses/{name}"} for status, name in names.items()}
    document: Any = {
        "components": {"responses": shared},
        "paths": {"/a": {"parameters": [], "get": {"responses": {**responses, 200: {"description": "OK"}}}}},
    }
    statuses.rename(document)
    assert {name: told["description"] for name, told in document["components"]["responses"].items()} == {
        "REQUEST_ENTITY_TOO_LARGE": "Request Entity Too Large",
        "UNPROCESSABLE_ENTITY": "Unprocessable Entity",
        "NOT_FOUND": "Not Found",
    }
    found = document["paths"]["/a"]["get"]["responses"]
    assert {status: one.get("$ref") for status, one in found.items()} == {
        413: "#/components/responses/REQUEST_ENTITY_TOO_LARGE",
        422: "#/components/responses/UNPROCESSABLE_ENTITY",
        200: None,
    }


def test_every_other_status_is_called_as_python_calls_it() -> None:
    assert (statuses.name(404), statuses.phrase(404)) == ("NOT_FOUND", "Not Found")
