"""POST /partner/audiences/customer-list: who gets on a list at the sandbox, and what keeps anybody from it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import sqlalchemy as sa

from api import db
from api.customer_keys import customer_key
from api.models import AuditEntry, Connection, Entitlement, PartnerAudience, PiiAccess, Profile
from api.scopes import Scope
from api.snapshot import snapshots
from api.warehouse_ids import identifier_id, uuid_v8
from tests.api.conftest import Caller
from tests.api.v1.profiles.conftest import Ask, refusal
from tests.factories import accounts, connected, people, served
from tests.fixtures.sandbox import RunningSandbox
from tests.fixtures.waiting import AT_MOST
from touchledger.settings import Settings

PATH = "/partner/audiences/customer-list"
PEOPLE = {"ann": 1, "bob": 2, "eve": 3, "nil": 4}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def mail(name: str) -> str:
    return digest(f"{name}@example.com")


@pytest.fixture
def url(settings: Settings) -> str:
    return settings.operational_url


@pytest.fixture
def key(caller_with: Callable[..., Caller]) -> Caller:
    return caller_with(scopes=[Scope.EXPORTS_WRITE])


@pytest.fixture
def via(url: str, profile: Profile, sandbox: RunningSandbox) -> Connection:
    return connected.to_meta(url, profile, sandbox.url)


@pytest.fixture
def listed(settings: Settings, url: str, profile: Profile) -> Iterator[None]:
    """Ann and Bob with addresses, Eve who refuses marketing, Nil without address; the feature is on."""
    known = [
        {"profile_key": 1, "person_key": number, "person_ref": ref(profile, name[:3]),
         "identifier_id": identifier_id(profile.id, "external_id", name), "alias_ref": ref(profile, name)}
        for name, number in [*PEOPLE.items(), ("ann's other id", 1)]
    ]  # fmt: skip
    hashes: list[dict[str, Any]] = [
        {"profile_key": 1, "person_key": PEOPLE[name], "email_sha256": mail(name), "is_refused": name == "eve"}
        for name in ("ann", "bob", "eve")
    ]
    hashes[0]["phone_sha256"] = digest("14155550100")
    facts = {"profile_key": 1, "profile_id": profile.id, "time_zone": "UTC", "currency": "USD", "settings_version": "v"}
    served.publish(settings.published, {"profiles": [facts], "person_identifiers": known, "match_keys": hashes})
    with db.transaction(url) as session:
        session.add(Entitlement(profile_id=profile.id, feature="partner_audiences", is_enabled=True))
    yield
    snapshots(settings).close()


def ref(profile: Profile, name: str) -> str:
    return uuid_v8(profile.id, "person", name)


def body(*customers: dict[str, str], **more: Any) -> dict[str, Any]:
    return {"name": "Buyers", "customers": list(customers), **more}


def data(response: Any) -> dict[str, Any]:
    assert response.status_code == 202, response.text
    found: dict[str, Any] = response.get_json()["data"]
    return found


@pytest.mark.usefixtures("listed", "via")
def test_people_named_in_any_way_get_on_the_list_once_as_hashes(
    key: Caller, settings: Settings, profile: Profile, sandbox: RunningSandbox, url: str
) -> None:
    by_key = {"customer_key": customer_key(settings, profile.id, ref(profile, "bob"))}
    ways = [{"email_sha256": mail("ann")}, {"phone_sha256": digest("14155550100")}, {"external_ref": "bob"}, by_key]
    sandbox.demand_secret()
    told = data(key.post(PATH, json=body(*ways, {"email_sha256": mail("who")}, {"external_ref": "nil"})))
    assert {name: told[name] for name in ("status", "received", "accepted", "excluded", "unmatched")} == {
        "status": "ready", "received": 6, "accepted": 4, "excluded": 0, "unmatched": 2,
    }  # fmt: skip
    (there,) = sandbox.audiences().values()
    assert there["name"] == "Buyers"
    assert sorted(map(tuple, there["people"])) == sorted([(mail("ann"), digest("14155550100")), (mail("bob"), "")])
    with db.transaction(url) as session:
        read = session.scalars(sa.select(PiiAccess)).one()
        entry = session.scalars(sa.select(AuditEntry)).one()
    assert (read.subject, read.record_count) == ("list", 6)
    assert mail("ann") not in str(entry.details)


@pytest.mark.usefixtures("listed", "via")
def test_a_list_is_added_to_taken_from_and_replaced(key: Caller, sandbox: RunningSandbox) -> None:
    made = data(key.post(PATH, json=body({"external_ref": "ann"})))

    def after(operation: str, name: str) -> set[str]:
        change = body({"external_ref": name}, operation=operation, audience_id=made["audience_id"])
        assert data(key.post(PATH, json=change))["platform_audience_id"] == made["platform_audience_id"]
        (there,) = sandbox.audiences().values()
        return {email for email, _ in there["people"]}

    assert after("add", "bob") == {mail("ann"), mail("bob")}
    assert after("remove", "ann") == {mail("bob")}
    assert after("replace", "ann") == {mail("ann")}
    nobody = body({"external_ref": "who"}, audience_id=made["audience_id"])
    assert data(key.post(PATH, json=nobody))["status"] == "failed"


@pytest.mark.usefixtures("listed", "via")
def test_who_is_kept_out_of_audiences_or_refuses_marketing_is_on_no_list(
    key: Caller, caller_with: Callable[..., Caller], profile: Profile, sandbox: RunningSandbox
) -> None:
    keeping = caller_with(scopes=[Scope.EXPORTS_WRITE])
    keep = {"customers": [{"external_ref": "ann"}]}
    assert keeping("PUT", f"/profiles/{profile.id}/audience-exclusions", json=keep).status_code == 200
    ways = [{"email_sha256": mail("ann")}, {"external_ref": "eve"}, {"external_ref": "bob"}]
    told = data(key.post(PATH, json=body(*ways)))
    assert (told["accepted"], told["excluded"]) == (1, 2)
    (there,) = sandbox.audiences().values()
    assert [email for email, _ in there["people"]] == [mail("bob")]


@pytest.mark.usefixtures("listed", "via")
def test_whoever_is_erased_is_on_no_list_before_the_next_snapshot_either(
    key: Caller, ask: Ask, url: str, profile: Profile, sandbox: RunningSandbox
) -> None:
    owner = people.user(url)
    people.member(url, owner, profile.workspace_id)
    ann = {"profile_id": profile.id, "selector": {"external_ref": "ann"}}
    path = f"/workspaces/{profile.workspace_id}/customer-erasures"
    assert ask("POST", path, people.session_of(url, owner), ann).status_code == 202
    told = data(key.post(PATH, json=body({"email_sha256": mail("ann")}, {"external_ref": "bob"})))
    assert (told["accepted"], told["excluded"], told["unmatched"]) == (1, 0, 1)
    (there,) = sandbox.audiences().values()
    assert [email for email, _ in there["people"]] == [mail("bob")]


@pytest.mark.usefixtures("listed", "via")
def test_who_is_kept_out_after_they_got_on_a_list_can_be_taken_off_it(
    key: Caller, profile: Profile, sandbox: RunningSandbox
) -> None:
    both = body({"external_ref": "ann"}, {"external_ref": "bob"})
    made = data(key.post(PATH, json=both))
    keep = {"customers": [{"external_ref": "ann"}]}
    assert key("PUT", f"/profiles/{profile.id}/audience-exclusions", json=keep).status_code == 200
    change = body({"external_ref": "ann"}, operation="remove", audience_id=made["audience_id"])
    told = data(key.post(PATH, json=change))
    assert (told["status"], told["accepted"], told["excluded"]) == ("ready", 1, 0)
    (there,) = sandbox.audiences().values()
    assert [email for email, _ in there["people"]] == [mail("bob")]


@pytest.mark.usefixtures("listed")
def test_a_list_whose_account_was_disconnected_needs_another_account(
    key: Caller, url: str, via: Connection, sandbox: RunningSandbox
) -> None:
    made = data(key.post(PATH, json=body({"external_ref": "ann"})))
    with db.transaction(url) as session:
        session.get_one(Connection, via.id).status = "disconnected"
    change = body({"external_ref": "bob"}, audience_id=made["audience_id"])
    assert refusal(key.post(PATH, json=change)) == (409, "platform_connection_required", None)


def test_a_list_is_kept_by_keys_alone(ask: Ask, url: str, profile: Profile) -> None:
    owner = people.user(url)
    people.member(url, owner, profile.workspace_id)
    for credential in (people.session_of(url, owner), people.token_of(url, owner, grants=["mcp:write"])):
        answer = ask("POST", f"{PATH}?profile_id={profile.id}", credential, body({"external_ref": "ann"}))
        assert refusal(answer) == (403, "api_key_required", None)


@pytest.mark.usefixtures("listed", "via")
def test_a_key_of_nobody_here_refuses_the_whole_list(
    key: Caller, settings: Settings, url: str, profile: Profile, sandbox: RunningSandbox
) -> None:
    foreign = accounts.profile(url, name="Foreign")
    stranger = {"customer_key": customer_key(settings, foreign.id, ref(profile, "bob"))}
    answer = key.post(PATH, json=body({"external_ref": "ann"}, stranger))
    assert refusal(answer) == (422, "customer_not_in_profile", None)
    assert "customers[1]" in answer.get_json()["error"]["message"]
    assert sandbox.audiences() == {}


@pytest.mark.usefixtures("listed")
def test_hashes_are_hashes_and_each_customer_is_named_once(key: Caller) -> None:
    for wrong in ({"email_sha256": "ann@example.com"}, {}, {"external_ref": "a", "email_sha256": "0" * 64}):
        assert refusal(key.post(PATH, json=body(wrong))) == (422, "validation_error", None)
    assert refusal(key.post(PATH, json=body())) == (422, "validation_error", None)


def test_without_the_feature_nothing_is_sent(key: Caller, url: str, profile: Profile, sandbox: RunningSandbox) -> None:
    asked = body({"external_ref": "ann"})
    assert refusal(key.post(PATH, json=asked)) == (403, "forbidden", "partner_audiences_not_enabled")
    with db.transaction(url) as session:
        session.get_one(Profile, profile.id).privacy_mode = "platform_safe"
    assert refusal(key.post(PATH, json=asked)) == (409, "platform_safe_audiences_disabled", None)
    assert sandbox.calls() == 0


@pytest.mark.usefixtures("listed")
def test_agreements_accounts_and_lists_that_are_missing_are_told(
    key: Caller, url: str, profile: Profile, sandbox: RunningSandbox
) -> None:
    asked = body({"external_ref": "ann"})
    assert refusal(key.post(PATH, json=asked)) == (409, "platform_connection_required", None)
    connected.to_meta(url, profile, sandbox.url)
    assert refusal(key.post(PATH, json={**asked, "audience_id": db.new_id()})) == (404, "not_found", None)
    with db.transaction(url) as session:
        session.get_one(Profile, profile.id).privacy_mode = "hipaa"
    assert refusal(key.post(PATH, json=asked)) == (409, "invalid_state", "agreement_unsigned")


@pytest.mark.usefixtures("listed", "via")
@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ({"kind": "code", "code": "2663"}, (428, "audience_tos_required", None)),
        ({"kind": "code", "code": "200"}, (403, "platform_write_permission_missing", None)),
        ({"kind": "revoked"}, (409, "connection_revoked", None)),
        ({"kind": "status", "status": 500, "times": None}, (502, "provider_error", "unavailable")),
    ],
)
def test_what_the_platform_refuses_is_told(
    key: Caller, sandbox: RunningSandbox, fault: dict[str, Any], expected: tuple[int, str, str | None]
) -> None:
    sandbox.plan({"route": "/customaudiences$", **fault})
    assert refusal(key.post(PATH, json=body({"external_ref": "ann"}))) == expected


@pytest.mark.usefixtures("listed", "via")
@pytest.mark.parametrize("operation", ["replace", "add"])
def test_a_request_that_broke_once_its_list_was_made_goes_on_with_that_list(
    key: Caller, sandbox: RunningSandbox, operation: str
) -> None:
    asked = body({"external_ref": "ann"}, operation=operation)
    sandbox.plan({"route": "/users(replace)?$", "kind": "status", "status": 500, "times": None})
    assert refusal(key.post(PATH, json=asked)) == (502, "provider_error", "unavailable")
    sandbox.plan()
    first = data(key.post(PATH, json=asked))
    assert list(sandbox.audiences()) == [first["platform_audience_id"]]
    assert [email for email, _ in sandbox.audiences()[first["platform_audience_id"]]["people"]] == [mail("ann")]
    # who was told the id of a list and asks for one more gets one more
    second = data(key.post(PATH, json=asked))
    assert len({first["audience_id"], second["audience_id"]}) == len(sandbox.audiences()) == 2


def kept_lists(url: str) -> int:
    with db.transaction(url, durable=False) as session:
        return session.scalar(sa.select(sa.func.count()).select_from(PartnerAudience)) or 0


@pytest.mark.usefixtures("listed", "via")
def test_two_who_ask_for_a_list_of_one_name_at_once_get_one_each(
    key: Caller, url: str, sandbox: RunningSandbox
) -> None:
    with ThreadPoolExecutor() as pool:
        with sandbox.holding("/users(replace)?$") as held:
            waits = pool.submit(key.post, PATH, json=body({"external_ref": "ann"}))
            assert held.acquire(timeout=AT_MOST)
            assert kept_lists(url) == 1
            quick = data(key.post(PATH, json=body({"external_ref": "bob"})))
        slow = data(waits.result())
    there = {name: [email for email, _ in one["people"]] for name, one in sandbox.audiences().items()}
    assert there == {slow["platform_audience_id"]: [mail("ann")], quick["platform_audience_id"]: [mail("bob")]}
