"""Reading TikTok's API for Business: one object, or a whole list page by page, over a transport that may fail."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from connectors.ad_platform import Row
from connectors.errors import Malformed
from connectors.tiktok_dialect import TikTokDialect
from connectors.transport import Request, Transport

VERSION = "open_api/v1.3"
PAGE = 1000
RESTARTS = 3
REPEATS = 3

Identity = Callable[[Row], Hashable]


class Restless(Malformed):
    """The rows of a list moved from page to page each time that it was read; a list of one page has nowhere to move."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list. Numbers count from 1; `size` is what the page could hold, `total` the rows of all pages."""

    number: int
    size: int
    total: int
    rows: list[Row]

    @property
    def is_whole(self) -> bool:
        """Whether it holds what its place in the list makes it hold."""
        return len(self.rows) == max(0, min(self.size, self.total - (self.number - 1) * self.size))


@dataclass(repr=False)
class TikTokApi:
    """The API of one token. Raises ConnectorErrors only."""

    base_url: str
    token: str
    transport: Transport

    def __post_init__(self) -> None:
        self._dialect = TikTokDialect()

    def get(self, path: str, params: Mapping[str, str]) -> Row:
        """What is told of one thing."""
        return self._data(Request("GET", self._address(path), params=params, headers=self._headers()))

    def change(self, path: str, document: Row) -> None:
        """Set members of something; returns when TikTok has confirmed, also that it was so already."""
        self._send(Request("POST", self._address(path), document=document, headers=self._headers()))

    def walk(self, path: str, params: Mapping[str, str], identity: Identity, *, grows: bool = False) -> list[Row]:
        """Every row of a list, each once, by what `identity` tells them apart.

        The pages of a list are positions in it: what is made or deleted while it is read moves rows from page to page.
        Such a walk begins anew. Of a list that only `grows` what came before counts too while its length is the same.
        Raises Restless for one that never holds still.
        """
        rows: dict[Hashable, Row] = {}
        length = None
        for _ in range(RESTARTS + 1):
            found, total = self._walk_once(path, params, identity)
            rows, length = rows | found if grows and total == length else found, total
            if len(rows) == length:
                return list(rows.values())
        raise Restless("tiktok", "the list changed each time while it was read")

    def _walk_once(
        self, path: str, params: Mapping[str, str], identity: Identity
    ) -> tuple[dict[Hashable, Row], int | None]:
        """The rows, and how many all pages say that there are; None where they do not agree."""
        first = self._page(path, params, 1)
        rows = {identity(row): row for row in first.rows}
        for number in range(2, -(-first.total // first.size) + 1):
            page = self._page(path, params, number)
            if (page.total, page.size) != (first.total, first.size):
                return {}, None
            rows |= {identity(row): row for row in page.rows}
        return rows, first.total

    def _page(self, path: str, params: Mapping[str, str], number: int) -> Page:
        """The page of that number, asked for again when another one or a part of it came."""
        for _ in range(REPEATS + 1):
            page = _read(self.get(path, {**params, "page": str(number), "page_size": str(PAGE)}))
            if page.number == number and page.is_whole:
                return page
        raise Malformed("tiktok", "a page that never comes, or never whole")

    def _data(self, request: Request) -> Row:
        data = self._send(request).get("data")
        if not isinstance(data, dict):
            raise Malformed("tiktok", "an answer without data")
        return data

    def _send(self, request: Request) -> Mapping[str, Any]:
        body: Mapping[str, Any] = self.transport.send(request, self._dialect, secrets=(self.token,)).body
        return body

    def _address(self, path: str) -> str:
        return f"{self.base_url}/{VERSION}/{path.strip('/')}/"

    def _headers(self) -> Mapping[str, str]:
        return {"Access-Token": self.token}


def packed(value: Any) -> str:
    """A list or an object as it travels in a query."""
    return json.dumps(value, separators=(",", ":"))


def rows_of(data: Mapping[str, Any]) -> list[Row]:
    """The rows of an answer."""
    rows = data.get("list")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Malformed("tiktok", "a list without rows")
    return rows


def _read(data: Mapping[str, Any]) -> Page:
    told = data.get("page_info")
    if not isinstance(told, dict):
        raise Malformed("tiktok", "a page that does not tell which it is")
    number, size, total = (_count(told.get(name)) for name in ("page", "page_size", "total_number"))
    if not size:
        raise Malformed("tiktok", "a page without a size")
    return Page(number, size, total, rows_of(data))


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Malformed("tiktok", "a page whose place cannot be read")
    return value
