"""TikTok from the hand-off to a paused campaign: the sandbox over HTTP, everything else in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from api import db
from api.ad_entities import entity_id
from api.models import Connection, Profile
from api.scopes import Scope
from connectors.tiktok_ads import TikTokAds
from connectors.transport import Transport
from orchestration.lake import Lake
from orchestration.partitions import DayRange
from orchestration.sync import sync_kind
from sandbox.faces import TOKENS
from sandbox.tiktok_world import ADVERTISERS, PLANS
from tests.api.conftest import Caller
from tests.api.v1.connections.conftest import Owner
from tests.factories import served
from tests.factories.connected import data, refusal
from tests.fixtures.sandbox import TODAY, RunningSandbox
from touchledger.settings import Settings

US, EUROPE = (row.id for row in ADVERTISERS)
CAMPAIGN, AD_SET = "1780000000010000", "1780000000010100"
DAYS = DayRange(TODAY, TODAY)


@pytest.fixture
def sandbox(sandbox: RunningSandbox) -> Iterator[RunningSandbox]:
    """What is changed at TikTok here is undone."""
    yield sandbox
    httpx.delete(f"{sandbox.url}/__sandbox__/tiktok/objects", trust_env=False).raise_for_status()


@pytest.fixture
def applying(caller_with: Callable[..., Caller]) -> Caller:
    return caller_with(scopes=[Scope.CAMPAIGNS_READ, Scope.CAMPAIGNS_APPLY, Scope.ANALYTICS_READ])


@pytest.fixture
def connection(settings: Settings, profile: Profile, sandbox: RunningSandbox) -> Connection:
    """The first advertiser, connected."""
    with db.transaction(settings.operational_url) as session:
        made = Connection(
            profile_id=profile.id,
            provider="tiktok",
            kind="ad_platform",
            display_name=ADVERTISERS[0].name,
            external_account_id=US,
            base_url=f"{sandbox.url}/tiktok",
            token=TOKENS["tiktok"],
            currency="USD",
            is_sandbox=True,
        )
        session.add(made)
    return made


def publish(settings: Settings, profile: Profile, connection: Connection) -> None:
    """Serve what the connector reads of one day as figures: a campaign's row per campaign, its delivery."""
    with Transport() as transport:
        platform = TikTokAds(connection.base_url, connection.token, US, transport)
        found = platform.entities()["campaigns"]
        [(_, delivered)] = platform.delivery(TODAY, TODAY)
    entities = [
        {
            "profile_key": 1,
            "level": "campaign",
            "entity_key": number,
            "entity_id": entity_id(profile.id, "tiktok", "campaign", row["campaign_id"]),
            "platform": "tiktok",
            "platform_id": row["campaign_id"],
            **{name: row[name] for name in ("name", "status", "objective", "daily_budget_minor")},
        }
        for number, row in enumerate(found)
    ]
    keys = {row["platform_id"]: row["entity_key"] for row in entities}
    days = [
        {
            "profile_key": 1,
            "level": "campaign",
            "day": TODAY,
            "entity_key": keys[row["campaign_id"]],
            "spend_minor": int(row["spend"] * 100),
            "impressions": row["impressions"],
            "clicks": row["clicks"],
        }
        for row in delivered
    ]
    facts = {"profile_key": 1, "profile_id": profile.id, "currency": "USD", "time_zone": "UTC"}
    served.publish(settings.published, {"profiles": [facts], "entities": entities, "delivery_daily": days})


