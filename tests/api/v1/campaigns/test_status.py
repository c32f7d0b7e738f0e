"""GET /campaigns/{id}/status: what the platform shows now, whose it is, and what happens when it cannot be asked."""

from __future__ import annotations

from typing import Any

import pytest

from api.ad_entities import entity_id
from sandbox.ad_catalogue import ACCOUNTS
from tests.factories import connected
from tests.factories.connected import Advertiser


def status(advertiser: Advertiser, id_: str) -> Any:
    response = advertiser.ask("GET", f"/campaigns/{id_}/status")
    assert response.status_code == 200, response.text
    assert response.headers["Cache-Control"] == "no-store"
    return response.get_json()["data"]


def refusal(advertiser: Advertiser, id_: str) -> tuple[int, str, str | None]:
    response = advertiser.ask("GET", f"/campaigns/{id_}/status")
    error = response.get_json()["error"]
    return response.status_code, error["code"], error.get("reason")


def test_a_campaign_is_told_as_the_platform_shows_it_now(advertiser: Advertiser) -> None:
    number = advertiser.one("campaign")
    advertiser.publish()
    advertiser.sandbox.set(number, status="PAUSED", daily_budget="7777")
    told = status(advertiser, number)
    assert told.pop("read_at") > "2026"
    assert told == {
        "campaign_id": entity_id(advertiser.profile.id, "meta", "campaign", number),
        "platform": "meta",
        "platform_id": number,
        "name": "Autumn Shells | Prospecting US",
        "status": "PAUSED",
        "effective_status": "PAUSED",
        "status_source": "live",
        "last_synced_status": "ACTIVE",
        "last_synced_at": None,
        "can_pause": False,
        "can_resume": True,
        "can_edit_budget": True,
        "daily_budget_minor": 7777,
        "lifetime_budget_minor": None,
        "currency": "USD",
    }


@pytest.mark.parametrize(("name", "told"), [("Shells \ud83e", "Shells \ufffd"), ("a\x00b", "a\ufffdb")])
def test_a_name_cut_in_the_middle_of_a_character_is_told_and_kept(advertiser: Advertiser, name: str, told: str) -> None:
    # the answer was 500 for half of a pair, and the trail kept what no answer can tell
    number = advertiser.one("campaign")
    advertiser.sandbox.set(number, name=name)
    assert status(advertiser, number)["name"] == told
    assert connected.data(advertiser.post(f"/campaigns/{number}/pause"))["outcome"] == "paused"
    assert advertiser.trail()[-1].details["target"]["label"] == told


def test_the_services_own_id_means_the_same_campaign(advertiser: Advertiser) -> None:
    number = advertiser.one("campaign")
    advertiser.publish()
    own = entity_id(advertiser.profile.id, "meta", "campaign", number)
    assert status(advertiser, own.upper())["platform_id"] == status(advertiser, number)["platform_id"] == number


def test_a_campaign_that_was_never_synced_is_found_by_its_platform_id(advertiser: Advertiser) -> None:
    told = status(advertiser, advertiser.one("campaign"))
    assert (told["status"], told["last_synced_status"], told["can_pause"]) == ("ACTIVE", None, True)


@pytest.mark.parametrize("final", ["ARCHIVED", "DELETED"])
def test_nothing_can_be_done_to_what_is_archived_or_deleted(advertiser: Advertiser, final: str) -> None:
    number = advertiser.one("campaign")
    advertiser.sandbox.set(number, status=final)
    told = status(advertiser, number)
    assert [told[name] for name in ("can_pause", "can_resume", "can_edit_budget")] == [False] * 3


