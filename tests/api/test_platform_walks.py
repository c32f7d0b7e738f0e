"""Whatever is asked of an ad platform, and however it fails, the API tells what stands there, or that nobody knows."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import sqlalchemy as sa
from werkzeug.test import TestResponse

from api import db
from api.models import AuditEntry, Connection
from api.models.request import RateUse
from connectors.ad_platform import Level, LiveState
from connectors.ad_platforms import opened
from connectors.transport import Transport
from sandbox import google_world
from sandbox.faces import TOKENS
from sandbox.google_world import CUSTOMERS
from sandbox.tiktok_world import ADVERTISERS
from tests.factories import connected
from tests.factories.connected import Advertiser

SEED, STEPS = 12, 40
LEVELS: Mapping[str, Level] = {"campaigns": "campaign", "ad-sets": "ad_set", "ads": "ad"}
VERBS = {"campaigns": ("pause", "resume", "budget"), "ad-sets": ("budget",), "ads": ("pause", "resume")}
LOST: list[dict[str, Any]] = [{"kind": "truncation"}, {"kind": "truncation", "message": "announced"}]
UNHEARD: list[dict[str, Any]] = [{"kind": "reset"}, {"kind": "html"}, {"kind": "throttled", "wait": 600}]


@dataclass(frozen=True)
class Place:
    """An account at a platform: where its requests go, what refuses one there, and what its own tool does."""

    advertiser: Advertiser
    connection: Connection
    ids: Mapping[Level, str]
    writes: str
    reads: str
    refuses: tuple[str, ...]
    tool: Callable[[Level, str], None]

    def state(self, level: Level) -> LiveState:
        """What the platform holds, asked past everything that is under test."""
        with Transport() as transport:
            platform = opened(self.advertiser.settings, self.connection.provider, self.connection.access, transport)
            found = platform.state(level, self.ids[level])
        assert found is not None
        return found

    def mend(self) -> None:
        """Let the connection be as it was, as its owner does after a token has died, and nothing be spent."""
        with db.transaction(self.advertiser.settings.operational_url) as session:
            session.execute(sa.delete(RateUse))
            row = session.get_one(Connection, self.connection.id)
            row.status, row.status_reason, row.token = "active", None, self.connection.token


@pytest.fixture(params=["meta", "tiktok", "google"])
def place(request: pytest.FixtureRequest, advertiser: Advertiser) -> Place:
    return {"meta": at_meta, "tiktok": at_tiktok, "google": at_google}[request.param](advertiser)


def moved(advertiser: Advertiser, provider: str, account: str) -> Connection:
    """The profile's connection, made one of another provider."""
    with db.transaction(advertiser.settings.operational_url) as session:
        row = session.get_one(Connection, advertiser.connection.id)
        row.provider, row.base_url, row.token = provider, f"{advertiser.sandbox.url}/{provider}", TOKENS[provider]
        row.external_account_id = account
    return connected.reload(advertiser.settings.operational_url, advertiser.connection)


def at_meta(advertiser: Advertiser) -> Place:
    ids: dict[Level, str] = {level: advertiser.one(level) for level in LEVELS.values()}

    def tool(level: Level, status: str) -> None:
        advertiser.sandbox.set(ids[level], status=status)

    return Place(advertiser, advertiser.connection, ids, r"/\d+$", r"/\d+$", ("294", "368", "100"), tool)


def at_tiktok(advertiser: Advertiser) -> Place:
    ids: dict[Level, str] = {"campaign": "1780000000010000", "ad_set": "1780000000010100", "ad": "1780000000010101"}
    words = {"ACTIVE": "ENABLE", "PAUSED": "DISABLE"}

    def tool(level: Level, status: str) -> None:
        advertiser.sandbox.set_tiktok(ids[level], operation_status=words[status])

    connection = moved(advertiser, "tiktok", ADVERTISERS[0].id)
    return Place(advertiser, connection, ids, "/update/$", "/get/$", ("40001", "41000", "40002"), tool)


def at_google(advertiser: Advertiser) -> Place:
    tree = google_world.build(advertiser.sandbox.world).tree
    campaign = tree.campaigns[0]
    ad_set = next(row for row in tree.ad_sets if row.campaign_id == campaign.id)
    ad = next(row for row in tree.ads if row.ad_set_id == ad_set.id)
    ids: dict[Level, str] = {"campaign": campaign.id, "ad_set": ad_set.id, "ad": ad.id}
    names = {"campaign": f"campaigns/{campaign.id}", "ad": f"adGroupAds/{ad_set.id}~{ad.id}"}

    def tool(level: Level, status: str) -> None:
        resource = f"customers/{CUSTOMERS[0].id}/{names[level]}"
        advertiser.sandbox.set_google(resource, status={"ACTIVE": "ENABLED"}.get(status, status))

    connection = moved(advertiser, "google", CUSTOMERS[0].id)
    refuses = ("ACTION_NOT_PERMITTED", "RESOURCE_NOT_FOUND", "MONEY_AMOUNT_LESS_THAN_CURRENCY_MINIMUM_CPC")
    return Place(advertiser, connection, ids, ":mutate$", ":search$", refuses, tool)


