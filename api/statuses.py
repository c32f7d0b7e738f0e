"""HTTP statuses in the words of the reference, the same whichever Python runs: 3.13 renamed two of them."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

# as Python names them before 3.13, which follows RFC 9110 with Content Too Large and Unprocessable Content
_KEPT = {
    413: ("REQUEST_ENTITY_TOO_LARGE", "Request Entity Too Large"),
    422: ("UNPROCESSABLE_ENTITY", "Unprocessable Entity"),
}
_PLACE = "#/components/responses/"


def name(status: int) -> str:
    """What the shared refusal of a status is called, such as NOT_FOUND. Raises ValueError for what is no status."""
    return _KEPT[status][0] if status in _KEPT else HTTPStatus(status).name


def phrase(status: int) -> str:
    """What a status says, such as Not Found. Raises ValueError for what is no status."""
    return _KEPT[status][1] if status in _KEPT else HTTPStatus(status).phrase


def rename(document: dict[str, Any]) -> None:
    """Give the shared refusals of an OpenAPI document, and what refers to them, these names and words."""
    pythons = {HTTPStatus(status).name: status for status in _KEPT}
    shared = document["components"].get("responses", {})
    for word, told in list(shared.items()):
        # in the order in which they stand
        del shared[word]
        status = pythons.get(word)
        shared[word if status is None else name(status)] = (
            told if status is None else told | {"description": phrase(status)}
        )
    for operations in document["paths"].values():
        for operation in operations.values():
            for response in operation["responses"].values() if "responses" in operation else ():
                word = response.get("$ref", "").removeprefix(_PLACE)
                if word in pythons:
                    response["$ref"] = f"{_PLACE}{name(pythons[word])}"
