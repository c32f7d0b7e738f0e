"""An account whose currency or zone is another than when it was connected: what a pull is told now counts."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from orchestration.lake import Lake
from orchestration.partitions import DayRange
from orchestration.sync import sync_kind
from sandbox import ad_catalogue, google_world, tiktok_world
from sandbox.faces import TOKENS
from tests.connectors.walks import SYNC_SINCE
from tests.factories import accounts, connected
from tests.fixtures.sandbox import TODAY, RunningSandbox
from touchledger.settings import Settings

OWN = {
    "meta": ad_catalogue.ACCOUNTS[0],
    "google": google_world.CUSTOMERS[0],
    "tiktok": tiktok_world.ADVERTISERS[0],
}


@pytest.mark.parametrize("provider", OWN)
def test_what_is_spent_is_in_the_currency_that_the_account_has_now(
    settings: Settings, sandbox: RunningSandbox, provider: str
) -> None:
    # Google's and TikTok's figures kept the currency of the day on which the account was connected
    account = OWN[provider]
    connection = connected.to_meta(
        settings.operational_url,
        accounts.profile(settings.operational_url),
        sandbox.url,
        provider=provider,
        base_url=f"{sandbox.url}/{provider}",
        token=TOKENS[provider],
        external_account_id=account.id,
        currency="JPY",
        timezone="Asia/Tokyo",
        synced_through=SYNC_SINCE,
    )
    lake = Lake(settings.lake)
    lake.prepare()
    (pull,) = sync_kind(settings, lake, "ad_platform", DayRange(SYNC_SINCE, TODAY))
    assert pull.failure is None
    rows = [row for batch in lake.batches("ad_delivery") for row in pq.read_table(batch.path).to_pylist()]
    assert {row["currency"] for row in rows} == {account.currency}
    told = connected.reload(settings.operational_url, connection)
    assert (told.currency, told.timezone) == (account.currency, account.time_zone)
