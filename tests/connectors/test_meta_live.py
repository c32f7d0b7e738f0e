"""The live side of the Meta connector: what is there now, what is changed, and where ads lead."""

from __future__ import annotations

import pytest

from connectors import meta_rows
from connectors.ad_platform import Level, LiveAdPlatform, LiveState
from connectors.errors import Malformed, Refused, Revoked, Transient
from connectors.meta_ads import MetaAds
from connectors.transport import Transport
from sandbox.faces import TOKENS
from tests.fixtures.sandbox import RunningSandbox


@pytest.fixture
def campaign(sandbox: RunningSandbox) -> str:
    return next(row.id for row in sandbox.world.campaigns if row.status == "ACTIVE")


@pytest.fixture
def ad_set(sandbox: RunningSandbox, campaign: str) -> str:
    return next(row.id for row in sandbox.world.ad_sets if row.campaign_id == campaign)


@pytest.fixture
def ad(sandbox: RunningSandbox, campaign: str) -> str:
    return next(row.id for row in sandbox.world.ads if row.campaign_id == campaign)


def seen(meta: MetaAds, level: Level, number: str) -> LiveState:
    found = meta.state(level, number)
    assert found is not None
    return found


def test_it_is_a_live_ad_platform(meta: MetaAds) -> None:
    platform: LiveAdPlatform = meta
    assert platform.platform == "meta"


def test_a_campaign_is_told_with_status_budget_and_the_accounts_currency(
    sandbox: RunningSandbox, meta: MetaAds, campaign: str
) -> None:
    row = next(row for row in sandbox.world.campaigns if row.id == campaign)
    assert meta.state("campaign", campaign) == LiveState(
        "campaign", row.id, row.account_id, row.name, "ACTIVE", "ACTIVE", (), "USD", row.daily_budget_minor, None
    )


def test_an_ad_set_and_an_ad_tell_of_the_campaign_above(
    sandbox: RunningSandbox, meta: MetaAds, campaign: str, ad_set: str, ad: str
) -> None:
    sandbox.set(campaign, status="ARCHIVED")
    for level, number in (("ad_set", ad_set), ("ad", ad)):
        found = seen(meta, level, number)  # type: ignore[arg-type]
        assert found.is_in_final_campaign and found.is_final
        assert (found.status, found.effective_status) == ("ACTIVE", "ARCHIVED")


@pytest.mark.parametrize("level", ["campaign", "ad_set", "ad"])
def test_an_id_of_another_level_or_of_nothing_is_none(
    meta: MetaAds, campaign: str, ad_set: str, ad: str, level: Level
) -> None:
    ids = {"campaign": campaign, "ad_set": ad_set, "ad": ad}
    found = {name: meta.state(level, number) is not None for name, number in ids.items()}
    assert found == {name: name == level for name in ids}
    for odd in ("1", "act_204815163000041", "me", "../act_1", "²", "1" * 33, ""):
        assert meta.state(level, odd) is None


def test_pausing_resuming_and_budgets_change_what_is_told(meta: MetaAds, campaign: str, ad_set: str) -> None:
    meta.pause("campaign", campaign)
    assert seen(meta, "campaign", campaign).status == "PAUSED"
    assert seen(meta, "ad_set", ad_set).effective_status == "CAMPAIGN_PAUSED"
    meta.resume("campaign", campaign)
    assert seen(meta, "campaign", campaign).status == "ACTIVE"
    meta.set_budget("ad_set", ad_set, "daily", 1234)
    assert seen(meta, "ad_set", ad_set).budget("daily") == 1234


def test_a_lifetime_budget_is_another_type(sandbox: RunningSandbox, meta: MetaAds, ad_set: str) -> None:
    sandbox.set(ad_set, lifetime_budget="50000", daily_budget="0")
    found = seen(meta, "ad_set", ad_set)
    assert (found.budget("daily"), found.budget("lifetime")) == (None, 50000)
    meta.set_budget("ad_set", ad_set, "lifetime", 60000)
    assert seen(meta, "ad_set", ad_set).budget("lifetime") == 60000


def test_a_sync_after_a_change_sees_it_and_delivery_does_not(meta: MetaAds, campaign: str) -> None:
    meta.pause("campaign", campaign)
    rows = {row["campaign_id"]: row for row in meta.entities()["campaigns"]}
    assert rows[campaign]["status"] == "PAUSED"


@pytest.mark.parametrize(
    ("fault", "error", "reason"),
    [
        ({"kind": "code", "code": "200"}, Refused, "permission_missing"),
        ({"kind": "code", "code": "100", "subcode": 1885272}, Refused, "budget_too_low"),
        ({"kind": "code", "code": "100", "subcode": 1885650}, Refused, "budget_too_low"),
        ({"kind": "code", "code": "100"}, Refused, "bad_parameter"),
        ({"kind": "revoked"}, Revoked, "connection_revoked"),
        ({"kind": "code", "code": "190", "subcode": 463}, Revoked, "expired"),
        ({"kind": "reset"}, Transient, "connection"),
        ({"kind": "truncation"}, Malformed, "malformed"),
    ],
    ids=lambda value: value.get("kind") if isinstance(value, dict) else None,
)
def test_a_change_that_fails_says_how(
    sandbox: RunningSandbox, meta: MetaAds, ad_set: str, fault: dict[str, object], error: type[Exception], reason: str
) -> None:
    sandbox.plan({"route": f"/{ad_set}$", "method": "POST", "times": None, **fault})
    with pytest.raises(error) as caught:
        meta.set_budget("ad_set", ad_set, "daily", 2000)
    assert getattr(caught.value, "reason", None) == reason


def test_a_status_that_the_platform_leaves_out_is_none(sandbox: RunningSandbox, meta: MetaAds, campaign: str) -> None:
    sandbox.set(campaign, status=None, effective_status=None)
    found = seen(meta, "campaign", campaign)
    assert (found.status, found.effective_status) == (None, None)


def test_every_ad_but_archived_ones_is_told_with_where_it_leads(sandbox: RunningSandbox, meta: MetaAds) -> None:
    own = [row for row in sandbox.world.ads if row.account_id == meta.account_id]
    names = {row.id: row.name for row in sandbox.world.campaigns}
    assert {(one.ad_id, one.name, one.campaign_name, one.landing_url, one.url_tags) for one in meta.linked_ads()} == {
        (row.id, row.name, names[row.campaign_id], row.landing_url, row.url_tags)
        for row in own
        if row.status != "ARCHIVED"
    }
    assert any(row.status == "ARCHIVED" for row in own)


@pytest.mark.parametrize(("currency", "minor"), [("USD", 5000), ("HUF", 500000), ("JPY", 5000), ("JOD", 50000)])
def test_budgets_are_minor_units_of_iso_4217_where_meta_counts_others(currency: str, minor: int) -> None:
    assert meta_rows.budgets({"daily_budget": "5000"}, currency)["daily_budget_minor"] == minor


def test_the_currency_is_asked_for_only_when_it_is_not_given(
    sandbox: RunningSandbox, transport: Transport, campaign: str
) -> None:
    account = sandbox.world.accounts[0].id
    MetaAds(f"{sandbox.url}/meta", TOKENS["meta"], account, transport, currency="USD").state("campaign", campaign)
    assert sandbox.calls() == sandbox.calls(campaign) == 1
