"""A walk through a list ends: whatever its cursors are, no connector asks for ever."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from connectors.apps import OF_SANDBOX
from connectors.cursors import REPEATED_PAGES, Steps
from connectors.errors import Malformed
from connectors.google_api import GoogleApi
from connectors.meta_graph import MetaGraph
from connectors.shopify import Shopify
from connectors.stripe_lists import StripeLists
from connectors.transport import Answer, Transport
from tests.connectors.test_malformed import LIST, Scripted

NOWHERE = "http://127.0.0.1:9"
Page = dict[str, Any]


def meta(cursor: str) -> Page:
    return {"data": [{"id": cursor}], "paging": {"cursors": {"after": cursor}, "next": f"{NOWHERE}/next"}}


def google(cursor: str) -> Page:
    return {"results": [{"campaign": {"id": cursor}}], "nextPageToken": cursor}


def stripe(cursor: str) -> Page:
    return {"object": "list", "has_more": True, "data": [{"id": cursor}]}


def shopify(cursor: str) -> Page:
    return {"data": {"orders": {**LIST, "pageInfo": {"hasNextPage": True, "endCursor": cursor}}}}


def walk_google(transport: Transport) -> object:
    api = GoogleApi(NOWHERE, "t", OF_SANDBOX, transport, customer_id="1")
    # the hour of a token is not what is walked here
    api._access, api._good_until = "t", float("inf")
    return api.search("SELECT campaign.id FROM campaign")


WALKS: dict[str, tuple[Callable[[str], Page], Callable[[Transport], object]]] = {
    "meta": (meta, lambda transport: MetaGraph(NOWHERE, "t", transport).walk("act_1/ads", {})),
    "google": (google, walk_google),
    "stripe": (stripe, lambda transport: StripeLists(NOWHERE, "t", transport).walk("charges", {})),
    "shopify": (shopify, lambda transport: Shopify(NOWHERE, "t", "shop", transport).orders()),
}


@pytest.mark.parametrize("name", WALKS)
def test_pages_that_lead_round_in_a_circle_are_no_list(name: str) -> None:
    # a cursor was compared with the one before it alone, so that two pages that name each other were read for ever
    page, walk = WALKS[name]
    answers = [Answer(200, {}, page(cursor), True) for cursor in 20 * ("a", "b", "c")]
    with pytest.raises(Malformed, match="does not move on"):
        walk(Scripted(answers))
    assert 60 - len(answers) == 3 + REPEATED_PAGES + 1


def test_pages_that_came_twice_are_passed_when_the_list_goes_on() -> None:
    steps = Steps("meta", None)
    for cursor in ("a", *REPEATED_PAGES * "a", "b", *REPEATED_PAGES * "b", "c"):
        steps.to(cursor)
    with pytest.raises(Malformed):
        for cursor in "abca":
            steps.to(cursor)


def stripe_ends(told: Page) -> Page:
    return {"object": "list", "data": [{"id": "a"}], **told}


def shopify_ends(told: Page) -> Page:
    return {"data": {"orders": {**LIST, "pageInfo": {"endCursor": None, **told}}}}


@pytest.mark.parametrize(
    ("name", "page"),
    [
        *(("stripe", stripe_ends(told)) for told in ({}, {"has_more": None}, {"has_more": "true"})),
        *(("shopify", shopify_ends({"hasNextPage": told})) for told in (None, "true", 1)),
    ],
)
def test_a_page_that_does_not_say_whether_another_follows_ends_no_list(name: str, page: Page) -> None:
    # a first page had been taken for the whole list, and nothing behind it was ever asked for
    _, walk = WALKS[name]
    with pytest.raises(Malformed, match="whether another follows"):
        walk(Scripted([Answer(200, {}, page, True)]))