def test_the_status_last_synced_stands_in_only_where_the_platform_tells_none(advertiser: Advertiser) -> None:
    number = advertiser.one("campaign")
    advertiser.sandbox.set(number, status=None, effective_status=None)
    assert refusal(advertiser, number) == (502, "provider_error", "bad_response")
    advertiser.publish(status="PAUSED")
    told = status(advertiser, number)
    assert (told["status"], told["status_source"], told["can_resume"]) == ("PAUSED", "last_synced", True)
    advertiser.sandbox.plan({"route": rf"/{number}$", "kind": "status", "status": 500, "times": None})
    assert refusal(advertiser, number) == (502, "provider_error", "unavailable")


def test_nothing_can_be_done_to_what_was_archived_when_the_platform_last_told_its_status(
    advertiser: Advertiser,
) -> None:
    number = advertiser.one("campaign")
    advertiser.sandbox.set(number, status=None, effective_status=None)
    advertiser.publish(status="ARCHIVED")
    told = status(advertiser, number)
    assert [told[name] for name in ("can_pause", "can_resume", "can_edit_budget")] == [False] * 3
    refused = advertiser.post(f"/campaigns/{number}/budget", {"amount_minor": told["daily_budget_minor"]})
    assert refused.get_json()["error"]["code"] == "campaign_not_editable"


@pytest.mark.parametrize(
    "id_", ["x", "12", "%00", "a%0Ab", "a%2Fb", "a%2Fstatus", "01900000-0000-7000-8000-00000000ffff", "9" * 129, "..."]
)
def test_an_unknown_and_a_malformed_id_are_answered_the_same(advertiser: Advertiser, id_: str) -> None:
    advertiser.publish()
    assert refusal(advertiser, id_) == (404, "campaign_not_found", None)


def test_a_platform_id_that_two_platforms_use_is_not_guessed(advertiser: Advertiser) -> None:
    advertiser.publish(platform_id="77")
    assert refusal(advertiser, "77")[1] == "campaign_not_found"


def test_of_several_accounts_the_one_that_has_the_campaign_answers(advertiser: Advertiser) -> None:
    url, profile, sandbox = advertiser.settings.operational_url, advertiser.profile, advertiser.sandbox
    connected.to_meta(url, profile, sandbox.url, account=1)
    foreign = next(row for row in sandbox.world.campaigns if row.account_id == ACCOUNTS[1].id)
    assert status(advertiser, foreign.id)["currency"] == "EUR"
    assert status(advertiser, advertiser.one("campaign"))["currency"] == "USD"


def test_an_account_that_is_lost_may_have_it(advertiser: Advertiser) -> None:
    url, profile, sandbox = advertiser.settings.operational_url, advertiser.profile, advertiser.sandbox
    lost = connected.to_meta(url, profile, sandbox.url, account=1, token="dead")
    foreign = next(row.id for row in sandbox.world.campaigns if row.account_id == ACCOUNTS[1].id)
    assert status(advertiser, advertiser.one("campaign"))["status"] == "ACTIVE"
    assert connected.reload(url, lost).status == "active"
    assert refusal(advertiser, foreign)[:2] == (409, "connection_revoked")
    assert connected.reload(url, lost).status == "reconnect_required"
    # that it is lost was noted meanwhile, and the same question had another answer
    assert refusal(advertiser, foreign)[:2] == (409, "connection_revoked")
    advertiser.publish(platform_id=foreign)
    assert refusal(advertiser, entity_id(profile.id, "meta", "campaign", advertiser.one("campaign")))[0] == 409


@pytest.mark.parametrize(
    ("state", "promised"),
    [
        ("pending", (409, "connection_not_ready", None)),
        ("reconnect_required", (409, "connection_revoked", None)),
        ("disconnected", (409, "platform_connection_required", None)),
    ],
)
def test_a_connection_that_cannot_be_asked_says_why(
    advertiser: Advertiser, state: str, promised: tuple[int, str, str | None]
) -> None:
    from api import db
    from api.models import Connection

    with db.transaction(advertiser.settings.operational_url) as session:
        session.get_one(Connection, advertiser.connection.id).status = state
    assert refusal(advertiser, advertiser.one("campaign")) == promised
