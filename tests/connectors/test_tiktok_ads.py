"""The TikTok connector against the sandbox: the presence's own figures, whatever goes wrong underneath."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from connectors import tiktok_api
from connectors.ad_platform import AdPlatform, Row, days_of
from connectors.errors import ConnectorError, Malformed, Refused, Revoked, Throttled, Transient
from connectors.tiktok_ads import DAYS_AT_ONCE, TikTokAds
from connectors.transport import Transport
from sandbox.faces import TOKENS
from sandbox.tiktok_world import COUNTRIES, PIXEL, Presence, build, reach
from tests.connectors.conftest import SINCE
from tests.fixtures.sandbox import TODAY, RunningSandbox

REPORT = "/report/integrated/get/$"


@pytest.fixture(scope="module")
def presence(served_sandbox: RunningSandbox) -> Presence:
    return build(served_sandbox.world)


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages small enough that two weeks of a small presence take several."""
    monkeypatch.setattr(tiktok_api, "PAGE", 25)


def figures(days: list[tuple[date, list[Row]]]) -> dict[tuple[str, date], tuple[Any, ...]]:
    """Spend, impressions, clicks, reach and TikTok's claims by ad-day; each ad-day is there once."""
    keys = [(row["ad_id"], row["date"]) for _, rows in days for row in rows]
    assert len(set(keys)) == len(keys)
    names = ("spend", "impressions", "clicks", "reach", "platform_conversions", "platform_conversion_value")
    return {(row["ad_id"], day): tuple(row[name] for name in names) for day, rows in days for row in rows}


def truth(presence: Presence, since: date, until: date, as_of: date = TODAY) -> dict[tuple[str, date], tuple[Any, ...]]:
    return {
        (row.ad_id, row.day): (
            Decimal(row.spend_minor) / 100, row.impressions, row.clicks, row.reach, row.claimed_purchases,
            Decimal(row.claimed_value_minor) / 100,
        )
        for row in presence.seen(presence.tree.accounts[0].id, since, until, as_of)
    }  # fmt: skip


def test_it_is_an_ad_platform(tiktok: TikTokAds) -> None:
    platform: AdPlatform = tiktok
    assert platform.platform == "tiktok"
    assert platform.studies(TODAY).rows == {}


def test_every_entity_arrives_deleted_ones_too(tiktok: TikTokAds, presence: Presence) -> None:
    found, account = tiktok.entities(), presence.tree.accounts[0]

    def own(rows: Any) -> set[str]:
        return {row.id for row in rows if row.account_id == account.id}

    assert found["ad_accounts"] == [
        {"platform": "tiktok", "ad_account_id": account.id, "name": account.name, "currency": "USD",
         "timezone": "America/New_York", "status": "ACTIVE"}
    ]  # fmt: skip
    assert {row["campaign_id"] for row in found["campaigns"]} == own(presence.tree.campaigns)
    assert {row["ad_set_id"] for row in found["ad_sets"]} == own(presence.tree.ad_sets)
    assert {row["ad_id"] for row in found["ads"]} == own(presence.tree.ads)
    assert {row["status"] for row in found["campaigns"]} == {"ACTIVE", "PAUSED", "DELETED"}


def test_entities_carry_names_budgets_groups_and_links(tiktok: TikTokAds, presence: Presence) -> None:
    found = tiktok.entities()
    campaigns = {row["campaign_id"]: row for row in found["campaigns"]}
    for true in (row for row in presence.tree.campaigns if row.id in campaigns):
        row, lifetime = campaigns[true.id], presence.lifetime_budgets.get(true.id)
        assert (row["name"], row["objective_group"]) == (true.name, true.objective_group)
        daily = None if lifetime else true.daily_budget_minor
        assert (row["daily_budget_minor"], row["lifetime_budget_minor"]) == (daily, lifetime)
        assert row["created_at"].timestamp() == true.created_at
    assert {row["dataset_id"] for row in found["ad_sets"]} == {PIXEL, None}
    assert {row["audience_warmth"] for row in found["ad_sets"]} == {"cold"}
    ads = {row["ad_id"]: row for row in found["ads"]}
    for ad in (row for row in presence.tree.ads if row.id in ads):
        assert (ads[ad.id]["ad_set_id"], ads[ad.id]["url_tags"], ads[ad.id]["landing_url"]) == (
            ad.ad_set_id, ad.url_tags, ad.landing_url,
        )  # fmt: skip
    formats = {row["creative_id"]: row["format"] for row in found["creatives"]}
    assert formats == {row.id: row.format for row in presence.tree.creatives if row.id in formats}


