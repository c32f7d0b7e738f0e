"""TikTok's official client and our connector read the same presence: the sandbox speaks the true protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest

from connectors.tiktok_ads import TikTokAds
from connectors.transport import Policy, Transport
from sandbox.faces import TOKENS
from sandbox.tiktok_world import ADVERTISERS, build
from tests.fixtures.sandbox import TODAY, RunningSandbox

SINCE = TODAY - timedelta(days=6)
ACCOUNT, TOKEN, CAMPAIGN = ADVERTISERS[0].id, TOKENS["tiktok"], "1780000000010000"
Figures = dict[tuple[str, str], tuple[Decimal, int]]


@pytest.fixture
def sdk(sandbox: RunningSandbox) -> Iterator[Any]:
    """The client's module with a client of it pointed at loopback as `client`; what it changes is undone."""
    client = pytest.importorskip("business_api_client", reason="the environment is older than the lock")
    configuration = client.Configuration()
    configuration.host = f"{sandbox.url}/tiktok"
    client.client = client.ApiClient(configuration)
    yield client
    client.client.rest_client.pool_manager.clear()
    # its threads would outlive the interpreter's own
    del client.client
    httpx.delete(f"{sandbox.url}/__sandbox__/tiktok/objects", trust_env=False).raise_for_status()


def official(sdk: Any) -> Figures:
    asked = {
        "advertiser_id": ACCOUNT, "service_type": "AUCTION", "data_level": "AUCTION_AD", "page_size": 10,
        "dimensions": ["ad_id", "stat_time_day"], "metrics": ["spend", "impressions"],
        "start_date": SINCE.isoformat(), "end_date": TODAY.isoformat(),
    }  # fmt: skip
    found: Figures = {}
    page, pages = 1, 1
    while page <= pages:
        data = sdk.ReportingApi(sdk.client).report_integrated_get("BASIC", TOKEN, page=page, **asked)["data"]
        for row in data["list"]:
            key = (row["dimensions"]["ad_id"], row["dimensions"]["stat_time_day"][:10])
            found[key] = (Decimal(row["metrics"]["spend"]), int(row["metrics"]["impressions"]))
        page, pages = page + 1, data["page_info"]["total_page"]
    assert pages > 1
    return found


def ours(sandbox: RunningSandbox) -> Figures:
    with Transport(Policy()) as transport:
        account = TikTokAds(f"{sandbox.url}/tiktok", TOKEN, ACCOUNT, transport)
        days = list(account.delivery(SINCE, TODAY))
    return {(row["ad_id"], str(day)): (row["spend"], row["impressions"]) for day, rows in days for row in rows}


def test_both_read_every_ad_day_of_the_presence(sandbox: RunningSandbox, sdk: Any) -> None:
    truth = {
        (row.ad_id, str(row.day)): (Decimal(row.spend_minor) / 100, row.impressions)
        for row in build(sandbox.world).seen(ACCOUNT, SINCE, TODAY, TODAY)
    }
    assert official(sdk) == ours(sandbox) == truth


@pytest.mark.parametrize(
    ("read", "key", "level"),
    [
        (lambda sdk: sdk.CampaignCreationApi(sdk.client).campaign_get, "campaign_id", "campaigns"),
        (lambda sdk: sdk.AdgroupApi(sdk.client).adgroup_get, "adgroup_id", "ad_sets"),
        (lambda sdk: sdk.AdApi(sdk.client).ad_get, "ad_id", "ads"),
    ],
    ids=["campaigns", "ad groups", "ads"],
)
def test_the_client_lists_all_but_deleted_ones(
    sandbox: RunningSandbox, sdk: Any, read: Callable[[Any], Any], key: str, level: str
) -> None:
    rows = getattr(build(sandbox.world).tree, level)
    found = read(sdk)(ACCOUNT, TOKEN, page_size=100)["data"]["list"]
    assert {row[key] for row in found} == {
        row.id for row in rows if row.account_id == ACCOUNT and row.status != "DELETED"
    }  # fmt: skip


def test_the_client_reads_the_advertiser(sdk: Any) -> None:
    told = sdk.AccountManagementApi(sdk.client).advertiser_info([ACCOUNT], TOKEN, fields=["currency", "timezone"])
    assert told["data"]["list"] == [{"currency": "USD", "timezone": "America/New_York"}]


def test_the_client_pauses_and_rebudgets_a_campaign_and_our_connector_sees_it(
    sandbox: RunningSandbox, sdk: Any
) -> None:
    api = sdk.CampaignCreationApi(sdk.client)
    stop = sdk.CampaignStatusUpdateBody(
        advertiser_id=ACCOUNT, campaign_ids=[CAMPAIGN], operation_status="DISABLE"
    )  # fmt: skip
    api.campaign_status_update(TOKEN, body=stop)
    api.campaign_update(TOKEN, body=sdk.CampaignUpdateBody(advertiser_id=ACCOUNT, campaign_id=CAMPAIGN, budget=75.5))
    with Transport(Policy()) as transport:
        seen = TikTokAds(f"{sandbox.url}/tiktok", TOKEN, ACCOUNT, transport).state("campaign", CAMPAIGN)
    assert seen is not None and (seen.status, seen.daily_budget_minor) == ("PAUSED", 7550)


@pytest.mark.parametrize(
    ("fault", "code"),
    [({"kind": "revoked"}, 40105), ({"kind": "throttled"}, 40100), ({"kind": "code", "code": "40001"}, 40001)],
)
def test_the_client_raises_the_code_a_fault_carries(
    sandbox: RunningSandbox, sdk: Any, fault: dict[str, Any], code: int
) -> None:
    sandbox.plan({"route": "/campaign/get/$", **fault})
    with pytest.raises(sdk.api_client.TiktokSDKError, match=f"Error Code: {code}"):
        sdk.CampaignCreationApi(sdk.client).campaign_get(ACCOUNT, TOKEN)