def test_two_advertisers_are_offered_chosen_and_synced(
    settings: Settings, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    # each trailing window costs requests, and a month of them tells no more than a day's
    monkeypatch.setattr("connectors.tiktok_ads.TRAILING_DAYS", 1)
    ended = owner.walk("tiktok")
    number = ended["connection_id"]
    assert (ended["status"], ended["result"]["accounts_found"]) == ("completed", 2)
    offered = owner.keyed.get(f"/connections/{number}/accounts").get_json()["data"]
    assert [(one["external_account_id"], one["currency"], one["timezone"]) for one in offered] == [
        (row.id, row.currency, row.time_zone) for row in ADVERTISERS
    ]
    made = owner.finalize(number, US, EUROPE).get_json()["data"]
    assert [(one["provider"], one["kind"], one["status"], one["last_sync"]["status"]) for one in made] == [
        ("tiktok", "ads", "active", "queued")
    ] * 2
    with db.transaction(settings.operational_url) as session:
        # all but the newest day was pulled before, as far as they know
        session.execute(sa.update(Connection).values(synced_through=DAYS.first - timedelta(days=1)))
    lake = Lake(settings.lake)
    lake.prepare()
    pulls = sync_kind(settings, lake, "ad_platform", DAYS)
    assert [pull.failure for pull in pulls] == [None, None]
    landed = {batch for pull in pulls for batch in pull.landings}
    assert {one.dataset for one in landed} == {
        "ad_accounts", "campaigns", "ad_sets", "ads", "creatives", "ad_delivery", "entity_reach",
        "ad_delivery_breakdowns",
    }  # fmt: skip
    assert all(one.rows_loaded > 0 and one.rows_quarantined == 0 for one in landed)
    for one in made:
        told = owner.connection(one["connection_id"])["last_sync"]
        assert (told["status"], told["delivery_through"], told["error"]) == ("done", TODAY.isoformat(), None)
    again = sync_kind(settings, lake, "ad_platform", DAYS)
    assert [landing for pull in again for landing in pull.landings if landing.changed] == []


def test_a_person_who_says_no_at_tiktok_connects_nothing(owner: Owner) -> None:
    ended = owner.walk("tiktok", decision="deny")
    assert (ended["status"], ended["reason"]) == ("failed", "provider_denied")


def test_a_synced_campaign_is_listed_paused_and_resumed(
    settings: Settings, profile: Profile, connection: Connection, applying: Caller
) -> None:
    publish(settings, profile, connection)
    window = {"date_from": TODAY.isoformat(), "date_to": TODAY.isoformat(), "model": "last_touch"}
    [row] = [row for row in listed(applying, **window) if row["platform_id"] == CAMPAIGN]
    assert (row["platform"], row["campaign_name"]) == ("tiktok", PLANS[0].name)
    assert row["spend"] > 0
    for verb, outcome, after in (("pause", "paused", "PAUSED"), ("resume", "resumed", "ACTIVE")):
        done = data(applying.post(f"/campaigns/{row['campaign_id']}/{verb}", json={}))
        assert (done["outcome"], done["platform_id"], done["status_after"]) == (outcome, CAMPAIGN, after)
        told = data(applying.get(f"/campaigns/{CAMPAIGN}/status"))
        assert (told["platform"], told["status"], told["effective_status"]) == ("tiktok", after, after)
        assert (told["can_pause"], told["can_resume"]) == (after == "ACTIVE", after == "PAUSED")


def listed(caller: Caller, **query: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = data(caller.get("/campaigns", query_string=query))  # type: ignore[assignment]
    return found


def test_a_budget_under_tiktoks_minimum_is_refused_as_the_callers_mistake(
    connection: Connection, applying: Caller
) -> None:
    done = data(applying.post(f"/ad-sets/{AD_SET}/budget", json={"amount_minor": 3000}))
    assert (done["budget_before_minor"], done["budget_after_minor"], done["currency"]) == (6000, 3000, "USD")
    too_low = applying.post(f"/ad-sets/{AD_SET}/budget", json={"amount_minor": 1900})
    assert refusal(too_low) == (422, "validation_error", None)


def test_a_deleted_campaign_cannot_be_paused(sandbox: RunningSandbox, connection: Connection, applying: Caller) -> None:
    deleted = f"{sandbox.url}/__sandbox__/tiktok/objects/{CAMPAIGN}"
    httpx.put(deleted, json={"operation_status": "DELETE"}, trust_env=False).raise_for_status()
    assert refusal(applying.post(f"/campaigns/{CAMPAIGN}/pause", json={}))[:2] == (409, "campaign_not_pausable")


@pytest.mark.parametrize(
    ("fault", "answer", "status"),
    [
        ({"kind": "revoked"}, (409, "connection_revoked", None), "reconnect_required"),
        ({"kind": "code", "code": "40102"}, (409, "connection_revoked", None), "reconnect_required"),
        ({"kind": "code", "code": "40001"}, (403, "forbidden", "platform_permission_denied"), "needs_action"),
        ({"kind": "throttled"}, (502, "provider_error", "throttled"), "active"),
    ],
    ids=["revoked", "expired", "no permission", "throttled"],
)
def test_what_tiktok_refuses_is_told_and_noted_on_the_connection(
    settings: Settings,
    sandbox: RunningSandbox,
    connection: Connection,
    applying: Caller,
    monkeypatch: pytest.MonkeyPatch,
    fault: dict[str, Any],
    answer: tuple[int, str, str | None],
    status: str,
) -> None:
    monkeypatch.setattr("connectors.tiktok_dialect.WAITS", (0.01,))
    sandbox.plan({"route": "/campaign/get/$", "times": None, **fault})
    assert refusal(applying.get(f"/campaigns/{CAMPAIGN}/status")) == answer
    with db.transaction(settings.operational_url) as session:
        assert session.get_one(Connection, connection.id).status == status


def test_a_scan_of_links_knows_tiktoks_macros(connection: Connection, caller_with: Callable[..., Caller]) -> None:
    scanning = caller_with(scopes=[Scope.ANALYTICS_READ, Scope.CAMPAIGNS_READ])
    found = data(scanning.post("/quality/utm/refresh", json={"platform": "tiktok"}))
    assert (found["source"], found["ads_scanned"]) == ("live", 6)
    # those of one campaign carry labels and no ids; the macros of the others are the right ones
    assert {(row["campaign_name"], tuple(row["issues"])) for row in found["ads"]} == {
        (PLANS[1].name, ("missing_ad_id",))
    }
