"""The live side of the Google Ads connector: what is there now, what is changed, and where ads lead."""

from __future__ import annotations

from dataclasses import replace

import pytest

from connectors.ad_platform import Level, LiveAdPlatform, LiveState
from connectors.errors import Malformed, Refused, Revoked, Transient
from connectors.google_ads import GoogleAds
from sandbox import google_world
from sandbox.google_world import CUSTOMERS, SUFFIX, TEMPLATES, Holdings
from tests.fixtures.sandbox import RunningSandbox

OWN = CUSTOMERS[0].id
MUTATE = {"route": ":mutate$", "times": None}


@pytest.fixture(scope="module")
def holdings(served_sandbox: RunningSandbox) -> Holdings:
    return google_world.build(served_sandbox.world)


@pytest.fixture
def ids(holdings: Holdings) -> dict[Level, str]:
    """A campaign with a budget of its own, and what is in it."""
    campaign = holdings.tree.campaigns[0]
    ad_set = next(row for row in holdings.tree.ad_sets if row.campaign_id == campaign.id)
    ad = next(row for row in holdings.tree.ads if row.ad_set_id == ad_set.id)
    return {"campaign": campaign.id, "ad_set": ad_set.id, "ad": ad.id}


def seen(google: GoogleAds, level: Level, number: str) -> LiveState:
    found = google.state(level, number)
    assert found is not None
    return found


def test_it_is_a_live_ad_platform(google: GoogleAds) -> None:
    platform: LiveAdPlatform = google
    assert platform.platform == "google"


def test_a_campaign_is_told_with_status_budget_and_the_accounts_currency(
    google: GoogleAds, holdings: Holdings, ids: dict[Level, str]
) -> None:
    row = holdings.tree.campaigns[0]
    assert seen(google, "campaign", row.id) == LiveState(
        "campaign", row.id, OWN, row.name, "ACTIVE", "ACTIVE", (), "USD", row.daily_budget_minor, None
    )


def test_an_id_of_another_level_or_of_nothing_is_none(google: GoogleAds, ids: dict[Level, str]) -> None:
    for level in ids:
        found = {name: google.state(level, number) is not None for name, number in ids.items()}
        assert found == {name: name == level for name in ids}
        for odd in ("1", "1 OR 1=1", "²", "1" * 33, ""):
            assert google.state(level, odd) is None


@pytest.mark.parametrize("level", ["campaign", "ad_set", "ad"])
def test_pausing_and_resuming_change_what_is_told(google: GoogleAds, ids: dict[Level, str], level: Level) -> None:
    before = seen(google, level, ids[level])
    google.pause(level, ids[level])
    assert seen(google, level, ids[level]) == replace(before, status="PAUSED", effective_status="PAUSED")
    google.resume(level, ids[level])
    assert seen(google, level, ids[level]) == before


def test_what_is_below_a_paused_or_removed_campaign_tells_of_it(
    sandbox: RunningSandbox, google: GoogleAds, ids: dict[Level, str]
) -> None:
    google.pause("campaign", ids["campaign"])
    below = seen(google, "ad", ids["ad"])
    assert (below.status, below.effective_status, below.campaign_statuses) == ("ACTIVE", "PAUSED", ("PAUSED",))
    sandbox.set_google(f"customers/{OWN}/campaigns/{ids['campaign']}", status="REMOVED")
    assert seen(google, "campaign", ids["campaign"]).is_final
    assert seen(google, "ad_set", ids["ad_set"]).is_in_final_campaign
    with pytest.raises(Refused):
        google.resume("campaign", ids["campaign"])


def test_a_budget_is_set_in_the_type_it_has(google: GoogleAds, holdings: Holdings, ids: dict[Level, str]) -> None:
    google.set_budget("campaign", ids["campaign"], "daily", 4321)
    assert seen(google, "campaign", ids["campaign"]).budget("daily") == 4321
    lasting = next(number for number, plan in holdings.plans.items() if plan.lifetime_minor)
    google.set_budget("campaign", lasting, "lifetime", 800_000)
    found = seen(google, "campaign", lasting)
    assert (found.budget("daily"), found.budget("lifetime")) == (None, 800_000)


def test_a_shared_budget_and_an_ad_groups_are_none_of_its_own(
    sandbox: RunningSandbox, google: GoogleAds, holdings: Holdings, ids: dict[Level, str]
) -> None:
    shared = next(number for number, plan in holdings.plans.items() if plan.shares)
    for level, number in (("campaign", shared), ("ad_set", ids["ad_set"])):
        found = seen(google, level, number)  # type: ignore[arg-type]
        assert (found.budget("daily"), found.budget("lifetime")) == (None, None)
        with pytest.raises(Refused):
            google.set_budget(level, number, "daily", 5000)  # type: ignore[arg-type]
    assert sandbox.calls(":mutate") == 0


@pytest.mark.parametrize(
    ("fault", "error", "reason"),
    [
        ({"kind": "code", "code": "ACTION_NOT_PERMITTED"}, Refused, "permission_missing"),
        ({"kind": "code", "code": "MONEY_AMOUNT_LESS_THAN_CURRENCY_MINIMUM_CPC"}, Refused, "budget_too_low"),
        ({"kind": "code", "code": "NON_MULTIPLE_OF_MINIMUM_CURRENCY_UNIT"}, Refused, "budget_between_steps"),
        ({"kind": "revoked"}, Revoked, "connection_revoked"),
        ({"kind": "reset"}, Transient, "connection"),
        ({"kind": "truncation"}, Malformed, "malformed"),
    ],
    ids=lambda part: part.get("code", part["kind"]) if isinstance(part, dict) else None,
)
def test_a_change_that_fails_says_how(
    sandbox: RunningSandbox, google: GoogleAds, ids: dict[Level, str], fault: dict[str, object], error: type[Exception],
    reason: str,
) -> None:  # fmt: skip
    sandbox.plan({**MUTATE, **fault})
    with pytest.raises(error) as caught:
        google.set_budget("campaign", ids["campaign"], "daily", 5000)
    assert getattr(caught.value, "reason", None) == reason


def test_a_budget_under_googles_own_least_says_so(google: GoogleAds, ids: dict[Level, str]) -> None:
    with pytest.raises(Refused) as caught:
        google.set_budget("campaign", ids["campaign"], "daily", 50)
    assert caught.value.reason == "budget_too_low"


def test_every_ad_but_removed_ones_is_told_with_where_it_leads(google: GoogleAds, holdings: Holdings) -> None:
    names = {row.id: row.name for row in holdings.tree.campaigns}
    own = [row for row in holdings.tree.ads if row.account_id == OWN]
    assert {(one.ad_id, one.name, one.campaign_name, one.landing_url, one.url_tags) for one in google.linked_ads()} == {
        (row.id, row.name, names[row.campaign_id], row.landing_url,
         TEMPLATES.get(names[row.campaign_id], f"{{lpurl}}?{SUFFIX}").removeprefix("{lpurl}?"))
        for row in own
        if row.status != "REMOVED" and row.id != row.ad_set_id
    } | {
        (group.id, group.name, names[group.campaign_id],
         next(row.landing_url for row in own if row.id == group.id), SUFFIX)
        for group in holdings.tree.ad_sets
        if group.account_id == OWN and any(row.id == group.id for row in own)
    }  # fmt: skip
    assert {one.ad_id for one in google.linked_ads() if one.is_asset_group} == {
        row.id for row in own if row.id == row.ad_set_id
    }
    assert any(row.status == "REMOVED" for row in own)
