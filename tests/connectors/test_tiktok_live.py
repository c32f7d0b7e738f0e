"""The live side of the TikTok connector: what is there now, what is changed, and where ads lead."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from connectors import tiktok_rows
from connectors.ad_platform import Level, LiveAdPlatform, LiveState
from connectors.errors import Malformed, Refused, Revoked, Transient
from connectors.tiktok_ads import TikTokAds
from connectors.transport import Transport
from sandbox.faces import TOKENS
from sandbox.tiktok_world import ADVERTISERS, PLANS, build
from tests.fixtures.sandbox import RunningSandbox

CAMPAIGN, AD_SET, AD = "1780000000010000", "1780000000010100", "1780000000010101"
IDS: dict[Level, str] = {"campaign": CAMPAIGN, "ad_set": AD_SET, "ad": AD}


@pytest.fixture
def change(sandbox: RunningSandbox) -> Iterator[Callable[..., None]]:
    """Changes an object as somebody would in TikTok's own tools; all of it is undone afterwards."""
    objects = f"{sandbox.url}/__sandbox__/tiktok/objects"
    yield lambda number, **members: httpx.put(f"{objects}/{number}", json=members, trust_env=False).raise_for_status()
    httpx.delete(objects, trust_env=False).raise_for_status()


def seen(tiktok: TikTokAds, level: Level) -> LiveState:
    found = tiktok.state(level, IDS[level])
    assert found is not None
    return found


def test_it_is_a_live_ad_platform(tiktok: TikTokAds) -> None:
    platform: LiveAdPlatform = tiktok
    assert platform.platform == "tiktok"


def test_a_campaign_is_told_with_status_budget_and_the_accounts_currency(tiktok: TikTokAds) -> None:
    plan = PLANS[0]
    assert tiktok.state("campaign", CAMPAIGN) == LiveState(
        "campaign", CAMPAIGN, ADVERTISERS[0].id, plan.name, "ACTIVE", "ACTIVE", (), "USD", plan.budget, None
    )


@pytest.mark.parametrize(
    ("operation", "effective"), [("DELETE", "DELETED"), ("DISABLE", "CAMPAIGN_PAUSED"), ("ENABLE", "ACTIVE")]
)
def test_an_ad_set_and_an_ad_tell_of_the_campaign_above(
    tiktok: TikTokAds, change: Callable[..., None], operation: str, effective: str
) -> None:
    change(CAMPAIGN, operation_status=operation)
    below: tuple[Level, ...] = ("ad_set", "ad")
    for level in below:
        found = seen(tiktok, level)
        assert (found.status, found.effective_status) == ("ACTIVE", effective)
        assert found.is_final == found.is_in_final_campaign == (operation == "DELETE")


def test_an_ad_under_a_stopped_ad_set_says_so_and_other_words_stay_tiktoks(
    tiktok: TikTokAds, change: Callable[..., None]
) -> None:
    change(AD_SET, operation_status="DISABLE")
    assert (seen(tiktok, "ad_set").status, seen(tiktok, "ad_set").effective_status) == ("PAUSED", "PAUSED")
    assert seen(tiktok, "ad").effective_status == "ADSET_PAUSED"
    change(AD, secondary_status="AD_STATUS_AUDIT_DENY")
    assert (seen(tiktok, "ad").status, seen(tiktok, "ad").effective_status) == ("ACTIVE", "AD_STATUS_AUDIT_DENY")


def test_a_deleted_campaign_is_final(tiktok: TikTokAds, change: Callable[..., None]) -> None:
    change(CAMPAIGN, operation_status="DELETE")
    assert (seen(tiktok, "campaign").status, seen(tiktok, "campaign").is_final) == ("DELETED", True)
    assert not any(one.campaign_name == PLANS[0].name for one in tiktok.linked_ads())


@pytest.mark.parametrize("level", ["campaign", "ad_set", "ad"])
def test_an_id_of_another_level_or_of_nothing_is_none(tiktok: TikTokAds, level: Level) -> None:
    found = {name: tiktok.state(level, number) is not None for name, number in IDS.items()}
    assert found == {name: name == level for name in IDS}
    for odd in ("1", "me", "../1", "²", "1" * 33, ""):
        assert tiktok.state(level, odd) is None


@pytest.mark.parametrize("level", ["campaign", "ad_set", "ad"])
def test_pausing_and_resuming_change_what_is_told(tiktok: TikTokAds, change: Callable[..., None], level: Level) -> None:
    tiktok.pause(level, IDS[level])
    assert seen(tiktok, level).status == "PAUSED"
    tiktok.resume(level, IDS[level])
    assert seen(tiktok, level).status == "ACTIVE"


@pytest.mark.parametrize("level", ["campaign", "ad_set"])
@pytest.mark.parametrize("amount", [8000, 8025])
def test_a_budget_is_told_to_the_cent(
    tiktok: TikTokAds, change: Callable[..., None], level: Level, amount: int
) -> None:
    tiktok.set_budget(level, IDS[level], "daily", amount)
    assert seen(tiktok, level).budget("daily") == amount


