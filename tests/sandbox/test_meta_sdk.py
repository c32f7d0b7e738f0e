"""Meta's official client and our connector read the same world: the sandbox speaks the true protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from connectors.meta_ads import MetaAds
from connectors.transport import Policy, Transport
from sandbox.faces import TOKENS
from tests.fixtures.sandbox import TODAY, RunningSandbox

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:facebook_business", "ignore::DeprecationWarning:six"
)

SINCE = TODAY - timedelta(days=6)
FIELDS = ["ad_id", "spend", "impressions", "actions"]
Figures = dict[tuple[str, str], tuple[Decimal, int]]
Reader = Callable[[], Figures]


@pytest.fixture
def sdk(sandbox: RunningSandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The SDK's ad account object, pointed at loopback; it sends no crash reports anywhere."""
    from facebook_business.adobjects.adaccount import AdAccount
    from facebook_business.api import FacebookAdsApi
    from facebook_business.session import FacebookSession

    monkeypatch.setattr(FacebookSession, "GRAPH", f"{sandbox.url}/meta")
    api = FacebookAdsApi.init(access_token=TOKENS["meta"], timeout=10, crash_log=False)
    yield AdAccount(f"act_{sandbox.world.accounts[0].id}", api=api)
    api._session.requests.close()
    monkeypatch.setattr(FacebookAdsApi, "_default_api", None)


def asked(**more: Any) -> dict[str, Any]:
    span = {"since": SINCE.isoformat(), "until": TODAY.isoformat()}
    return {"level": "ad", "time_increment": 1, "time_range": span, "limit": 10, **more}


def spelled(rows: Any) -> Figures:
    return {(row["ad_id"], row["date_start"]): (Decimal(row["spend"]), int(row["impressions"])) for row in rows}


@pytest.fixture(params=["official client", "official client, report run", "our connector"])
def read(request: pytest.FixtureRequest, sandbox: RunningSandbox, sdk: Any) -> Reader:
    def official() -> Figures:
        return spelled(sdk.get_insights(fields=FIELDS, params=asked()))

    def reported() -> Figures:
        run = sdk.get_insights_async(fields=FIELDS, params=asked())
        states = []
        while not states or states[-1] != "Job Completed":
            states.append(run.api_get()["async_status"])
        assert states == ["Job Not Started", "Job Started", "Job Running", "Job Completed"]
        return spelled(run.get_result(params={"limit": 10}))

    def ours() -> Figures:
        with Transport(Policy(), sleep=lambda _: None) as transport:
            meta = MetaAds(f"{sandbox.url}/meta", TOKENS["meta"], sandbox.world.accounts[0].id, transport)
            return {
                (row["ad_id"], day.isoformat()): (row["spend"], row["impressions"])
                for day, rows in meta.delivery(SINCE, TODAY)
                for row in rows
            }

    return {"official client": official, "our connector": ours}.get(request.param, reported)


class TestWhoeverReads:
    def test_every_ad_day_of_the_world_is_read(self, sandbox: RunningSandbox, read: Reader) -> None:
        account = sandbox.world.accounts[0].id
        assert read() == {
            (row.ad_id, row.day.isoformat()): (Decimal(row.spend_minor) / 100, row.impressions)
            for row in sandbox.world.delivery_seen(account, SINCE, TODAY)
        }

    def test_reading_twice_gives_the_same(self, sandbox: RunningSandbox, read: Reader) -> None:
        assert read() == read()


