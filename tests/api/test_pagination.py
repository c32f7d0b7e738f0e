"""Cursors open only the list they were made for."""

from __future__ import annotations

import base64
import hmac
from dataclasses import replace
from datetime import date
from typing import Any

import orjson
import pytest
import time_machine
from flask.testing import FlaskClient

from api import errors, pagination
from api.pagination import Listing, Place

KEY = b"k" * 32
LISTING = Listing("/campaigns", "profile-1", {"model": "linear", "date_from": date(2026, 3, 1), "level": None})
POSITION = [-15033, -2, 0, -3050, "aaaaaaaa-0000-8000-8000-000000000011"]


def _refused(cursor: str, listing: Listing = LISTING, key: bytes = KEY) -> bool:
    with pytest.raises(errors.ApiError) as refusal:
        pagination.read(key, listing, cursor)
    return refusal.value.code is errors.INVALID_PARAMETER


def _bytes(cursor: str) -> bytes:
    return base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))


def test_a_cursor_gives_back_its_place() -> None:
    cursor = pagination.issue(KEY, LISTING, POSITION, "snapshot-1")
    assert pagination.read(KEY, LISTING, cursor) == Place(tuple(POSITION), "snapshot-1")


def test_filters_are_compared_by_what_they_say_not_by_their_order() -> None:
    cursor = pagination.issue(KEY, LISTING, POSITION, None)
    turned = replace(LISTING, filters=dict(reversed(LISTING.filters.items())))
    assert pagination.read(KEY, turned, cursor).snapshot_id is None


@pytest.mark.parametrize(
    "other",
    [
        {"route": "/orders"},
        {"profile_id": "profile-2"},
        {"filters": {}},
        {"filters": {**LISTING.filters, "model": "x"}},
    ],
)
def test_a_cursor_of_another_list_is_refused(other: dict[str, Any]) -> None:
    assert _refused(pagination.issue(KEY, replace(LISTING, **other), POSITION, None))


def test_a_cursor_signed_with_another_key_is_refused() -> None:
    assert _refused(pagination.issue(b"other", LISTING, POSITION, None))


def test_a_cursor_tells_nothing_that_is_in_it() -> None:
    with time_machine.travel("2026-11-16T12:00:00Z", tick=False):
        raw = _bytes(pagination.issue(KEY, LISTING, POSITION, "snapshot-1"))
        beside = _bytes(pagination.issue(KEY, LISTING, [*POSITION[:-1], POSITION[-1][:-1] + "2"], "snapshot-1"))
    written = orjson.dumps([LISTING.digest(), POSITION, "snapshot-1"])
    runs = {written[at : at + 4] for at in range(len(written) - 3)}
    assert not [run for run in runs if run in raw]
    # places that differ in their last sign are told by no bytes in common
    assert sum(a == b for a, b in zip(raw, beside, strict=True)) < len(raw) // 8


def test_an_altered_cursor_is_refused() -> None:
    raw = _bytes(pagination.issue(KEY, LISTING, POSITION, None))
    for at in range(len(raw)):
        forged = raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]
        assert _refused(base64.urlsafe_b64encode(forged).decode().rstrip("="))
    assert _refused(base64.urlsafe_b64encode(raw[:-1]).decode().rstrip("="))


def test_a_cursor_of_an_older_release_is_refused() -> None:
    payload = orjson.dumps([LISTING.digest(), 2**33, None, POSITION])
    signed = hmac.digest(KEY, b"cursor\0" + payload, "sha256") + payload
    assert _refused(base64.urlsafe_b64encode(signed).decode().rstrip("="))


def test_one_place_has_one_cursor() -> None:
    with time_machine.travel("2026-11-16T12:00:00Z", tick=False):
        made = [pagination.issue(KEY, LISTING, POSITION, "snapshot-1") for _ in range(2)]
    assert made[0] == made[1]


@pytest.mark.parametrize("text", ["", "=", "AAAA", "not base64!", "é", "A" * 2001, "%00", "\x00"])
def test_what_is_no_cursor_is_refused(text: str) -> None:
    assert _refused(text)


def test_a_cursor_ends_after_24_hours() -> None:
    with time_machine.travel("2026-11-16T12:00:00Z", tick=False) as clock:
        cursor = pagination.issue(KEY, LISTING, POSITION, None)
        clock.shift(24 * 3600 - 1)
        assert pagination.read(KEY, LISTING, cursor).position == tuple(POSITION)
        clock.shift(1)
        assert _refused(cursor)


def test_a_cursor_is_made_for_a_query_string() -> None:
    cursor = pagination.issue(KEY, LISTING, POSITION, "snapshot-1")
    assert set(cursor) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


def test_the_document_says_where_the_cursor_of_every_list_stands(client: FlaskClient) -> None:
    document = client.get("/openapi.json").get_json()
    lists = 0
    for path, operations in document["paths"].items():
        asked = {one["name"]: one for one in operations.get("get", {}).get("parameters", [])}
        if "cursor" in asked:
            lists += 1
            answer = operations["get"]["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
            members = document["components"]["schemas"][answer.rpartition("/")[2]]["properties"]
            told = "`pagination.cursor` of" if "pagination" in members else "`meta.next_cursor` where"
            assert told in asked["cursor"]["description"], path
            # nobody was told that a kept cursor ends, and the settings said that it lives as long as its snapshot
            assert "is good for 24 hours" in asked["cursor"]["description"], path
    assert lists > 30
