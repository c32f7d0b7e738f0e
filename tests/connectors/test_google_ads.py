"""The Google Ads connector against the sandbox: what lands, what it claims, and what goes wrong on the way."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest
from flask import Flask, request

from connectors import google_rows
from connectors.ad_platform import AdPlatform
from connectors.apps import OF_SANDBOX, App
from connectors.errors import CursorExpired, Malformed, Refused, Revoked, Throttled, TooMuchData, Transient
from connectors.google_ads import GoogleAds
from connectors.google_api import GoogleApi
from connectors.google_links import url_tags
from connectors.transport import Transport
from data_contracts.contract import load
from sandbox import google_world
from sandbox.faces import TOKENS
from sandbox.google_world import CUSTOMERS, MANAGER, PARTS, Holdings
from tests.connectors.conftest import POLICY
from tests.fixtures.sandbox import TODAY, RunningSandbox, served

SINCE = TODAY - timedelta(days=44)
SEARCH, STREAM = ":search$", ":searchStream$"


@pytest.fixture(scope="module")
def holdings(served_sandbox: RunningSandbox) -> Holdings:
    """What the sandbox's Google shows, by the world's own account."""
    return google_world.build(served_sandbox.world)


def test_it_is_an_ad_platform(google: GoogleAds) -> None:
    platform: AdPlatform = google
    assert (platform.platform, platform.studies(TODAY).rows) == ("google", {})
    assert list(platform.reach([(TODAY, TODAY)])) == []
    assert TOKENS["google"] not in repr(google)


def test_everything_of_the_customer_comes_and_keeps_the_contracts(google: GoogleAds, holdings: Holdings) -> None:
    found = google.entities()
    for dataset, rows in found.items():
        assert not load(dataset).judge(rows).rejected, dataset
    tree, own = holdings.tree, google.account_id
    of = {"campaigns": tree.campaigns, "ad_sets": tree.ad_sets, "ads": tree.ads}
    for dataset, key in (("campaigns", "campaign_id"), ("ad_sets", "ad_set_id"), ("ads", "ad_id")):
        truth = [row.id for row in of[dataset] if row.account_id == own]  # type: ignore[attr-defined]
        assert sorted(row[key] for row in found[dataset]) == sorted(truth)
    account = found["ad_accounts"][0]
    assert (account["currency"], account["timezone"], account["status"]) == ("USD", "America/New_York", "ACTIVE")
    assert {row["status"] for row in found["campaigns"]} == {"ACTIVE", "PAUSED", "DELETED"}


def test_budgets_are_a_campaigns_own_or_none(google: GoogleAds, holdings: Holdings) -> None:
    for row in google.entities()["campaigns"]:
        plan = holdings.plans[row["campaign_id"]]
        daily = None if plan.shares or plan.lifetime_minor else plan.budget
        assert (row["daily_budget_minor"], row["lifetime_budget_minor"]) == (daily, plan.lifetime_minor)
    assert any(plan.shares for plan in holdings.plans.values())


def test_texts_alone_are_no_creative_of_our_forms(google: GoogleAds) -> None:
    found = google.entities()
    shown = {row["creative_id"]: row["format"] for row in found["creatives"]}
    assert set(shown.values()) == {"video"}
    assert {row["creative_id"] for row in found["ads"]} == {None, *shown}
    assert all(row["name"] and not row["name"].startswith("Ad ") for row in found["ads"])


def test_an_asset_group_is_an_ad_set_with_one_ad(google: GoogleAds, holdings: Holdings) -> None:
    found = google.entities()
    groups = {row["ad_id"]: row for row in found["ads"] if row["ad_id"] == row["ad_set_id"]}
    assets = {number for number, plan in holdings.plans.items() if plan.channel == google_world.ASSETS}
    assert set(groups) == {row.id for row in holdings.tree.ad_sets if row.campaign_id in assets}
    assert {row["name"] for row in groups.values()} == {"All products", "Gifts"}
    assert {row["url_tags"] for row in groups.values()} == {google_world.SUFFIX}
    spent = [row["spend"] for _, rows in google.delivery(SINCE, TODAY) for row in rows if row["ad_id"] in groups]
    assert sum(spent) > 0


def test_every_day_is_the_ledgers_and_claims_are_fractions_of_purchases_alone(
    google: GoogleAds, holdings: Holdings
) -> None:
    days = dict(google.delivery(SINCE, TODAY))
    assert list(days) == [SINCE + timedelta(days=n) for n in range(45)]
    truth = list(holdings.seen(google.account_id, SINCE, TODAY, TODAY))
    told = {
        (row["ad_id"], day): (
            *(row["spend"], row["impressions"], row["clicks"]),
            *(row["platform_conversions"], row["platform_conversion_value"]),
        )
        for day, rows in days.items()
        for row in rows
    }
    assert told == {
        (row.ad_id, row.day): (
            *(Decimal(row.spend_minor) / 100, row.impressions, row.clicks),
            *(Decimal(row.claimed_purchases) / PARTS, Decimal(row.claimed_value_minor) / 100),
        )
        for row in truth
    }
    claimed = [row["platform_conversions"] for rows in days.values() for row in rows]
    assert any(one % 1 for one in claimed) and sum(row.claimed_leads for row in truth) > 0
    assert {row["platform_basis"] for rows in days.values() for row in rows} == {"click_view_modeled"}


def test_a_report_too_large_for_an_answer_is_asked_for_in_fewer_days(
    sandbox: RunningSandbox, google: GoogleAds, slept: list[float]
) -> None:
    days, networks = list(google.delivery(SINCE, TODAY)), list(google.breakdowns(SINCE, TODAY))
    with Transport(replace(POLICY, largest_body=12_000), sleep=slept.append) as narrow:
        small = GoogleAds(f"{sandbox.url}/google", TOKENS["google"], CUSTOMERS[0].id, narrow, OF_SANDBOX)
        assert (list(small.delivery(SINCE, TODAY)), list(small.breakdowns(SINCE, TODAY))) == (days, networks)
        assert 20 < narrow.requests < 100
    with Transport(replace(POLICY, largest_body=100), sleep=slept.append) as narrow:
        none = GoogleAds(f"{sandbox.url}/google", TOKENS["google"], CUSTOMERS[0].id, narrow, OF_SANDBOX)
        with pytest.raises(TooMuchData):
            list(none.delivery(SINCE, TODAY))
        assert narrow.requests < 10


def test_networks_add_up_to_the_whole(google: GoogleAds) -> None:
    since = TODAY - timedelta(days=6)
    parts: dict[tuple[str, object], Decimal] = {}
    for row in google.breakdowns(since, TODAY):
        assert row["dimension"] == "placement" and row["value"].startswith("google_search")
        parts[row["ad_id"], row["date"]] = parts.get((row["ad_id"], row["date"]), Decimal(0)) + row["spend"]
    told = [row for _, rows in google.delivery(since, TODAY) for row in rows]
    # what is shown of an asset group is told of no network
    assert parts == {(row["ad_id"], row["date"]): row["spend"] for row in told if row["ad_id"] != row["ad_set_id"]}


def test_a_customer_below_a_manager_is_reached_by_naming_it(sandbox: RunningSandbox, transport: Transport) -> None:
    base, token, number = f"{sandbox.url}/google", TOKENS["google"], CUSTOMERS[1].id
    with pytest.raises(Refused) as caught:
        GoogleAds(base, token, number, transport, OF_SANDBOX).entities()
    assert caught.value.reason == "permission_missing"
    below = GoogleAds(base, token, number, transport, OF_SANDBOX, reached_through=MANAGER.id)
    assert below.entities()["ad_accounts"][0]["currency"] == "EUR"


@pytest.mark.parametrize("code", ["OAUTH_TOKEN_EXPIRED", "ACCESS_TOKEN_EXPIRED"])
def test_one_access_token_serves_a_whole_walk_and_an_old_one_is_renewed_once(
    sandbox: RunningSandbox, google: GoogleAds, code: str
) -> None:
    sandbox.plan({"route": STREAM, "kind": "code", "code": code})
    list(google.delivery(TODAY, TODAY))
    assert (sandbox.calls("/google/token"), sandbox.calls("searchStream")) == (2, 5)
    sandbox.plan({"route": STREAM, "kind": "code", "code": code, "times": None})
    with pytest.raises(Revoked):
        list(google.delivery(TODAY, TODAY))
    assert sandbox.calls("searchStream") == 2


@pytest.mark.parametrize("route", ["/google/token$", STREAM])
def test_a_dead_token_is_never_asked_with_again(sandbox: RunningSandbox, google: GoogleAds, route: str) -> None:
    sandbox.plan({"route": route, "kind": "revoked", "times": None})
    with pytest.raises(Revoked) as caught:
        list(google.delivery(TODAY, TODAY))
    assert sandbox.hits() == [1]
    assert TOKENS["google"] not in str(caught.value)


def test_an_app_that_google_does_not_know_is_no_fault_of_the_accounts(
    sandbox: RunningSandbox, transport: Transport
) -> None:
    for app in (App("touchledger", "wrong", "x"), App("touchledger", OF_SANDBOX.client_secret, "unknown")):
        with pytest.raises(Refused) as caught:
            GoogleAds(f"{sandbox.url}/google", TOKENS["google"], CUSTOMERS[0].id, transport, app).entities()
        assert caught.value.reason == "app_refused"


def test_an_app_without_a_developer_token_sends_none(transport: Transport) -> None:
    app, seen = Flask(__name__), list[str | None]()
    app.add_url_rule("/token", "t", lambda: {"access_token": "a", "expires_in": 3599}, methods=["POST"])

    @app.get("/v26/customers:listAccessibleCustomers")
    def customers() -> dict[str, list[str]]:
        seen.append(request.headers.get("developer-token"))
        return {"resourceNames": ["customers/1"]}

    with served(app) as url:
        for own in (App("c", "s"), App("c", "s", "old")):
            assert GoogleApi(url, "r", own, transport, customer_id="").customers() == ["1"]
    assert seen == [None, "old"]


@pytest.mark.parametrize(
    ("fault", "error", "reason", "hits"),
    [
        ({"kind": "code", "code": "RESOURCE_EXHAUSTED"}, Throttled, "throttled", 1),
        ({"kind": "code", "code": "EXCESSIVE_LONG_TERM_QUERY_RESOURCE_CONSUMPTION"}, Throttled, "throttled", 1),
        ({"kind": "throttled", "wait": 40591}, Throttled, "throttled", 1),
        ({"kind": "code", "code": "RESOURCE_TEMPORARILY_EXHAUSTED"}, Throttled, "throttled", 4),
        ({"kind": "code", "code": "TRANSIENT_ERROR"}, Transient, "transient", 4),
        ({"kind": "code", "code": "USER_PERMISSION_DENIED"}, Refused, "permission_missing", 1),
        ({"kind": "code", "code": "ORGANIZATION_NOT_APPROVED"}, Refused, "app_refused", 1),
        ({"kind": "code", "code": "PROJECT_DISABLED"}, Refused, "app_refused", 1),
        ({"kind": "code", "code": "SERVICE_DISABLED"}, Refused, "app_refused", 1),
        ({"kind": "code", "code": "CLOUD_PROJECT_NOT_APPROVED_FOR_PRODUCTION"}, Refused, "app_refused", 1),
        ({"kind": "code", "code": "UNRECOGNIZED_FIELD"}, Refused, "bad_parameter", 1),
        ({"kind": "truncation"}, Malformed, "malformed", 4),
    ],
    ids=lambda part: part.get("code", part["kind"]) if isinstance(part, dict) else None,
)
def test_what_goes_wrong_says_how_and_no_day_of_it_is_there(
    sandbox: RunningSandbox, google: GoogleAds, fault: dict[str, object], error: type[Exception], reason: str, hits: int
) -> None:
    # the first thirty days come whole, of the next all but the claims of asset groups
    sandbox.plan({"route": STREAM, "times": None, "after": 7, **fault})
    came: list[date] = []
    with pytest.raises(error) as caught:
        came.extend(day for day, _ in google.delivery(SINCE, TODAY))
    assert getattr(caught.value, "reason", "") == reason
    assert came == [SINCE + timedelta(days=n) for n in range(30)]
    assert sandbox.hits() == [hits]


def test_a_short_quota_is_waited_out_as_long_as_it_says(
    sandbox: RunningSandbox, google: GoogleAds, slept: list[float]
) -> None:
    sandbox.plan({"route": SEARCH, "kind": "throttled", "wait": 30, "times": 2})
    assert len(google.entities()["campaigns"]) == 7
    assert [30 <= one < 31 for one in slept] == [True, True]


def test_a_page_that_came_twice_changes_nothing_and_a_lost_place_begins_again(
    sandbox: RunningSandbox, google: GoogleAds
) -> None:
    whole = google.entities()
    for fault in ({"kind": "duplicate_page", "containing": "pageToken"}, {"kind": "cursor_expires"}):
        sandbox.plan({"route": SEARCH, **fault})
        assert google.entities() == whole
        assert sandbox.hits() == [1]
    sandbox.plan({"route": SEARCH, "kind": "cursor_expires", "times": None})
    with pytest.raises(CursorExpired):
        google.linked_ads()
    sandbox.plan({"route": SEARCH, "kind": "duplicate_page", "containing": "pageToken", "times": None})
    with pytest.raises(Malformed):
        google.linked_ads()


@pytest.mark.parametrize(
    ("micros", "spend"), [("1", "0.0000"), ("50", "0.0000"), ("12345678", "12.3457"), ("10000", "0.01")]
)
def test_millionths_become_what_is_kept_of_an_amount(micros: str, spend: str) -> None:
    assert google_rows.amount(micros) == Decimal(spend)


@pytest.mark.parametrize(("currency", "micros"), [("USD", "45670000"), ("JPY", "4567000000"), ("KWD", "4567000")])
def test_budgets_are_minor_units_of_iso_4217(currency: str, micros: str) -> None:
    row = {"campaignBudget": {"amountMicros": micros}}
    assert google_rows.budgets(row, currency)["daily_budget_minor"] == 4567
    assert google_rows.spelled_micros(4567, currency) == micros


@pytest.mark.parametrize(
    ("template", "suffix", "tags"),
    [
        ("{lpurl}?a=1", "b=2", "a=1&b=2"),
        ("{lpurl}?a=1", None, "a=1&far=1"),
        ("https://track.example/?u={lpurl}&a=1", "?b=2", "b=2"),
    ],
)
def test_only_what_reaches_the_site_is_told_as_its_parameters(template: str, suffix: str | None, tags: str) -> None:
    row = {
        "adGroupAd": {"ad": {"id": "1", **({"finalUrlSuffix": suffix} if suffix else {})}},
        "customer": {"finalUrlSuffix": "far=1", "trackingUrlTemplate": template},
    }
    assert url_tags(row) == tags
