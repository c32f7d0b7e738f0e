"""What is told of an entity is read once for a whole level, and for a page only where a level is too large to keep."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from api.served import ProfileFacts
from api.v1.campaigns import details
from api.v1.campaigns.details import TOLD, add_details
from tests.fixtures.counting_reader import CountingReader

PROFILE = ProfileFacts(7, "UTC", "USD", 2, "1", 30, 7, None, None)
TYPES = {"daily_budget_minor": "bigint"}


def told(key: int) -> dict[str, Any]:
    """A third of the entities have no budget; names need escaping."""
    budget = None if key % 3 == 0 else 2**53 + key
    return {name: f'{name} "{key}" ñ' for name in TOLD} | {"daily_budget_minor": budget}


def reader(*, mebibytes: int = 1) -> CountingReader:
    """Five campaigns and one ad of the profile, and a campaign of another."""
    connection = duckdb.connect()
    columns = ", ".join(f"{name} {TYPES.get(name, 'text')}" for name in TOLD)
    connection.execute(f"create table entities (profile_key int, level text, entity_key bigint, {columns})")
    places = [*((7, "campaign", key) for key in range(1, 6)), (7, "ad", 6), (8, "campaign", 9)]
    for profile, level, key in places:
        marks = ", ".join("?" * (3 + len(TOLD)))
        connection.execute(f"insert into entities values ({marks})", [profile, level, key, *told(key).values()])
    return CountingReader(connection, mebibytes=mebibytes)


def page(of: CountingReader, level: str, *keys: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [{"entity_key": key, "clicks": 1} for key in keys]
    add_details(of, PROFILE, level, rows)
    return rows


def test_a_level_is_read_once_whatever_page_is_asked_for() -> None:
    some = reader()
    assert page(some, "campaign", 3, 1) == [{"entity_key": key, "clicks": 1, **told(key)} for key in (3, 1)]
    asked = some.asked
    assert page(some, "campaign", 5) == [{"entity_key": 5, "clicks": 1, **told(5)}]
    assert some.asked == asked
    assert page(some, "ad", 6) == [{"entity_key": 6, "clicks": 1, **told(6)}]
    assert some.asked == 2 * asked
    assert page(some, "campaign") == []


@pytest.mark.parametrize("most, mebibytes", [(4, 1), (20_000, 0)])
def test_of_a_level_too_large_to_keep_each_page_is_read(
    monkeypatch: pytest.MonkeyPatch, most: int, mebibytes: int
) -> None:
    monkeypatch.setattr(details, "MOST_KEPT", most)
    some = reader(mebibytes=mebibytes)
    for keys in ((3, 1), (5,)):
        asked, given = some.asked, some.given
        assert page(some, "campaign", *keys) == [{"entity_key": key, "clicks": 1, **told(key)} for key in keys]
        assert some.asked > asked
        # how many there are is one row more, and told again where even that is not kept
        assert some.given - given <= len(keys) + 1


def test_what_is_kept_knows_its_size() -> None:
    some = reader()
    page(some, "campaign", 1)
    kept = some.shelf.find(("details", 7, "campaign"))
    assert kept is not None
    written = kept.written  # type: ignore[attr-defined]
    assert sorted(written) == [1, 2, 3, 4, 5]
    assert kept.size > sum(len(text) for text in written.values())
