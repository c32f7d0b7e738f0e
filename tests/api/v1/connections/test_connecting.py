"""Connecting accounts through the provider's page, from the request to the first sync."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from pydantic import SecretStr

from api import db, lapses, leading
from api.models import Connection, ConnectionSync, Handoff, Profile
from api.scopes import Scope
from sandbox.ad_catalogue import ACCOUNTS
from sandbox.faces import TOKENS
from tests.api.conftest import Caller
from tests.api.oauth.walk import form_token
from tests.api.v1.connections.conftest import Owner, state_of
from tests.factories import connected
from tests.factories.connected import refusal
from tests.fixtures.sandbox import RunningSandbox
from touchledger.settings import Settings

FIRST, SECOND = (row.id for row in ACCOUNTS[:2])


@pytest.fixture
def url(settings: Settings) -> str:
    return settings.operational_url


@pytest.fixture
def neighbour(url: str, profile: Profile) -> Profile:
    """Another profile of the same workspace."""
    with db.transaction(url) as session:
        made = Profile(workspace_id=profile.workspace_id, name="Neighbour", timezone="UTC", reporting_currency="USD")
        session.add(made)
    return made


def row(url: str, number: str) -> Connection:
    with db.transaction(url) as session:
        return session.get_one(Connection, number)


def syncs(url: str) -> dict[str, str]:
    with db.transaction(url) as session:
        return {one.connection_id: one.status for one in session.query(ConnectionSync)}


def test_an_ad_account_is_chosen_among_those_that_the_person_opened(url: str, owner: Owner) -> None:
    ended = owner.walk()
    number = ended["connection_id"]
    assert (ended["status"], ended["ended_at"]) == ("completed", f"/handoffs/{ended['id']}")
    assert ended["result"] == {"connection_id": number, "accounts_found": len(ACCOUNTS)}
    assert owner.connection(number)["status"] == "pending_selection"
    offered = owner.keyed.get(f"/connections/{number}/accounts").get_json()["data"]
    assert [one["external_account_id"] for one in offered] == [one.id for one in ACCOUNTS]
    assert all(one["selectable"] and one["reason"] is None for one in offered)
    made = owner.finalize(number, FIRST, SECOND).get_json()["data"]
    assert [one["external_account_id"] for one in made] == [FIRST, SECOND]
    assert made[0]["connection_id"] == number
    assert {one["status"] for one in made} == {"active"}
    assert {one["last_sync"]["status"] for one in made} == {"queued"}
    assert made[0]["currency"] == ACCOUNTS[0].currency
    assert "ads_management" in made[0]["scopes_granted"]
    assert {row(url, one["connection_id"]).token for one in made} == {TOKENS["meta"]}
    assert refusal(owner.finalize(number, FIRST)) == (409, "invalid_state", "connection_not_pending")


@pytest.mark.parametrize(
    ("provider", "kind", "account"),
    [
        ("shopify", "store", "alder-finch"),
        ("payments", "payments", "acct_1AlderFinch"),
        ("chatapp", "messaging", "102290129340398"),
    ],
)
def test_the_only_account_is_connected_at_once(url: str, owner: Owner, provider: str, kind: str, account: str) -> None:
    ended = owner.walk(provider)
    told = owner.connection(ended["connection_id"])
    assert (told["status"], told["kind"], told["external_account_id"]) == ("active", kind, account)
    assert (told["provider"], ended["result"]["accounts_found"]) == (provider, 1)
    assert syncs(url) == ({} if kind == "messaging" else {ended["connection_id"]: "queued"})


def test_the_person_ends_where_the_caller_wants(owner: Owner) -> None:
    plain = owner.walk(return_url="https://app.example/done")
    assert plain["ended_at"] == f"https://app.example/done?handoff_id={plain['id']}"
    asking = owner.walk("shopify", return_url="https://app.example/done?tab=2")
    assert asking["ended_at"] == f"https://app.example/done?tab=2&handoff_id={asking['id']}"
    # with a second "?" the name of the parameter had begun with one
    empty = owner.walk("payments", return_url="https://app.example/done?")
    assert empty["ended_at"] == f"https://app.example/done?handoff_id={empty['id']}"


def test_a_person_who_says_no_connects_nothing(owner: Owner) -> None:
    ended = owner.walk(decision="deny")
    assert (ended["status"], ended["reason"], ended["result"]) == ("failed", "provider_denied", None)
    assert owner.connection(ended["connection_id"])["status"] == "disconnected"


def test_a_code_that_the_provider_does_not_know_connects_nothing(owner: Owner) -> None:
    begun = owner.begin()
    forged = owner.decide(begun["url"], "deny").replace("error=access_denied", "code=forged")
    assert owner.come_back(forged).status_code == 303
    assert owner.keyed.get(f"/handoffs/{begun['id']}").get_json()["data"]["reason"] == "provider_denied"


def test_a_state_serves_once_and_only_at_its_own_provider(owner: Owner) -> None:
    back = owner.decide(owner.begin("shopify")["url"])
    assert owner.come_back(back.replace("/connect/shopify/", "/connect/payments/")).status_code == 400
    assert owner.come_back(back.replace("/connect/shopify/", "/connect/nowhere/")).status_code == 400
    assert owner.come_back(back.replace("state=", "state=x")).status_code == 400
    assert owner.come_back(back).status_code == 303
    assert owner.come_back(back).status_code == 400


def test_a_state_is_used_up_before_the_provider_is_asked(url: str, owner: Owner) -> None:
    state = state_of(owner.decide(owner.begin()["url"]))
    browser = owner.client.get_cookie("touchledger_visitor")
    assert browser is not None
    told = {"provider": "meta", "state": state, "visitor": browser.value}
    with db.transaction(url) as session:
        assert leading.claim(session, **told) is not None
    with db.transaction(url) as session:
        assert leading.claim(session, **told) is None


@pytest.mark.parametrize(
    "change", [{"expires_at": db.now()}, {"status": "canceled"}, {"kind": "checkout"}, {"id": "x"}]
)
def test_a_page_for_which_nobody_waits_any_more_leads_to_no_provider(
    url: str, owner: Owner, change: dict[str, Any]
) -> None:
    path = urlsplit(owner.begin()["url"]).path
    page = owner.client.get(path)
    assert page.status_code == 200
    with db.transaction(url) as session:
        for name, value in change.items():
            setattr(session.query(Handoff).one(), name, value)
    gone = [owner.client.get(path), owner.client.post(path, data={"form_token": form_token(page)})]
    assert [(answer.status_code, "Location" in answer.headers) for answer in gone] == [(400, False)] * 2


def test_after_an_hour_the_way_back_is_closed(settings: Settings, url: str, owner: Owner) -> None:
    begun = owner.begin()
    back = owner.decide(begun["url"])
    with db.transaction(url) as session:
        session.get_one(Handoff, begun["id"]).expires_at = db.now() - timedelta(seconds=1)
    assert owner.come_back(back).status_code == 400
    ended = owner.keyed.get(f"/handoffs/{begun['id']}").get_json()["data"]
    assert (ended["status"], ended["reason"]) == ("expired", "abandoned")
    assert owner.connection(begun["connection_id"])["status"] == "pending"
    lapses.lapse(settings)
    assert owner.connection(begun["connection_id"])["status"] == "disconnected"


def test_the_state_is_not_kept_where_it_could_be_used(url: str, owner: Owner) -> None:
    begun = owner.begin()
    page = owner.go_on(begun["url"]).headers["Location"]
    with db.transaction(url) as session:
        kept = session.get_one(Handoff, begun["id"]).external_ref
    assert kept is not None
    assert kept not in page


def test_a_newer_hand_off_to_the_same_provider_ends_the_older(owner: Owner) -> None:
    older, other = owner.begin(), owner.begin("shopify")
    back = owner.decide(older["url"])
    newer = owner.begin()
    states = [owner.keyed.get(f"/handoffs/{one['id']}").get_json()["data"]["status"] for one in (older, other, newer)]
    assert states == ["canceled", "pending", "pending"]
    assert owner.connection(older["connection_id"])["status"] == "disconnected"
    assert owner.come_back(back).status_code == 400
    assert owner.come_back(urlsplit(older["url"]).path).status_code == 400


def test_disconnecting_ends_the_hand_off_that_is_open_for_the_connection(owner: Owner) -> None:
    # it had stayed pending for its hour, and whoever let us in then was told that the provider had refused
    begun, other = owner.begin(), owner.begin("shopify")
    back = owner.decide(begun["url"])
    assert owner.keyed("DELETE", f"/connections/{begun['connection_id']}").status_code == 200
    ended, open_ = (owner.keyed.get(f"/handoffs/{one['id']}").get_json()["data"] for one in (begun, other))
    assert (ended["status"], ended["url"], ended["reason"]) == ("canceled", None, None)
    assert open_["status"] == "pending"
    assert owner.come_back(back).status_code == 400
    assert owner.connection(begun["connection_id"])["status"] == "disconnected"


def test_an_account_of_another_profile_of_the_workspace_cannot_be_chosen(
    url: str, owner: Owner, neighbour: Profile, sandbox: RunningSandbox
) -> None:
    connected.to_meta(url, neighbour, sandbox.url)
    number = owner.walk()["connection_id"]
    offered = owner.keyed.get(f"/connections/{number}/accounts").get_json()["data"]
    assert (offered[0]["selectable"], offered[0]["reason"]) == (False, "account_connected_elsewhere")
    assert refusal(owner.finalize(number, SECOND, FIRST)) == (409, "account_connected_elsewhere", None)
    assert owner.connection(number)["status"] == "pending_selection"
    assert syncs(url) == {}
    assert owner.finalize(number, SECOND).status_code == 200


def test_the_only_account_being_of_another_profile_fails_the_hand_off(
    url: str, owner: Owner, neighbour: Profile, sandbox: RunningSandbox
) -> None:
    connected.to_store(url, neighbour, sandbox.url, external_account_id="alder-finch")
    ended = owner.walk("shopify")
    assert (ended["status"], ended["reason"]) == ("failed", "account_connected_elsewhere")
    assert row(url, ended["connection_id"]).token == ""


def test_a_lost_connection_is_made_anew_and_stays_itself(
    url: str, owner: Owner, profile: Profile, sandbox: RunningSandbox
) -> None:
    lost = connected.to_meta(url, profile, sandbox.url, status="reconnect_required", status_reason="revoked", token="")
    ended = owner.walk(reconnect_connection_id=lost.id)
    assert (ended["status"], ended["connection_id"]) == ("completed", lost.id)
    kept = row(url, lost.id)
    assert (kept.status, kept.status_reason, kept.token) == ("active", None, TOKENS["meta"])
    assert syncs(url) == {lost.id: "queued"}


def test_another_account_does_not_take_the_place_of_the_lost_one(
    url: str, owner: Owner, profile: Profile, sandbox: RunningSandbox
) -> None:
    lost = connected.to_meta(url, profile, sandbox.url, status="reconnect_required", external_account_id="1")
    ended = owner.walk(reconnect_connection_id=lost.id)
    assert (ended["status"], ended["reason"]) == ("failed", "provider_denied")
    assert row(url, lost.id).status == "reconnect_required"


def test_connecting_an_account_again_gives_its_connection_the_new_token(
    url: str, owner: Owner, profile: Profile, sandbox: RunningSandbox
) -> None:
    lost = connected.to_meta(url, profile, sandbox.url, status="reconnect_required", token="")
    number = owner.walk()["connection_id"]
    made = owner.finalize(number, FIRST).get_json()["data"]
    assert [one["connection_id"] for one in made] == [lost.id]
    assert row(url, lost.id).status == "active"
    assert row(url, number).status == "disconnected"


def test_what_is_unfinished_or_over_cannot_be_made_anew(
    url: str, owner: Owner, profile: Profile, sandbox: RunningSandbox
) -> None:
    over = connected.to_meta(url, profile, sandbox.url, status="disconnected", token="")
    for provider, answer in (("meta", (409, "connection_not_ready")), ("shopify", (422, "validation_error"))):
        body = {"provider": provider, "reconnect_connection_id": over.id}
        assert refusal(owner.keyed.post("/connections/connect", json=body))[:2] == answer
    body = {"provider": "meta", "reconnect_connection_id": db.new_id()}
    assert refusal(owner.keyed.post("/connections/connect", json=body))[:2] == (404, "not_found")


def test_before_the_person_decided_there_is_nothing_to_choose_from(owner: Owner) -> None:
    number = owner.begin()["connection_id"]
    assert refusal(owner.keyed.get(f"/connections/{number}/accounts"))[:2] == (409, "connection_not_ready")
    assert refusal(owner.finalize(number, FIRST)) == (409, "invalid_state", "connection_not_pending")


def test_an_account_that_was_not_offered_is_refused(owner: Owner) -> None:
    number = owner.walk()["connection_id"]
    assert refusal(owner.finalize(number, FIRST, "123"))[:2] == (422, "validation_error")
    assert refusal(owner.finalize(number))[:2] == (422, "validation_error")


@pytest.mark.parametrize(
    ("changes", "provider", "why"),
    [
        ({"connect_sandbox": "off"}, "meta", "This deployment has no app at this provider."),
        ({"connect_sandbox": "off"}, "shopify", "The deployment's operator connects these by `touchledger connect`."),
        ({}, "social", "No account of this provider can be connected."),
        ({"sandbox_port": 1}, "shopify", "The sandbox does not run beside this deployment."),
    ],
    ids=["no app", "no real one", "a provider nobody speaks to", "no sandbox runs"],
)
def test_a_provider_that_is_not_configured_is_503(
    settings: Settings, owner: Owner, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], provider: str, why: str
) -> None:
    monkeypatch.setitem(owner.client.application.config, "SETTINGS", settings.model_copy(update=changes))
    answer = owner.keyed.post("/connections/connect", json={"provider": provider})
    assert refusal(answer)[:2] == (503, "service_unavailable")
    assert (answer.get_json()["error"]["message"], int(answer.headers["Retry-After"]) >= 1) == (why, True)


def test_an_app_of_our_own_leads_to_the_real_provider(
    settings: Settings, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {"meta_app_id": "42", "meta_app_secret": SecretStr("s3cret"), "connect_sandbox": "off"}
    monkeypatch.setitem(owner.client.application.config, "SETTINGS", settings.model_copy(update=own))
    address = owner.go_on(owner.begin()["url"]).headers["Location"]
    assert address.startswith("https://www.facebook.com/v26.0/dialog/oauth?client_id=42&")
    assert "s3cret" not in address


def test_reading_alone_connects_nothing(caller_with: Callable[..., Caller]) -> None:
    reading = caller_with(scopes=[Scope.CONNECTIONS_READ])
    assert refusal(reading.post("/connections/connect", json={"provider": "meta"}))[:2] == (403, "insufficient_scope")