def test_a_lifetime_budget_is_another_type(tiktok: TikTokAds, change: Callable[..., None]) -> None:
    change(CAMPAIGN, budget_mode="BUDGET_MODE_TOTAL", budget=500)
    found = seen(tiktok, "campaign")
    assert (found.budget("daily"), found.budget("lifetime")) == (None, 50000)
    tiktok.set_budget("campaign", CAMPAIGN, "lifetime", 60000)
    assert seen(tiktok, "campaign").budget("lifetime") == 60000
    change(CAMPAIGN, budget_mode="BUDGET_MODE_INFINITE", budget=0)
    found = seen(tiktok, "campaign")
    assert (found.budget("daily"), found.budget("lifetime")) == (None, None)


def test_a_budget_under_tiktoks_minimum_is_refused_as_such(tiktok: TikTokAds) -> None:
    for level, amount in (("campaign", 4999), ("ad_set", 1999)):
        with pytest.raises(Refused) as caught:
            tiktok.set_budget(level, IDS[level], "daily", amount)  # type: ignore[arg-type, index]
        assert (caught.value.reason, caught.value.code) == ("budget_too_low", "40002")


@pytest.mark.parametrize(
    ("fault", "error", "reason"),
    [
        ({"kind": "code", "code": "40001"}, Refused, "permission_missing"),
        ({"kind": "code", "code": "40002"}, Refused, "bad_parameter"),
        ({"kind": "revoked"}, Revoked, "connection_revoked"),
        ({"kind": "reset"}, Transient, "connection"),
        ({"kind": "truncation"}, Malformed, "malformed"),
    ],
    ids=lambda value: value.get("kind") if isinstance(value, dict) else None,
)
def test_a_change_that_fails_says_how(
    sandbox: RunningSandbox,
    tiktok: TikTokAds,
    change: Callable[..., None],
    fault: dict[str, Any],
    error: type[Exception],
    reason: str,
) -> None:
    sandbox.plan({"route": "/update/$", "times": None, **fault})
    with pytest.raises(error) as caught:
        tiktok.set_budget("ad_set", AD_SET, "daily", 5000)
    assert getattr(caught.value, "reason", None) == reason


def test_every_ad_but_deleted_ones_is_told_with_where_it_leads(sandbox: RunningSandbox, tiktok: TikTokAds) -> None:
    tree = build(sandbox.world).tree
    own = [row for row in tree.ads if row.account_id == tiktok.account_id]
    names = {row.id: row.name for row in tree.campaigns}
    assert {(one.ad_id, one.name, one.campaign_name, one.landing_url, one.url_tags) for one in tiktok.linked_ads()} == {
        (row.id, row.name, names[row.campaign_id], row.landing_url, row.url_tags)
        for row in own
        if row.status != "DELETED"
    }
    assert any(row.status == "DELETED" for row in own)


def test_parameters_that_stand_in_the_landing_url_are_not_told_twice() -> None:
    node = {
        "ad_id": "1",
        "ad_name": "n",
        "landing_page_url": "https://x.example/?utm_source=tiktok",
        "utm_params": [{"key": "utm_source", "value": "tiktok"}, {"key": "ad_id", "value": "__CID__"}],
    }
    assert tiktok_rows.linked_ad(node).url_tags == "ad_id=__CID__"
    assert tiktok_rows.linked_ad({**node, "landing_page_url": None, "utm_params": None}).url_tags is None


@pytest.mark.parametrize(
    ("currency", "told", "minor"),
    [("USD", "50.25", 5025), ("USD", 50, 5000), ("JPY", "5000", 5000), ("KWD", "12.345", 12345), ("USD", 0, None)],
)
def test_budgets_are_minor_units_of_their_currency(currency: str, told: Any, minor: int | None) -> None:
    node = {"budget_mode": "BUDGET_MODE_DAY", "budget": told}
    assert tiktok_rows.budgets(node, currency)["daily_budget_minor"] == minor
    if minor:
        assert str(tiktok_rows.spelled_budget(minor, currency)) == str(told)


def test_a_budget_finer_than_its_currency_is_malformed() -> None:
    with pytest.raises(Malformed):
        tiktok_rows.budgets({"budget_mode": "BUDGET_MODE_DAY", "budget": "50.5"}, "JPY")


def test_the_currency_is_asked_for_only_when_it_is_not_given(sandbox: RunningSandbox, transport: Transport) -> None:
    sandbox.plan()
    account = ADVERTISERS[0].id
    TikTokAds(f"{sandbox.url}/tiktok", TOKENS["tiktok"], account, transport, currency="USD").state("campaign", CAMPAIGN)
    assert sandbox.calls() == sandbox.calls("campaign/get/") == 1
