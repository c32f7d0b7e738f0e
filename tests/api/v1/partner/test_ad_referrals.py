"""POST /partner/ad-referrals: all or nothing, each id once, and what was seen live stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from api import db
from api.hooks.chat_messages import outcome_key
from api.models import Profile
from api.scopes import DEFAULT_SCOPES, Scope
from api.snapshot import snapshots
from api.v1.events.ingest import accept
from api.warehouse_ids import identifier_id, uuid_v8
from tests.api.conftest import Caller
from tests.api.v1.events.conftest import anonymous, caller, caller_with, client, landing, profile, secret
from tests.factories import erasures, people, served
from tests.fixtures.statements import statements
from touchledger.settings import Settings

__all__ = ["anonymous", "caller", "caller_with", "client", "landing", "profile", "secret"]

Landing = Callable[..., list[dict[str, Any]]]
REFERRAL: dict[str, Any] = {
    "referral_id": "r1",
    "conversation_id": "conv-1",
    "channel": "chatapp",
    "ad_id": "101",
    "occurred_at": "2026-03-05T10:00:00Z",
    "customer": {"email": "Ann@example.com"},
}


@pytest.fixture
def published(settings: Settings, profile: Profile) -> Iterator[None]:
    """Ads 101 of meta and 102 of google; the customer crm-1."""
    facts = {"profile_key": 1, "profile_id": profile.id, "time_zone": "UTC", "currency": "USD", "settings_version": "v"}
    ads = [
        {"profile_key": 1, "level": level, "entity_key": key, "entity_id": str(key), "name": "n", "platform": platform,
         "platform_id": platform_id}
        for key, (level, platform, platform_id) in enumerate(
            [("ad", "meta", "101"), ("ad", "google", "102"), ("campaign", "meta", "103")]
        )
    ]  # fmt: skip
    known = {"profile_key": 1, "identifier_id": identifier_id(profile.id, "external_id", "crm-1"), "person_ref": "p"}
    served.publish(settings.published, {"profiles": [facts], "entities": ads, "person_identifiers": [known]})
    yield
    snapshots(settings).close()


@pytest.fixture
def partner(caller_with: Callable[..., Caller], published: None) -> Callable[..., Any]:
    key = caller_with(scopes=[Scope.EVENTS_WRITE])
    return lambda *referrals: key.post("/partner/ad-referrals", json={"referrals": list(referrals)})


def _refusal(response: Any) -> tuple[int, str, str]:
    error = response.get_json()["error"]
    return response.status_code, error["code"], error["message"]


def test_nobody_hands_over_without_a_key_or_the_scope(anonymous: Caller, caller_with: Callable[..., Caller]) -> None:
    assert anonymous.post("/partner/ad-referrals", json={}).status_code == 401
    assert caller_with(scopes=DEFAULT_SCOPES).post("/partner/ad-referrals", json={}).status_code == 403


def test_a_person_is_told_that_any_key_will_do(client: FlaskClient, settings: Settings, profile: Profile) -> None:
    made = people.user(settings.operational_url)
    header = {"Authorization": f"Bearer {people.session_of(settings.operational_url, made)}"}
    refused = _refusal(client.post("/api/v1/partner/ad-referrals", json={}, headers=header))
    assert refused == (403, "api_key_required", "Only an API key may use this route.")


def test_a_referral_is_taken_as_a_touch_of_its_conversation(
    partner: Callable[..., Any], landing: Landing, profile: Profile
) -> None:
    response = partner({**REFERRAL, "platform": "meta", "click_id": "c", "customer": {"external_ref": "crm-1"}})
    assert response.status_code == 202
    assert response.get_json()["data"] == {
        "accepted": 1,
        "duplicates": 0,
        "superseded": 0,
        "referrals": [
            {"referral_id": "r1", "status": "accepted", "touch_id": uuid_v8(profile.id, "touch", "conversation:conv-1")}
        ],
    }
    assert landing("ad_referrals") == [
        {
            "referral_id": "r1",
            "conversation_id": "conv-1",
            "channel": "chatapp",
            "ad_id": "101",
            "click_id": "c",
            "occurred_at": "2026-03-05T10:00:00+00:00",
            "ad_platform": "meta",
            "external_id": "crm-1",
        }
    ]


def test_the_same_referral_again_is_a_duplicate_within_a_request_too(
    partner: Callable[..., Any], landing: Landing
) -> None:
    data = partner(REFERRAL, {**REFERRAL, "occurred_at": "2026-03-05T11:00:00+01:00"}).get_json()["data"]
    assert [one["status"] for one in data["referrals"]] == ["accepted", "duplicate"]
    assert partner(REFERRAL).get_json()["data"]["duplicates"] == 1
    assert len(landing("ad_referrals")) == 1


def test_a_referral_id_with_other_content_refuses_all(partner: Callable[..., Any], landing: Landing) -> None:
    partner(REFERRAL)
    refused = _refusal(partner({**REFERRAL, "referral_id": "r2"}, {**REFERRAL, "conversation_id": "conv-2"}))
    assert refused[:2] == (409, "idempotency_key_conflict")
    assert refused[2].startswith("referrals[1].referral_id")
    assert len(landing("ad_referrals")) == 1


@pytest.mark.parametrize(
    "change", [{"ad_id": "999"}, {"ad_id": "103"}, {"ad_id": "101", "platform": "google"}], ids=str
)
def test_an_unknown_ad_refuses_all(partner: Callable[..., Any], landing: Landing, change: dict[str, Any]) -> None:
    refused = _refusal(partner(REFERRAL, {**REFERRAL, "referral_id": "r2", **change}))
    assert refused[:2] == (422, "unknown_ad")
    assert refused[2].startswith("referrals[1].ad_id")
    assert landing("ad_referrals") == []


def test_a_reference_nobody_has_refuses_all(partner: Callable[..., Any], landing: Landing) -> None:
    unknown = {**REFERRAL, "referral_id": "r2", "customer": {"external_ref": "crm-2"}}
    refused = _refusal(partner(REFERRAL, unknown))
    assert refused[:2] == (422, "unknown_customer_ref")
    assert refused[2].startswith("referrals[1].customer.external_ref")
    assert landing("ad_referrals") == []
    assert partner({**unknown, "customer": {"external_ref": "crm-2", "phone": "+14155550100"}}).status_code == 202


def test_the_reference_of_who_was_just_erased_refuses_all(
    partner: Callable[..., Any], landing: Landing, settings: Settings, profile: Profile
) -> None:
    erasures.forget(settings, profile.id, ("external_id", "crm-1"))
    erased = {**REFERRAL, "referral_id": "r2", "customer": {"external_ref": "crm-1"}}
    assert _refusal(partner(REFERRAL, erased))[:2] == (422, "unknown_customer_ref")
    assert landing("ad_referrals") == []


def test_the_address_of_somebody_erased_refuses_all_and_is_named(
    partner: Callable[..., Any], landing: Landing, settings: Settings, profile: Profile
) -> None:
    # the message named the field "None", and listed columns that no referral has
    erasures.forget(settings, profile.id, ("email", "ann@example.com"))
    other = {**REFERRAL, "referral_id": "r2", "conversation_id": "conv-2", "customer": {"phone": "+14155550100"}}
    told = "referrals[1].customer: nothing may be kept of whom it names."
    assert _refusal(partner(other, REFERRAL)) == (422, "validation_error", told)
    assert landing("ad_referrals") == []
    assert partner(other).status_code == 202


def test_a_conversation_seen_live_keeps_its_own_referral(
    partner: Callable[..., Any], landing: Landing, settings: Settings, profile: Profile
) -> None:
    live = {"referral_id": "live-1", "conversation_id": "conv-1", "channel": "chatapp", "ad_id": "102",
            "occurred_at": "2026-03-05T09:59:00Z", "phone": "+14155550100", "seen_live": True}  # fmt: skip
    unseen = {**live, "referral_id": "old-2", "conversation_id": "conv-2", "seen_live": False}
    # what the chat app's deliveries leave
    told = {name: live[name] for name in ("conversation_id", "occurred_at", "phone")}
    outcome = {**told, "conversion_key": outcome_key("conv-1"), "conversion_type": "dm_started", "source": "chat"}
    with db.transaction(settings.operational_url) as session:
        for dataset, records in (("ad_referrals", [live, unseen]), ("conversions", [outcome])):
            assert accept(session, profile_id=profile.id, dataset=dataset, records=records).accepted == len(records)
    data = partner(REFERRAL, {**REFERRAL, "referral_id": "r2", "conversation_id": "conv-2"}).get_json()["data"]
    assert (data["accepted"], data["superseded"]) == (1, 1)
    assert data["referrals"][0] == {"referral_id": "r1", "status": "superseded", "touch_id": None}
    assert [one["referral_id"] for one in landing("ad_referrals")] == ["live-1", "old-2", "r2"]


def test_conversations_that_nobody_saw_live_are_not_looked_for_among_all_referrals(
    partner: Callable[..., Any], settings: Settings
) -> None:
    # of 200,000 referrals of a profile all were read for each request
    with statements(db.engine_for(settings.operational_url)) as run:
        assert partner(REFERRAL).status_code == 202
    assert not [values for _, values in run if "seen_live" in str(values)]
    assert [values for _, values in run if outcome_key("conv-1") in str(values)]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"referral_id": ""}, "referrals[0].referral_id"),
        ({"channel": "web"}, "referrals[0].channel"),
        ({"occurred_at": "2026-03-05T10:00:00"}, "referrals[0].occurred_at"),
        ({"customer": {}}, "referrals[0].customer"),
        ({"customer": {"email": "nobody"}}, "referrals[0].customer.email"),
        ({"platform": "Meta!"}, "referrals[0].platform"),
        ({"seen_live": True}, "referrals[0].seen_live"),
    ],
    ids=str,
)
def test_a_wrong_referral_is_refused_with_its_field(
    partner: Callable[..., Any], change: dict[str, Any], told: str
) -> None:
    refused = _refusal(partner({**REFERRAL, **change}))
    assert refused[:2] == (422, "validation_error")
    assert refused[2].startswith(told)


@pytest.mark.parametrize("count", [0, 501])
def test_a_request_holds_one_to_five_hundred_referrals(partner: Callable[..., Any], count: int) -> None:
    many = [{**REFERRAL, "referral_id": f"r{number}"} for number in range(count)]
    assert _refusal(partner(*many))[:2] == (422, "validation_error")


def test_before_the_first_snapshot_no_ad_is_known(caller_with: Callable[..., Caller]) -> None:
    key = caller_with(scopes=[Scope.EVENTS_WRITE])
    assert _refusal(key.post("/partner/ad-referrals", json={"referrals": [REFERRAL]}))[:2] == (422, "unknown_ad")