def faults(place: Place, chance: random.Random) -> list[dict[str, Any]]:
    """What goes wrong with the next change: nothing, a loss or a refusal, a loss before a refusal, or every read."""
    write: dict[str, Any] = {"route": place.writes, "method": "POST"}
    if chance.random() < 0.35:
        return []
    refused = [
        {"kind": "code", "code": chance.choice(place.refuses), "times": None},
        {"kind": "revoked", "times": None},
    ]
    first = chance.choice([*LOST, *UNHEARD])
    last = chance.choice([{**chance.choice(UNHEARD), "times": None}, *refused, None])
    plan = [{**write, **one} for one in chance.choice([[first], [last], [first, last]]) if one]
    if chance.random() < 0.2:
        # it can be found, and not be looked at again
        plan.append({"route": place.reads, "kind": "reset", "after": chance.choice([1, 2, 3]), "times": None})
    return plan


def ask(place: Place, chance: random.Random) -> tuple[Level, str, dict[str, Any], TestResponse]:
    noun = chance.choice(list(VERBS))
    level, verb = LEVELS[noun], chance.choice(VERBS[noun])
    body: dict[str, Any] = {"dry_run": chance.random() < 0.1}
    if verb == "budget":
        live = place.state(level).daily_budget_minor or 6000
        # platforms count in steps
        body["amount_minor"] = max(1, round(live * chance.choice([0.6, 1, 1.2, 1.5, 2]) / 100)) * 100
    place.advertiser.sandbox.plan(*faults(place, chance))
    answer = place.advertiser.post(f"/{noun}/{place.ids[level]}/{verb}", body)
    place.advertiser.sandbox.plan()
    return level, verb, body, answer


def own(state: LiveState) -> tuple[str | None, int | None]:
    return state.status, state.daily_budget_minor


def value(state: LiveState, verb: str) -> Any:
    return state.daily_budget_minor if verb == "budget" else state.status


def test_what_the_api_tells_of_a_change_is_what_the_platform_holds_or_not_known(place: Place) -> None:
    chance, ends = random.Random(SEED), Counter[str]()
    for _ in range(STEPS):
        if chance.random() < 0.15:
            place.tool(chance.choice(["campaign", "ad"]), chance.choice(["ACTIVE", "PAUSED"]))
        before = {level: place.state(level) for level in LEVELS.values()}
        level, verb, body, answer = ask(place, chance)
        after = place.state(level)
        place.mend()
        told, entry = answer.get_json(), place.advertiser.trail()[-1]
        was, now = value(before[level], verb), value(after, verb)
        assert [own(place.state(other)) == own(before[other]) for other in before if other != level] == [True, True]
        if answer.status_code == 200:
            ends[told["data"]["outcome"]] += 1
            check_done(told["data"], body, was, now)
        else:
            ends[told["error"]["code"]] += 1
            check_refused(told["error"], entry, was, now)
        check_status(place, chance, ends)
    assert {"changed", "paused", "resumed", "no_change", "provider_error"} <= set(ends), ends


def check_done(told: dict[str, Any], body: dict[str, Any], was: Any, now: Any) -> None:
    name = "budget_{}_minor" if "budget_type" in told else "status_{}"
    assert told[name.format("before")] == was
    assert told[name.format("after")] in (now, None)
    if body["dry_run"]:
        assert was == now


def check_refused(error: dict[str, Any], entry: AuditEntry, was: Any, now: Any) -> None:
    assert error["code"] != "internal_error", error
    if was != now:
        assert entry.details.get("confirmed") is False, (error, entry.details)
        assert error["code"] == "connection_revoked" or "may" in error["message"], error


def check_status(place: Place, chance: random.Random, ends: Counter[str]) -> None:
    """What is told of a campaign is what stands there, or nothing is."""
    held = place.state("campaign")
    if chance.random() < 0.5:
        fault = chance.choice([*LOST, *UNHEARD, {"kind": "duplicate_page"}, {"kind": "shape"}])
        place.advertiser.sandbox.plan({"route": place.reads, "times": chance.choice([1, None]), **fault})
    answer = place.advertiser.ask("GET", f"/campaigns/{place.ids['campaign']}/status")
    place.advertiser.sandbox.plan()
    if answer.status_code != 200:
        assert answer.get_json()["error"]["code"] == "provider_error"
        ends["unreadable"] += 1
        return
    told = answer.get_json()["data"]
    assert (told["status"], told["daily_budget_minor"], told["status_source"]) == (*own(held), "live")
