"""Google's ad ids are unique within an ad group alone: one id of two ad groups is one ad with the figures of both."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from connectors import google_rows
from connectors.ad_platform import Row
from connectors.apps import App
from connectors.errors import Refused
from connectors.google_ads import GoogleAds
from connectors.transport import Answer, Request
from data_contracts.contract import load
from tests.connectors.test_malformed import GOOGLE_ROW, Scripted
from tests.fixtures.sandbox import TODAY

ROW: dict[str, Any] = GOOGLE_ROW
BARE = {name: ROW[name] for name in ("campaign", "adGroup", "adGroupAd", "segments")}


def customer(*answers: list[dict[str, Any]]) -> GoogleAds:
    """A customer whose streams answer one after another."""
    wire = Scripted([Answer(200, {}, [{"results": rows}], True) for rows in answers])
    found = GoogleAds("http://127.0.0.1:9", "t", "1", wire, App("c", "s", "d"), currency="EUR")
    found._api._access, found._api._good_until = "a", float("inf")
    return found


def of(group: str, **metrics: object) -> dict[str, Any]:
    return {**BARE, "adGroup": {**BARE["adGroup"], "id": group}, "metrics": metrics}


def shown(group: str, micros: int) -> dict[str, Any]:
    return of(group, costMicros=str(micros), impressions="100", clicks="10")


def delivered(*answers: list[dict[str, Any]]) -> list[Row]:
    ((_, rows),) = customer(*answers).delivery(TODAY, TODAY)
    return rows


def test_what_both_spent_and_sold_is_the_ads_under_the_group_that_spent_more() -> None:
    small, large = shown("71", 12_000_000), shown("72", 30_000_000)
    claims = [of("71", conversions=1, conversionsValue=10), of("72", conversions=2, conversionsValue=20)]
    # a row that came twice is one row
    (row,) = delivered([small, large, small], [], claims, [])
    assert (row["ad_id"], row["ad_set_id"], row["spend"]) == ("4", "72", Decimal(42))
    assert (row["impressions"], row["clicks"]) == (200, 20)
    assert (row["platform_conversions"], row["platform_conversion_value"]) == (Decimal(3), Decimal(30))


def test_a_sale_of_a_group_that_was_not_shown_that_day_counts_too() -> None:
    (row,) = delivered([shown("71", 1_000_000)], [], [of("72", conversions=2, conversionsValue=20)], [])
    assert (row["ad_set_id"], row["spend"], row["platform_conversions"]) == ("71", Decimal(1), Decimal(2))


def test_a_network_has_what_both_spent_there() -> None:
    rows = list(customer([shown("71", 1_000_000), shown("72", 2_000_000)]).breakdowns(TODAY, TODAY))
    assert [(row["ad_id"], row["value"], row["spend"]) for row in rows] == [("4", "google_search", Decimal(3))]


def test_the_ad_itself_is_one_and_is_that_which_may_still_be_shown() -> None:
    ad = {**ROW["adGroupAd"], "status": "REMOVED"}
    rows = [{**ROW, "adGroup": {**ROW["adGroup"], "id": "71"}, "adGroupAd": ad}, ROW]
    for found in (rows, rows[::-1]):
        account = GoogleAds("http://127.0.0.1:9", "t", "1", Scripted(_pages(found)), App("c", "s", "d"))
        account._api._access, account._api._good_until = "a", float("inf")
        ads = [row for row in account.entities()["ads"] if row["ad_id"] == "4"]
        assert [(row["ad_set_id"], row["status"]) for row in ads] == [("3", "ACTIVE")]


def placed(group: str, status: str) -> dict[str, Any]:
    name = f"customers/1/adGroupAds/{group}~4"
    return {**ROW, "adGroupAd": {**ROW["adGroupAd"], "status": status, "resourceName": name}}


class Told(Scripted):
    """A wire that tells the ad in these places; `changed` are the names it was told, each request whole or not at all.

    Changes in the ad group `closed` are refused.
    """

    def __init__(self, places: list[dict[str, Any]], closed: str = "") -> None:
        super().__init__([])
        self.places, self.closed, self.changed = places, closed, list[tuple[str, str]]()

    def _exchange(self, request: Request, provider: str) -> Answer:
        if not request.url.endswith(":mutate"):
            return Answer(200, {}, {"results": self.places}, True)
        updates = [one["update"] for one in (request.document or {})["operations"]]
        names = [update["resourceName"] for update in updates]
        if any(name.endswith(f"/{self.closed}~4") for name in names):
            return Answer(400, {}, {"error": {"status": "INVALID_ARGUMENT", "message": "not there"}}, True)
        self.changed += [(name.rpartition("/")[2], one["status"]) for name, one in zip(names, updates, strict=True)]
        return Answer(200, {}, {"results": [{"resourceName": name} for name in names]}, True)


def live(*places: tuple[str, str], closed: str = "") -> tuple[GoogleAds, Told]:
    wire = Told([placed(*place) for place in places], closed)
    found = GoogleAds("http://127.0.0.1:9", "t", "1", wire, App("c", "s", "d"))
    found._api._access, found._api._good_until = "a", float("inf")
    return found, wire


@pytest.mark.parametrize(
    ("places", "status"),
    [
        ([("71", "REMOVED"), ("72", "ENABLED")], "ACTIVE"),
        ([("71", "PAUSED"), ("72", "ENABLED")], "ACTIVE"),
        ([("71", "REMOVED"), ("72", "PAUSED")], "PAUSED"),
    ],
)
def test_an_ad_of_two_groups_is_live_as_that_which_may_still_be_shown(
    places: list[tuple[str, str]], status: str
) -> None:
    for found in (places, places[::-1]):
        google, _ = live(*found)
        state = google.state("ad", "4")
        assert state is not None
        assert state.status == status


def test_an_ad_of_two_groups_rests_and_runs_again_in_both_but_where_it_was_removed() -> None:
    google, wire = live(("71", "ENABLED"), ("72", "ENABLED"), ("73", "REMOVED"))
    google.pause("ad", "4")
    google.resume("ad", "4")
    assert wire.changed == [("71~4", "PAUSED"), ("72~4", "PAUSED"), ("71~4", "ENABLED"), ("72~4", "ENABLED")]


def test_an_ad_that_cannot_be_paused_in_one_of_its_groups_goes_on_in_the_other() -> None:
    # it rested in the first, while whoever asked was told that nothing was done
    google, wire = live(("71", "ENABLED"), ("72", "ENABLED"), closed="72")
    with pytest.raises(Refused):
        google.pause("ad", "4")
    assert wire.changed == []


def _pages(ads: list[Any]) -> list[Answer]:
    """The account, its campaigns, ad groups, ads and asset groups."""
    return [Answer(200, {}, {"results": rows}, True) for rows in ([ROW], [ROW], [ROW], ads, [])]


def test_an_id_that_is_null_is_none_to_the_judge_of_the_rows() -> None:
    # it landed as an ad of the id "None", which collected what was spent on every such ad
    ad = {**BARE["adGroupAd"]["ad"], "id": None}
    nameless = {**BARE, "adGroupAd": {**BARE["adGroupAd"], "status": None, "ad": ad}, "campaign": {"id": None}}
    (row,) = delivered([{**nameless, "metrics": {"costMicros": "1000000"}}], [], [], [])
    assert (row["ad_id"], row["campaign_id"], row["spend"]) == (None, None, Decimal(1))
    told = google_rows.ad(nameless)
    assert (told["ad_id"], told["campaign_id"], told["status"]) == (None, None, None)
    (refused,) = load("ad_delivery").judge([row]).rejected
    assert (refused.field, refused.reason) == ("ad_id", "missing")