def test_two_weeks_of_delivery_equal_the_presence(tiktok: TikTokAds, presence: Presence, transport: Transport) -> None:
    days = list(tiktok.delivery(SINCE, TODAY))
    assert [day for day, _ in days] == [day for day, _ in days_of(SINCE, TODAY)]
    assert figures(days) == truth(presence, SINCE, TODAY)
    assert transport.requests > 3
    rows = [row for _, rows in days for row in rows]
    assert {row["platform_basis"] for row in rows} == {"click_view_modeled"}
    # TikTok counts views of 2 and 6 seconds, which no column is for
    assert not any("video_3s_views" in row or "video_15s_views" in row for row in rows)


def test_a_range_longer_than_tiktok_reports_is_asked_for_in_parts(tiktok: TikTokAds, presence: Presence) -> None:
    since = TODAY - timedelta(days=DAYS_AT_ONCE + 9)
    days = list(tiktok.delivery(since, TODAY))
    assert len(days) == DAYS_AT_ONCE + 10
    assert figures(days) == truth(presence, since, TODAY)
    assert sum(row["platform_conversions"] for _, rows in days for row in rows) > 0


def test_a_day_on_which_nothing_ran_is_an_empty_day(sandbox: RunningSandbox, tiktok: TikTokAds) -> None:
    before = sandbox.world.first_day - timedelta(days=2)
    assert list(tiktok.delivery(before, before)) == [(before, [])]


def test_delivery_by_country_adds_up_to_the_whole(tiktok: TikTokAds) -> None:
    rows = list(tiktok.breakdowns(SINCE, TODAY))
    assert {(row["dimension"], row["value"]) for row in rows} == {
        ("geo", country.lower()) for country in COUNTRIES[tiktok.account_id]
    }
    whole = [row for _, rows in tiktok.delivery(SINCE, TODAY) for row in rows]
    assert sum(row["impressions"] for row in rows) == sum(row["impressions"] for row in whole)
    assert sum(row["spend"] for row in rows) == sum(row["spend"] for row in whole)


def test_reach_is_tiktoks_own_figure_of_each_window_and_level(tiktok: TikTokAds, presence: Presence) -> None:
    windows = [(TODAY, TODAY), (TODAY - timedelta(days=2), TODAY - timedelta(days=2)), (SINCE, TODAY)]
    rows = list(tiktok.reach(windows))
    assert {row["level"] for row in rows} == {"campaign", "ad_set", "ad"}
    assert {(row["date_from"], row["date_to"]) for row in rows} == set(windows)
    for row in rows:
        window = (row["date_from"], row["date_to"])
        own = [
            one
            for one in presence.seen(tiktok.account_id, *window, TODAY)
            if getattr(one, f"{row['level']}_id") == row["entity_id"]
        ]
        assert row["reach"] == reach(own)
    assert len({(row["level"], row["entity_id"], row["date_from"], row["date_to"]) for row in rows}) == len(rows)


def test_trailing_windows_of_long_ago_are_left_out_and_months_and_days_are_not(
    sandbox: RunningSandbox, tiktok: TikTokAds
) -> None:
    old, six = TODAY - timedelta(days=100), timedelta(days=6)
    sandbox.plan()
    # of three levels both, then the newest alone
    for month, lists in (([(old.replace(day=1), old)], 6), ([], 9)):
        list(tiktok.reach([(old - six, old), *month, (TODAY - six, TODAY)]))
        assert sandbox.calls("integrated/get/") == lists


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "status", "status": 429, "times": 2},
        {"kind": "status", "status": 500, "times": 3},
        {"kind": "html", "times": 2},
        {"kind": "html", "status": 200, "times": 2},
        {"kind": "truncation", "times": 2},
        {"kind": "truncation", "message": "announced", "times": 2},
        {"kind": "reset", "times": 2},
        {"kind": "throttled", "times": 3},
        {"kind": "duplicate_page", "times": 2},
        {"kind": "reorder", "times": None},
        {"kind": "code", "code": "50000", "times": 2},
        {"kind": "code", "code": "51010", "times": 1},
    ],
    ids=lambda fault: "-".join(str(value) for value in fault.values()),
)
@pytest.mark.parametrize("after", [0, 2])
def test_figures_survive_a_fault_within_the_request_budget(
    sandbox: RunningSandbox,
    tiktok: TikTokAds,
    presence: Presence,
    transport: Transport,
    fault: dict[str, Any],
    after: int,
) -> None:
    sandbox.plan()
    list(tiktok.delivery(SINCE, TODAY))
    undisturbed = transport.requests
    sandbox.plan({"route": REPORT, "after": after, **fault})
    assert figures(list(tiktok.delivery(SINCE, TODAY))) == truth(presence, SINCE, TODAY)
    assert sandbox.hits()[0] >= 1
    assert transport.requests - undisturbed <= undisturbed + (fault["times"] or 0)


