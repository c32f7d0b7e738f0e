"""What a creative of Meta's shows and where it leads, wherever Meta writes it."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask, jsonify, request

from connectors.ad_platform import Row
from connectors.meta_ads import MetaAds
from connectors.meta_rows import ad_account, creative, linked_ad
from connectors.transport import Transport
from tests.fixtures.sandbox import served

SITE = "https://shop.example/boots"
FEED = {
    "ad_formats": ["AUTOMATIC_FORMAT"],
    "images": [{"hash": "a1"}],
    "videos": [{"video_id": "7", "thumbnail_url": "https://cdn.example/1?signed=x"}, {"video_id": "8"}],
    "titles": [{"text": "Warm boots"}, {"text": "Boots"}],
    "bodies": [{"text": "Made to last"}],
    "link_urls": [{"website_url": SITE, "display_url": "shop.example"}],
    "call_to_action_types": ["SHOP_NOW"],
}
PAGE = {"page_id": "1"}


def told(**members: Any) -> Row:
    return {"id": "5", "object_type": "SHARE", "object_story_spec": PAGE, **members}


@pytest.mark.parametrize(("told", "status"), [(1, "ACTIVE"), (9, "ACTIVE"), (2, "2"), (None, "None")])
def test_an_account_is_active_while_its_ads_may_run(told: int | None, status: str) -> None:
    row = ad_account({"account_id": "1", "currency": "USD", "timezone_name": "UTC", "account_status": told})
    assert row["status"] == status


def test_an_ad_whose_parts_meta_chooses_shows_and_leads_to_what_its_feed_holds() -> None:
    row = creative(told(asset_feed_spec=FEED))
    names = ("format", "video_id", "title", "body", "call_to_action", "landing_url")
    assert [row[name] for name in names] == ["video", "7", "Warm boots", "Made to last", "SHOP_NOW", SITE]
    signed = {**FEED, "videos": [{"video_id": "7", "thumbnail_url": "https://cdn.example/1?y"}, {"video_id": "8"}]}
    assert creative(told(asset_feed_spec=signed))["content_hash"] == row["content_hash"]
    other = {**FEED, "titles": [{"text": "Warm boots"}, {"text": "Shoes"}]}
    assert creative(told(asset_feed_spec=other))["content_hash"] != row["content_hash"]


def test_what_a_creative_shows_itself_comes_before_what_its_feed_holds() -> None:
    own = {"video_id": "9", "title": "Sale", "body": "Today", "call_to_action_type": "LEARN_MORE"}
    row = creative(told(**own, asset_feed_spec=FEED))
    assert [row[name] for name in ("video_id", "title", "body", "call_to_action")] == list(own.values())


@pytest.mark.parametrize(
    ("members", "form", "landing"),
    [
        ({"asset_feed_spec": {**FEED, "ad_formats": ["CAROUSEL_IMAGE"], "videos": []}}, "carousel", SITE),
        ({"asset_feed_spec": {"ad_formats": ["SINGLE_IMAGE"], "images": [{"hash": "a1"}]}}, "image", None),
        ({"object_story_spec": {**PAGE, "template_data": {"link": SITE}}}, "image", SITE),
        ({"object_story_spec": {**PAGE, "template_data": {"link": SITE, "child_attachments": [{}]}}}, "carousel", SITE),
        ({"video_id": "7"}, "video", None),
        ({"object_story_spec": {**PAGE, "video_data": {"video_id": "7"}}}, "video", None),
        ({"asset_feed_spec": {**FEED, "ad_formats": ["CAROUSEL"]}}, "carousel", SITE),
        # a post of the page's, of which Meta tells no story
        ({"object_type": "VIDEO", "object_story_spec": None}, "video", None),
        ({"object_story_spec": {**PAGE, "link_data": {"link": SITE}}, "asset_feed_spec": {}}, "image", SITE),
    ],
)
def test_form_and_landing_of_a_creative(members: dict[str, Any], form: str, landing: str | None) -> None:
    row = creative(told(**members))
    assert (row["format"], row["landing_url"]) == (form, landing)
    ad = linked_ad({"id": "1", "name": "n", "campaign": {"name": "c"}, "creative": told(**members)})
    assert ad.landing_url == landing


def test_a_feed_is_asked_for_of_creatives_and_of_ads_with_their_links(transport: Transport) -> None:
    app = Flask("graph")
    app.add_url_rule("/v26.0/act_1", "a", lambda: jsonify(account_id="1", currency="USD", timezone_name="UTC"))

    @app.get("/v26.0/act_1/<edge>")
    def rows(edge: str) -> Any:
        shown = told(asset_feed_spec=FEED) if "asset_feed_spec" in request.args["fields"] else told()
        parents = {"adset_id": "3", "campaign": {"name": "c"}, "campaign_id": "4"}
        ad = {"id": "2", "name": "n", "status": "ACTIVE", "creative": shown, **parents}
        return jsonify(data={"ads": [ad], "adcreatives": [shown]}.get(edge, []))

    with served(app) as url:
        account = MetaAds(url, "t", "1", transport)
        found = account.entities()
        assert (found["ads"][0]["landing_url"], found["creatives"][0]["format"]) == (SITE, "video")
        assert [one.landing_url for one in account.linked_ads()] == [SITE]
