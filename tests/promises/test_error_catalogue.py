"""One list of codes: the constants, docs/errors.md, the errors page and the places that raise them agree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from api import errors, reference

ROOT = Path(__file__).resolve().parents[2]


def raised() -> set[str]:
    names: set[str] = set()
    for path in (ROOT / "api").rglob("*.py"):
        if path.name != "errors.py":
            names |= set(re.findall(r"\berrors\.([A-Z][A-Z_]+)\b", path.read_text()))
    return {getattr(errors, name).code for name in names - {"CATALOGUE"}}


def test_there_are_ninety_codes_named_like_their_constants() -> None:
    assert len(errors.CATALOGUE) == 90
    for name, item in vars(errors).items():
        if isinstance(item, errors.Code):
            assert name == item.code.upper()


def test_every_code_is_either_raised_or_reserved() -> None:
    reserved = {item.code for item in errors.CATALOGUE.values() if item.reserved}
    assert raised() & reserved == set()
    assert raised() | reserved == set(errors.CATALOGUE)


def test_the_committed_page_is_the_catalogue() -> None:
    assert (ROOT / "docs" / "errors.md").read_text() == reference.errors_page()
    headings = re.findall(r"^## (\S+)$", (ROOT / "docs" / "errors.md").read_text(), re.MULTILINE)
    assert headings == list(errors.CATALOGUE)


def test_docs_url_opens_on_one_anchor_per_code_in_order(client: FlaskClient) -> None:
    page = client.get("/docs/errors").text
    assert re.findall(r'<section class="entry" id="([^"]+)">', page) == list(errors.CATALOGUE)
    for item in errors.CATALOGUE.values():
        for reason in item.reasons:
            assert f"<code>{reason}</code>" in page


def test_statuses_are_those_of_the_interface() -> None:
    special = {"provider_error": 502, "audience_tos_required": 428, "invalid_date_range": 400, "status_invalid": 422}
    for code, status in special.items():
        assert errors.CATALOGUE[code].status == status
    assert {item.status for item in errors.CATALOGUE.values()} == {
        400, 401, 402, 403, 404, 409, 410, 413, 422, 428, 429, 500, 501, 502, 503, 504,
    }  # fmt: skip


# what answers each code, and what its entry said nothing of: who followed docs_url read of endpoints and destinations
@pytest.mark.parametrize(
    ("code", "told"),
    [
        (errors.FEATURE_RETIRED, "tracking key was revoked"),
        (errors.AMOUNT_INVALID, "another currency, or finer"),
        (errors.PLATFORM_CONNECTION_REQUIRED, "no connected ad account"),
        (errors.CONNECTION_NOT_READY, "was ended"),
    ],
)
def test_an_entry_speaks_of_each_case_in_which_its_code_is_answered(
    client: FlaskClient, code: errors.Code, told: str
) -> None:
    entry = client.get("/docs/errors").text.partition(f'id="{code.code}"')[2].partition("</section>")[0]
    assert told in " ".join(entry.split())