def test_too_frequent_is_waited_out_a_longer_time_each_time(
    sandbox: RunningSandbox, tiktok: TikTokAds, slept: list[float]
) -> None:
    sandbox.plan({"route": REPORT, "kind": "throttled", "times": 3})
    list(tiktok.delivery(TODAY, TODAY))
    assert [int(seconds) for seconds in slept] == [1, 5, 30]
    slept.clear()
    sandbox.plan({"route": REPORT, "kind": "throttled", "times": 1})
    list(tiktok.delivery(TODAY, TODAY))
    assert [int(seconds) for seconds in slept] == [1]


@pytest.mark.parametrize("code", ["40016", "40132", "40133", "61000"])
def test_too_frequent_has_several_codes(sandbox: RunningSandbox, tiktok: TikTokAds, code: str) -> None:
    whole = list(tiktok.delivery(TODAY, TODAY))
    sandbox.plan({"route": REPORT, "kind": "code", "code": code, "times": 2})
    assert list(tiktok.delivery(TODAY, TODAY)) == whole
    assert sandbox.hits() == [2]


def test_a_429_is_waited_out_as_long_as_it_says(sandbox: RunningSandbox, tiktok: TikTokAds, slept: list[float]) -> None:
    sandbox.plan({"route": REPORT, "kind": "status", "status": 429, "headers": {"Retry-After": "7"}})
    list(tiktok.delivery(TODAY, TODAY))
    assert [int(seconds) for seconds in slept] == [7]


@pytest.mark.parametrize(
    ("code", "error", "reason"),
    [
        *((code, Revoked, "connection_revoked") for code in ("40102", "40104", "40105")),
        *((code, Refused, "permission_missing") for code in ("40001", "40003", "40130")),
        ("40002", Refused, "bad_parameter"),
        ("40300", Refused, "not_found"),
        ("41000", Refused, "policy_block"),
        ("49999", Refused, "refused"),
    ],
)
def test_what_is_refused_is_asked_once(
    sandbox: RunningSandbox, tiktok: TikTokAds, code: str, error: type[ConnectorError], reason: str
) -> None:
    sandbox.plan({"route": "/campaign/get/$", "kind": "code", "code": code, "times": None})
    with pytest.raises(error) as caught:
        tiktok.entities()
    assert (caught.value.reason, caught.value.status) == (reason, 200)
    assert sandbox.hits() == [1]


def test_a_token_revoked_mid_walk_stops_at_once_and_yields_no_partial_day(
    sandbox: RunningSandbox, tiktok: TikTokAds
) -> None:
    sandbox.plan({"route": REPORT, "kind": "revoked", "after": 2, "times": None})
    got: list[tuple[date, list[Row]]] = []
    with pytest.raises(Revoked):
        got.extend(tiktok.delivery(SINCE, TODAY))
    assert got == []
    assert sandbox.hits() == [1]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"kind": "throttled"}, Throttled),
        ({"kind": "duplicate_page", "after": 1}, Malformed),
        ({"kind": "reset", "after": 1}, Transient),
        ({"kind": "html", "status": 200}, Malformed),
    ],
)
def test_a_fault_that_never_ends_ends_the_walk_within_a_bound(
    sandbox: RunningSandbox,
    tiktok: TikTokAds,
    transport: Transport,
    fault: dict[str, Any],
    error: type[Exception],
) -> None:
    sandbox.plan({"route": REPORT, "times": None, **fault})
    with pytest.raises(error):
        list(tiktok.delivery(SINCE, TODAY))
    assert transport.requests <= 12


def test_figures_of_the_last_weeks_are_revised_and_older_ones_stand(
    sandbox: RunningSandbox, tiktok: TikTokAds, presence: Presence
) -> None:
    now = figures(list(tiktok.delivery(SINCE, TODAY)))
    later = TODAY + timedelta(days=28)
    sandbox.holder.see_as_of(later)
    assert figures(list(tiktok.delivery(SINCE, TODAY))) == truth(presence, SINCE, TODAY, later) != now
    old = TODAY - timedelta(days=35)
    settled = figures(list(tiktok.delivery(old, old)))
    sandbox.holder.see_as_of(TODAY)
    assert figures(list(tiktok.delivery(old, old))) == settled


def test_a_foreign_advertiser_is_refused_not_empty(sandbox: RunningSandbox, transport: Transport) -> None:
    foreign = TikTokAds(f"{sandbox.url}/tiktok", TOKENS["tiktok"], "99", transport)
    with pytest.raises(Refused) as caught:
        foreign.entities()
    assert caught.value.reason == "permission_missing"
    assert transport.requests == 1


def test_the_token_travels_in_its_header_and_stands_in_no_message(
    sandbox: RunningSandbox, transport: Transport
) -> None:
    dead = TikTokAds(f"{sandbox.url}/tiktok", "a-token-nobody-may-see", "99", transport)
    sandbox.plan({"route": ".*", "kind": "code", "code": "40105", "message": "bad a-token-nobody-may-see"})
    with pytest.raises(Revoked) as caught:
        dead.linked_ads()
    assert "nobody-may-see" not in f"{caught.value}{dead!r}"
