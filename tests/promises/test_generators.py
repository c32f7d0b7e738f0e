"""What generators of clients make of the OpenAPI document reads each answer, and validates each example."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.factories.deployments import application, settings_of


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Any:
    settings = settings_of(tmp_path_factory.mktemp("generators"))
    return application(settings).test_client().get("/openapi.json").get_json()


def _objects(told: Any) -> Iterator[dict[str, Any]]:
    """Every object of the document, without what examples hold."""
    if isinstance(told, dict):
        yield told
    inner = told.items() if isinstance(told, dict) else enumerate(told) if isinstance(told, list) else ()
    for name, one in inner:
        if name not in ("example", "examples"):
            yield from _objects(one)


def test_every_format_is_one_that_json_schema_or_openapi_defines(document: Any) -> None:
    formats = {one["format"] for one in _objects(document) if isinstance(one.get("format"), str)}
    assert formats == {"binary", "date", "date-time", "uri", "uuid"}


def test_a_file_of_several_types_is_read_whole_as_the_first_and_as_the_first_text(document: Any) -> None:
    content = document["paths"]["/api/v1/reports/{report_id}/file"]["get"]["responses"]["200"]["content"]
    assert [(mime, told["schema"].get("format")) for mime, told in content.items()] == [
        ("application/pdf", "binary"),
        ("text/html", None),
        ("text/csv", None),
    ]


def test_every_address_of_an_example_is_one(document: Any) -> None:
    def addresses(told: Any) -> Iterator[str]:
        if isinstance(told, str):
            yield from re.findall(r"^https?://.*", told)
        for inner in told.values() if isinstance(told, dict) else told if isinstance(told, list) else ():
            yield from addresses(inner)

    shown = {address for one in _objects(document) for address in addresses([one.get("example"), one.get("examples")])}
    assert len(shown) > 10
    assert [one for one in shown if not re.fullmatch(r"[!-~]+", one)] == []
