"""A pull while no key of the deployment opens the tokens: nobody is asked, and nothing is lost."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration.lake import Lake
from orchestration.partitions import DayRange
from orchestration.sync import sync_kind
from sandbox import google_world, tiktok_world
from sandbox.faces import TOKENS
from tests.connectors.walks import SYNC_SINCE
from tests.factories import accounts, connected
from tests.fixtures.sandbox import TODAY, RunningSandbox
from touchledger import settings as settings_module
from touchledger.settings import Settings

ACCOUNTS = {
    "meta": {},
    "google": {"external_account_id": google_world.CUSTOMERS[0].id},
    "tiktok": {"external_account_id": tiktok_world.ADVERTISERS[0].id},
    "shopify": {"external_account_id": "alder-finch.myshopify.com", "kind": "store"},
    "stripe": {"external_account_id": "acct_alderfinch", "kind": "payments"},
}


@pytest.fixture
def lake(settings: Settings) -> Lake:
    lake = Lake(settings.lake)
    lake.prepare()
    return lake


@pytest.mark.parametrize("provider", ACCOUNTS)
def test_a_connection_whose_token_no_key_opens_is_not_asked_and_is_well_when_the_key_is_back(
    settings: Settings, sandbox: RunningSandbox, lake: Lake, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    # stores, Google and TikTok were asked without any token, said no, and waited to be connected anew for good
    columns: dict[str, Any] = {"provider": provider, "token": TOKENS[provider], **ACCOUNTS[provider]}
    connection = connected.to_meta(
        settings.operational_url,
        accounts.profile(settings.operational_url),
        sandbox.url,
        base_url=f"{sandbox.url}/{provider}",
        synced_through=SYNC_SINCE,
        **columns,
    )
    with monkeypatch.context() as other:
        other.setenv("TOUCHLEDGER_TOKEN_KEY", "another")
        settings_module.load.cache_clear()
        (pull,) = sync_kind(settings, lake, connection.kind, DayRange(SYNC_SINCE, TODAY))
        assert sandbox.calls() == 0
    settings_module.load.cache_clear()
    told = connected.reload(settings.operational_url, connection)
    assert (told.status, told.status_reason, told.token) == ("active", "sealed_by_an_unknown_key", TOKENS[provider])
    assert pull.failure is not None and pull.failure.reason == told.status_reason
    (pull,) = sync_kind(settings, lake, connection.kind, DayRange(SYNC_SINCE, TODAY))
    told = connected.reload(settings.operational_url, connection)
    assert (pull.failure, told.status, told.status_reason) == (None, "active", None)
