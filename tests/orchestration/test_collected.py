"""What trackers sent reaches the lake once each, wherever a landing is cut short, and goes with its person."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlalchemy as sa

from api.db import now, transaction
from api.erased import Person
from api.erased_records import redact_records
from api.models import CollectedEvent
from api.warehouse_ids import identifier_id
from orchestration import collected
from orchestration.collected import land_collected
from orchestration.erased_lake import rewrite_lake
from orchestration.lake import Lake
from tests.orchestration.test_importer import PROFILE, with_profile

ANN = identifier_id(PROFILE, "anonymous_id", "browser-of-ann")


@pytest.fixture
def lake(home: Path) -> Lake:
    made = Lake(home / "lake")
    made.prepare()
    return made


def kept(url: str, *ids: str, anonymous_id: str = "browser-of-bob", **more: Any) -> None:
    at = now()
    told = {"profile_id": PROFILE, "event_name": "page_view", "anonymous_id": anonymous_id, **more}
    with transaction(url) as session:
        for one in ids:
            body = {**told, "event_id": one, "occurred_at": at.isoformat(), "received_at": at.isoformat()}
            session.add(
                CollectedEvent(
                    profile_id=PROFILE,
                    event_id=one,
                    event_name="page_view",
                    occurred_at=at,
                    visitor=identifier_id(PROFILE, "anonymous_id", anonymous_id),
                    visit="v",
                    body=body,
                )
            )


def bodies(url: str) -> list[Mapping[str, Any] | None]:
    with transaction(url) as session:
        return list(session.scalars(sa.select(CollectedEvent.body).order_by(CollectedEvent.id)))


def landed(lake: Lake, columns: str = "event_id") -> list[tuple[Any, ...]]:
    found = f"select {columns} from read_parquet(?, union_by_name = true) order by _seq, _line"
    return duckdb.execute(found, [f"{lake.raw}/page_events/**/*.parquet"]).fetchall()


def test_events_land_once_in_the_order_they_came_and_leave_the_database(database_url: str, lake: Lake) -> None:
    with_profile(database_url)
    kept(database_url, "b", "a")
    assert [landing.rows_loaded for landing in land_collected(database_url, lake)] == [2]
    assert bodies(database_url) == [None, None]
    kept(database_url, "c")
    land_collected(database_url, lake)
    assert land_collected(database_url, lake) == []
    assert landed(lake) == [("b",), ("a",), ("c",)]


@pytest.mark.parametrize("has_file", [False, True], ids=["before its file", "before its events were emptied"])
def test_a_landing_that_was_cut_short_is_finished_with_the_same_events(
    sqlite_url: str, lake: Lake, monkeypatch: pytest.MonkeyPatch, has_file: bool
) -> None:
    with_profile(sqlite_url)
    kept(sqlite_url, "a", "b")
    collected._assign(sqlite_url)
    if has_file:
        (batch,) = collected._named(sqlite_url)
        names = {"dataset": "page_events", "profile_id": PROFILE, "source": "app", "batch": batch.name}
        lake.land(**names, records=[body for body in bodies(sqlite_url) if body])
    kept(sqlite_url, "c")
    monkeypatch.setattr(collected, "LARGEST_BATCH", 2)
    land_collected(sqlite_url, lake)
    assert landed(lake) == [("a",), ("b",), ("c",)]
    assert bodies(sqlite_url) == [None, None, None]


def test_the_erased_leave_landed_events_waiting_events_and_the_digests_beside_them(sqlite_url: str, lake: Lake) -> None:
    with_profile(sqlite_url)
    shown = "linked@example.com"
    linked = identifier_id(PROFILE, "email", shown)
    kept(sqlite_url, "old", anonymous_id="browser-of-ann", session_id="session-of-ann", linked_identifier_id=linked)
    land_collected(sqlite_url, lake)
    kept(sqlite_url, "new", anonymous_id="browser-of-ann", session_id="session-of-ann", x_raw={"name": "Ann"})
    kept(sqlite_url, "other")
    ids = frozenset({ANN, linked})
    ann = Person(PROFILE, b"secret", ids, ids)
    ann.move("email", shown)
    values = {"anonymous_id": ["browser-of-ann"], "email": [shown]}
    assert rewrite_lake(lake, ann, values)["page_events"] == 1
    with transaction(sqlite_url) as session:
        assert redact_records(session, ann) == 1
    land_collected(sqlite_url, lake)
    new_name = identifier_id(PROFILE, "email", ann.name("email", shown))
    rows = landed(lake, "event_id, anonymous_id, session_id, linked_identifier_id, _extra")
    hidden = (ann.name("anonymous_id", "browser-of-ann"), ann.name("session_id", "session-of-ann"))
    assert rows == [
        ("old", *hidden, new_name, None),
        ("new", *hidden, None, '{"x_raw": null}'),
        ("other", "browser-of-bob", None, None, None),
    ]
    with transaction(sqlite_url) as session:
        left = session.execute(sa.select(CollectedEvent.visitor, CollectedEvent.visit).order_by(CollectedEvent.id))
        bob = identifier_id(PROFILE, "anonymous_id", "browser-of-bob")
        assert [tuple(row) for row in left] == [(None, None), (None, None), (bob, "v")]


def test_an_event_whose_id_tells_the_person_gets_another_here_too(sqlite_url: str, lake: Lake) -> None:
    with_profile(sqlite_url)
    shown = "ann@example.com"
    ids = frozenset({identifier_id(PROFILE, "email", shown)})
    ann = Person(PROFILE, b"secret", ids, ids)
    ann.learn("email", shown)
    told = [f"signup-{shown}", f"signup-{shown.title()}", "signup-ann%40example.com"]
    others = ["signup-joann@example.com", "signup-4"]
    for event_id in [*told, *others]:
        kept(sqlite_url, event_id)
    land_collected(sqlite_url, lake)
    with transaction(sqlite_url) as session:
        redact_records(session, ann)
    with transaction(sqlite_url) as session:
        left = set(session.scalars(sa.select(CollectedEvent.event_id)))
    assert len(left) == 5
    assert [one for one in told if one in left] == []
    assert {*others} <= left
