"""HTTP statuses in the words of the reference, the same whichever Python runs: 3.13 renamed two of them."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

# what Python says from 3.13 on, as RFC 9110 does, and what it said before
_BEFORE = {
    "CONTENT_TOO_LARGE": ("REQUEST_ENTITY_TOO_LARGE", "Request Entity Too Large"),
    "UNPROCESSABLE_CONTENT": ("UNPROCESSABLE_ENTITY", "Unprocessable Entity"),
}
_PLACE = "#/components/responses/"


def name(status: int) -> str:
    """What the shared refusal of a status is called, such as NOT_FOUND. Raises ValueError for what is no status."""
    return _said(HTTPStatus(status))[0]


def phrase(status: int) -> str:
    """What a status says, such as Not Found. Raises ValueError for what is no status."""
    return _said(HTTPStatus(status))[1]


def rename(document: dict[str, Any]) -> None:
    """Give the shared refusals of an OpenAPI document, and what refers to them, these names and words."""
    shared = document["components"]["responses"]
    for word, told in list(shared.items()):
        # in the order in which they stand
        del shared[word]
        known, description = _BEFORE.get(word, (word, told["description"]))
        shared[known] = told | {"description": description}
    for operations in document["paths"].values():
        for operation in operations.values():
            for response in operation["responses"].values() if "responses" in operation else ():
                word = response.get("$ref", "").removeprefix(_PLACE)
                if word in _BEFORE:
                    response["$ref"] = f"{_PLACE}{_BEFORE[word][0]}"


def _said(status: HTTPStatus) -> tuple[str, str]:
    return _BEFORE.get(status.name, (status.name, status.phrase))