class TestOfficialClient:
    def test_it_walks_every_page_of_every_edge(self, sandbox: RunningSandbox, sdk: Any) -> None:
        account, world = sandbox.world.accounts[0].id, sandbox.world
        found = {row["id"] for row in sdk.get_ads(fields=["name"], params={"limit": 3})}
        assert found == {row.id for row in world.ads if row.account_id == account and row.status != "ARCHIVED"}
        campaigns = sdk.get_campaigns(fields=["name"], params={"limit": 2, "effective_status": ["ARCHIVED"]})
        archived = {row.id for row in world.campaigns if row.account_id == account and row.status == "ARCHIVED"}
        assert {row["id"] for row in campaigns} == archived

    def test_it_reads_delivery_by_country(self, sandbox: RunningSandbox, sdk: Any) -> None:
        params = asked(breakdowns=["country"], time_increment="all_days")
        rows = list(sdk.get_insights(fields=["ad_id", "impressions"], params=params))
        whole = list(sandbox.world.delivery_seen(sandbox.world.accounts[0].id, SINCE, TODAY))
        assert {row["country"] for row in rows} == {"US", "CA"}
        assert sum(int(row["impressions"]) for row in rows) == sum(row.impressions for row in whole)

    def test_it_reads_whom_an_ad_set_is_shown_to(self, sandbox: RunningSandbox, sdk: Any) -> None:
        audiences = {row["id"]: row["subtype"] for row in sdk.get_custom_audiences(fields=["subtype"])}
        shown = [row["targeting"].get("custom_audiences", []) for row in sdk.get_ad_sets(fields=["targeting"])]
        assert {audiences[one["id"]] for included in shown for one in included} == {
            "WEBSITE", "LOOKALIKE", "ENGAGEMENT",
        }  # fmt: skip

    def test_it_reads_the_account(self, sandbox: RunningSandbox, sdk: Any) -> None:
        node = sdk.api_get(fields=["name", "currency", "timezone_name"])
        assert (node["currency"], node["timezone_name"]) == ("USD", "America/New_York")

    @pytest.mark.parametrize(
        ("fault", "code", "subcode"),
        [
            ({"kind": "revoked"}, 190, 460),
            ({"kind": "throttled", "wait": 60}, 80000, 2446079),
            ({"kind": "code", "code": "17", "subcode": 2446079}, 17, 2446079),
            ({"kind": "status", "status": 500}, 2, None),
            ({"kind": "cursor_expires"}, 2642, None),
        ],
    )
    def test_it_raises_the_code_a_fault_carries(
        self, sandbox: RunningSandbox, sdk: Any, fault: dict[str, Any], code: int, subcode: int | None
    ) -> None:
        from facebook_business.exceptions import FacebookRequestError

        sandbox.plan({"route": "/insights$", **fault})
        with pytest.raises(FacebookRequestError) as caught:
            list(sdk.get_insights(fields=FIELDS, params=asked()))
        assert (caught.value.api_error_code(), caught.value.api_error_subcode()) == (code, subcode)

    def test_it_sees_the_throttle_headers(self, sandbox: RunningSandbox, sdk: Any) -> None:
        cursor = sdk.get_insights(fields=FIELDS, params=asked())
        assert {"x-business-use-case-usage", "x-fb-ads-insights-throttle"} <= set(map(str.lower, cursor.headers()))

    def test_a_bad_field_is_refused_with_code_100(self, sandbox: RunningSandbox, sdk: Any) -> None:
        from facebook_business.exceptions import FacebookRequestError

        with pytest.warns(UserWarning, match="does not allow field ad_idd"):
            cursor = sdk.get_insights(fields=["ad_idd"], params=asked(), pending=True)
        with pytest.raises(FacebookRequestError, match="not valid for fields") as caught:
            cursor.execute()
        assert caught.value.api_error_code() == 100


def test_the_sdk_pauses_a_campaign_and_our_connector_sees_it(sandbox: RunningSandbox, sdk: Any) -> None:
    from facebook_business.adobjects.campaign import Campaign

    number = next(row.id for row in sandbox.world.campaigns if row.status == "ACTIVE")
    campaign = Campaign(number, api=sdk.get_api_assured())
    campaign.api_update(params={"status": "PAUSED", "daily_budget": 7000})
    assert dict(campaign.api_get(fields=["status", "daily_budget"])) == {
        "id": number, "status": "PAUSED", "daily_budget": "7000",
    }  # fmt: skip
    with Transport(Policy()) as transport:
        account = sandbox.world.accounts[0].id
        seen = MetaAds(f"{sandbox.url}/meta", TOKENS["meta"], account, transport).state("campaign", number)
    assert seen is not None and (seen.status, seen.daily_budget_minor) == ("PAUSED", 7000)
