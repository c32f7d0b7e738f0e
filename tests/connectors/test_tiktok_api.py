"""Walking TikTok's lists: a page that came twice or cut neither loses nor doubles a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask, jsonify, request

from connectors import tiktok_api
from connectors.errors import ConnectorError, Malformed
from connectors.tiktok_api import RESTARTS, TikTokApi
from connectors.transport import Transport
from tests.fixtures.sandbox import served

Teller = Callable[[int, int], dict[str, Any]]


class List:
    """A list of `rows`, told page by page; `spoil` may change what is told at the given call."""

    def __init__(self) -> None:
        self.rows = list(range(7))
        self.calls = 0
        self.spoil: Callable[[List, dict[str, Any]], dict[str, Any]] = lambda _, data: data

    def page(self, number: int, size: int) -> dict[str, Any]:
        rows = [{"id": row} for row in self.rows[(number - 1) * size : number * size]]
        told = {"page": number, "page_size": size, "total_number": len(self.rows), "total_page": 99}
        return {"list": rows, "page_info": told}

    def tell(self) -> dict[str, Any]:
        self.calls += 1
        asked = (int(request.args["page"]), int(request.args["page_size"]))
        return self.spoil(self, self.page(*asked))


@pytest.fixture
def told() -> List:
    return List()


@pytest.fixture
def walk(told: List, transport: Transport, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], list[int]]]:
    monkeypatch.setattr(tiktok_api, "PAGE", 3)
    app = Flask("lists")
    app.add_url_rule("/open_api/v1.3/ad/get/", "ads", lambda: jsonify(code=0, data=told.tell()))
    with served(app) as url:
        api = TikTokApi(url, "t", transport)
        yield lambda: [row["id"] for row in api.walk("ad/get", {}, lambda row: row["id"])]


def test_every_page_is_read_and_the_last_one_ends_the_walk(told: List, walk: Callable[[], list[int]]) -> None:
    assert (walk(), told.calls) == (list(range(7)), 3)
    told.rows = []
    assert (walk(), told.calls) == ([], 4)
    told.rows = [1, 2, 3]
    assert (walk(), told.calls) == ([1, 2, 3], 5)


def at(call: int, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    return lambda told, data: change(data) if told.calls == call else data


@pytest.mark.parametrize(
    "change",
    [
        lambda data: {"list": [{"id": 0}, {"id": 1}, {"id": 2}], "page_info": {**data["page_info"], "page": 1}},
        lambda data: {**data, "list": data["list"][:1]},
        lambda data: {**data, "list": []},
        lambda data: {**data, "list": [*data["list"], {"id": 99}]},
    ],
    ids=["the page before", "a part of it", "nothing of it", "too much"],
)
def test_a_page_that_came_wrong_is_asked_for_again(
    told: List, walk: Callable[[], list[int]], change: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    told.spoil = at(2, change)
    assert (walk(), told.calls) == (list(range(7)), 4)


def test_rows_that_move_while_the_list_is_read_begin_the_walk_anew(told: List, walk: Callable[[], list[int]]) -> None:
    def removed(told: List, data: dict[str, Any]) -> dict[str, Any]:
        if told.calls == 1:
            # what stood first is gone, so the fourth row now stands on the page that was read
            told.rows.remove(0)
        return data

    told.spoil = removed
    assert (walk(), told.calls) == ([1, 2, 3, 4, 5, 6], 4)


def test_a_row_that_took_the_place_of_another_begins_the_walk_anew(told: List, walk: Callable[[], list[int]]) -> None:
    def swapped(told: List, data: dict[str, Any]) -> dict[str, Any]:
        if told.calls == 1:
            # as many as before, but the third row stands on the second page too, and the last on none yet
            told.rows = [9, 0, 1, 2, 3, 4, 5]
        return data

    told.spoil = swapped
    assert walk() == [9, 0, 1, 2, 3, 4, 5]
    assert told.calls == 6


def test_pages_that_shrink_on_the_way_begin_the_walk_anew(told: List, walk: Callable[[], list[int]]) -> None:
    def smaller(told: List, data: dict[str, Any]) -> dict[str, Any]:
        return told.page(int(request.args["page"]), 2) if told.calls == 2 else data

    told.spoil = smaller
    assert (walk(), told.calls) == (list(range(7)), 5)


def test_a_list_that_never_holds_still_is_given_up(told: List, walk: Callable[[], list[int]]) -> None:
    told.spoil = lambda told, data: told.rows.append(len(told.rows)) or data  # type: ignore[func-returns-value]
    with pytest.raises(Malformed):
        walk()
    assert told.calls == 2 * (RESTARTS + 1)


@pytest.mark.parametrize(
    "data",
    [
        {}, {"list": []}, {"list": {}, "page_info": {}}, {"list": [], "page_info": {"page": 1, "page_size": 3}},
        {"list": [], "page_info": {"page": 1, "page_size": 0, "total_number": 0}},
        {"list": [], "page_info": {"page": 1, "page_size": 3, "total_number": True}},
        {"list": [3], "page_info": {"page": 1, "page_size": 3, "total_number": 1}},
    ],
)  # fmt: skip
def test_a_page_that_cannot_be_read_is_malformed(told: List, walk: Callable[[], list[int]], data: Any) -> None:
    told.spoil = lambda _, __: data
    with pytest.raises(Malformed):
        walk()


@pytest.mark.parametrize("body", [[], {}, {"code": "0"}, {"code": None}, {"code": 0}, {"code": 0, "data": []}])
def test_an_answer_without_a_code_or_data_is_a_connectors_error(transport: Transport, body: Any) -> None:
    app = Flask("odd")
    app.add_url_rule("/open_api/v1.3/ad/get/", "ads", lambda: jsonify(body))
    with served(app) as url, pytest.raises(ConnectorError):
        TikTokApi(url, "t", transport).get("ad/get", {})


def test_a_change_of_nothing_is_no_failure(transport: Transport) -> None:
    app = Flask("odd")
    app.add_url_rule("/open_api/v1.3/ad/update/", "ads", lambda: jsonify(code=40012), methods=["POST"])
    with served(app) as url:
        TikTokApi(url, "t", transport).change("ad/update", {})
