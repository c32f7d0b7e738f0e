"""A Google account from the consent page to a campaign that is seen and paused, against the sandbox over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import duckdb
import pytest
from flask.testing import FlaskClient

from api import db
from api.ad_entities import entity_id
from api.models import Connection, Profile
from api.scopes import Scope
from orchestration.lake import Lake
from orchestration.partitions import DayRange
from orchestration.sync import sync_kind
from sandbox import google_world
from sandbox.faces import TOKENS
from sandbox.google_world import CUSTOMERS, MANAGER
from tests.api.conftest import Caller
from tests.api.v1.connections.conftest import Owner
from tests.factories import served
from tests.factories.connected import data, refusal
from tests.fixtures.sandbox import TODAY, RunningSandbox
from touchledger.settings import Settings

SINCE = TODAY - timedelta(days=6)
SCOPES = (
    *(Scope.CONNECTIONS_READ, Scope.CONNECTIONS_WRITE, Scope.CAMPAIGNS_READ, Scope.CAMPAIGNS_APPLY),
    Scope.ANALYTICS_READ,
)


@pytest.fixture
def owner(caller_with: Callable[..., Caller], client: FlaskClient) -> Owner:
    return Owner(caller_with(scopes=SCOPES), client)


@pytest.fixture
def connected(owner: Owner) -> list[str]:
    """Ids of the connections to both customers."""
    number = owner.walk("google")["connection_id"]
    made = owner.finalize(number, *(row.id for row in CUSTOMERS)).get_json()["data"]
    return [one["connection_id"] for one in made]


@pytest.fixture
def lake(settings: Settings) -> Lake:
    made = Lake(settings.lake)
    made.prepare()
    return made


def row(settings: Settings, number: str) -> Connection:
    with db.transaction(settings.operational_url) as session:
        return session.get_one(Connection, number)


def landed(lake: Lake, dataset: str) -> list[dict[str, Any]]:
    files = f"{lake.root}/raw/{dataset}/**/*.parquet"
    found = duckdb.connect().execute("select * from read_parquet(?, union_by_name = true)", [files])
    names = [column[0] for column in found.description or []]
    return [dict(zip(names, values, strict=True)) for values in found.fetchall()]


def publish(settings: Settings, profile: Profile, lake: Lake) -> None:
    """Serve what a build would make of the campaigns that came and of what they spent."""
    facts = {"profile_key": 1, "profile_id": profile.id, "currency": "USD", "currency_digits": 2, "time_zone": "UTC"}
    keys = {one["campaign_id"]: number for number, one in enumerate(landed(lake, "campaigns"))}
    entities = [
        {
            **{"profile_key": 1, "level": "campaign", "entity_key": keys[one["campaign_id"]], "platform": "google"},
            "entity_id": entity_id(profile.id, "google", "campaign", one["campaign_id"]),
            **{"platform_id": one["campaign_id"], "name": one["name"], "status": one["status"]},
        }
        for one in landed(lake, "campaigns")
    ]
    delivery = [
        {
            **{"profile_key": 1, "level": "campaign", "day": one["date"], "entity_key": keys[one["campaign_id"]]},
            **{"spend_minor": int(one["spend"] * 100), "impressions": one["impressions"], "clicks": one["clicks"]},
        }
        for one in landed(lake, "ad_delivery")
    ]
    served.publish(settings.published, {"profiles": [facts], "entities": entities, "delivery_daily": delivery})


def test_every_customer_that_holds_ads_is_offered_with_the_way_to_it(settings: Settings, owner: Owner) -> None:
    ended = owner.walk("google")
    number = ended["connection_id"]
    assert ended["result"] == {"connection_id": number, "accounts_found": len(CUSTOMERS)}
    offered = owner.keyed.get(f"/connections/{number}/accounts").get_json()["data"]
    assert [(one["external_account_id"], one["name"], one["currency"]) for one in offered] == [
        (one.id, one.name, one.currency) for one in CUSTOMERS
    ]
    made = owner.finalize(number, *(one.id for one in CUSTOMERS)).get_json()["data"]
    kept = [row(settings, one["connection_id"]) for one in made]
    assert [(one.status, one.token, one.reached_through) for one in kept] == [
        ("active", TOKENS["google"], None),
        ("active", TOKENS["google"], MANAGER.id),
    ]
    assert made[0]["scopes_granted"] == ["https://www.googleapis.com/auth/adwords"]


def test_a_campaign_is_synced_seen_and_paused(
    settings: Settings, profile: Profile, owner: Owner, connected: list[str], sandbox: RunningSandbox, lake: Lake
) -> None:
    sync_kind(settings, lake, "ad_platform", DayRange(SINCE, TODAY))
    assert [owner.connection(one)["last_sync"]["status"] for one in connected] == ["done", "done"]
    assert [row(settings, one).synced_through for one in connected] == [TODAY, TODAY]
    publish(settings, profile, lake)
    asked = {"date_from": str(SINCE), "date_to": str(TODAY), "level": "campaign"}
    shown = owner.keyed.get("/campaigns", query_string=asked)
    holdings = google_world.build(sandbox.world)
    spent: dict[str, Decimal] = {}
    for customer in CUSTOMERS:
        for one in holdings.seen(customer.id, SINCE, TODAY, TODAY):
            spent[one.campaign_id] = spent.get(one.campaign_id, Decimal(0)) + one.spend_minor
    rows = {one["platform_id"]: one for one in shown.get_json()["data"]}
    assert {number: Decimal(str(one["spend"])) * 100 for number, one in rows.items()} == spent
    assert {one["platform"] for one in rows.values()} == {"google"}
    campaign = next(one for one in rows.values() if one["status"] == "ACTIVE")
    paused = data(owner.keyed.post(f"/campaigns/{campaign['campaign_id']}/pause", json={}))
    assert (paused["outcome"], paused["status_before"], paused["status_after"]) == ("paused", "ACTIVE", "PAUSED")
    live = data(owner.keyed.get(f"/campaigns/{campaign['campaign_id']}/status"))
    assert (live["status"], live["platform"], live["can_resume"]) == ("PAUSED", "google", True)


def test_a_budget_that_campaigns_share_is_not_changed_through_one_of_them(
    owner: Owner, connected: list[str], sandbox: RunningSandbox
) -> None:
    plans = google_world.build(sandbox.world).plans
    own = next(number for number, plan in plans.items() if plan.budget and not plan.shares)
    shared = next(number for number, plan in plans.items() if plan.shares)
    body = {"budget_type": "daily", "amount_minor": plans[own].budget + 100}
    changed = data(owner.keyed.post(f"/campaigns/{own}/budget", json=body))
    assert (changed["budget_before_minor"], changed["budget_after_minor"]) == (4000, 4100)
    refused = owner.keyed.post(f"/campaigns/{shared}/budget", json={**body, "amount_minor": plans[shared].budget})
    assert refusal(refused) == (409, "invalid_state", "no_budget_of_type")
    assert data(owner.keyed.get(f"/campaigns/{shared}/status"))["can_edit_budget"] is False


def test_a_scan_of_links_reads_templates_and_suffixes(
    owner: Owner, connected: list[str], sandbox: RunningSandbox
) -> None:
    world = google_world.build(sandbox.world)
    # the suffix of all campaigns names ads, which asset groups have none of
    assets = {row.name for row in world.tree.campaigns if world.plans[row.id].channel == google_world.ASSETS}
    found = data(owner.keyed.post("/quality/utm/refresh", json={"platform": "google"}))
    assert (found["source"], found["accounts_skipped"]) == ("live", [])
    assert {tuple(one["issues"]) for one in found["ads"]} == {("missing_ad_id",)}
    assert {one["campaign_name"] for one in found["ads"]} == set(google_world.TEMPLATES) | assets
    assert found["ads_ok"] > 0


def test_a_refresh_token_that_died_asks_for_the_owner(
    settings: Settings, owner: Owner, connected: list[str], sandbox: RunningSandbox, lake: Lake
) -> None:
    sandbox.plan({"route": "/google/token$", "kind": "revoked", "times": None})
    sync_kind(settings, lake, "ad_platform", DayRange(TODAY, TODAY))
    told = [owner.connection(one) for one in connected]
    assert [(one["status"], one["last_sync"]["error"]) for one in told] == [
        ("reconnect_required", "connection_revoked")
    ] * 2
    assert sandbox.hits() == [2]
