"""Names of statuses, the same on every Python."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from api import statuses

PLACE = "#/components/responses/"


def test_the_document_names_refusals_alike_whichever_python_runs(client: FlaskClient) -> None:
    shared = client.get("/openapi.json").get_json()["components"]["responses"]
    assert {"REQUEST_ENTITY_TOO_LARGE", "NOT_FOUND"} <= set(shared)
    assert shared["UNPROCESSABLE_ENTITY"]["description"] == "Unprocessable Entity"
    assert not {"CONTENT_TOO_LARGE", "UNPROCESSABLE_CONTENT"} & set(shared)


def test_the_names_and_words_of_a_newer_python_become_those_of_an_older_one() -> None:
    # on Python 3.13 nobody got the document: it is 500 where a name is unknown
    told = {"UNPROCESSABLE_CONTENT": "Unprocessable Content", "NOT_FOUND": "Not Found"}
    responses: dict[int, Any] = {422: {"$ref": f"{PLACE}UNPROCESSABLE_CONTENT"}, 404: {"$ref": f"{PLACE}NOT_FOUND"}}
    document: dict[str, Any] = {
        "components": {"responses": {name: {"description": words} for name, words in told.items()}},
        "paths": {"/a": {"parameters": [], "get": {"responses": {**responses, 200: {"description": "OK"}}}}},
    }
    statuses.rename(document)
    shared = document["components"]["responses"]
    assert [(name, one["description"]) for name, one in shared.items()] == [
        ("UNPROCESSABLE_ENTITY", "Unprocessable Entity"),
        ("NOT_FOUND", "Not Found"),
    ]
    found = document["paths"]["/a"]["get"]["responses"]
    assert [one.get("$ref") for one in found.values()] == [f"{PLACE}UNPROCESSABLE_ENTITY", f"{PLACE}NOT_FOUND", None]


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (404, ("NOT_FOUND", "Not Found")),
        (413, ("REQUEST_ENTITY_TOO_LARGE", "Request Entity Too Large")),
        (422, ("UNPROCESSABLE_ENTITY", "Unprocessable Entity")),
    ],
)
def test_a_status_is_called_alike_on_every_python(status: int, said: tuple[str, str]) -> None:
    assert (statuses.name(status), statuses.phrase(status)) == said
