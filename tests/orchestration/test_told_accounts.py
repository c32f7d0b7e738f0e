"""What an account tells anew counts: another currency or zone than when it was connected, a claim of weeks ago."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal

import pyarrow.parquet as pq
import pytest

from connectors.apps import OF_SANDBOX
from connectors.google_ads import GoogleAds
from connectors.transport import Transport
from orchestration.lake import Lake
from orchestration.partitions import DayRange
from orchestration.sync import pull_range, sync_kind
from sandbox import ad_catalogue, ads, google_world, tiktok_world
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


@pytest.fixture
def transport() -> Iterator[Transport]:
    with Transport() as made:
        yield made


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


def test_what_google_claims_months_later_of_a_click_is_read_by_the_nightly_pull(
    settings: Settings, sandbox: RunningSandbox, transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    # claims of days more than four weeks back stayed as they were first read
    monkeypatch.setattr(ads, "REVISED_DAYS", 85)
    account = OWN["google"]
    google = GoogleAds(f"{sandbox.url}/google", TOKENS["google"], account.id, transport, OF_SANDBOX, currency="USD")
    connected.to_meta(
        settings.operational_url,
        accounts.profile(settings.operational_url),
        sandbox.url,
        provider="google",
        base_url=f"{sandbox.url}/google",
        token=TOKENS["google"],
        external_account_id=account.id,
        synced_through=None,
    )
    lake = Lake(settings.lake)
    lake.prepare()

    def claims() -> dict[tuple[str, date], Decimal]:
        rows = [row for batch in lake.batches("ad_delivery") for row in pq.read_table(batch.path).to_pylist()]
        return {(row["ad_id"], row["date"]): row["platform_conversions"] for row in rows}

    def told(until: date) -> dict[tuple[str, date], Decimal]:
        return {
            (row["ad_id"], day): row["platform_conversions"]
            for day, rows in google.delivery(sandbox.world.first_day, until)
            for row in rows
        }

    sync_kind(settings, lake, "ad_platform", pull_range(settings))
    before = claims()
    assert before == told(TODAY)
    later = settings.model_copy(update={"demo_today": TODAY + timedelta(days=20)})
    sandbox.holder.see_as_of(later.demo_today)
    sync_kind(later, lake, "ad_platform", pull_range(later))
    assert claims() == told(later.demo_today) != before
    moved = [day for (ad, day), claimed in claims().items() if claimed != before.get((ad, day), claimed)]
    assert min(moved) < later.demo_today - timedelta(days=28)
