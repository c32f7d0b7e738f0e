"""PUT /profiles/{id}/audience-exclusions: who is meant, what is kept of it, and what is refused as a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import sqlalchemy as sa

from api import db
from api.customer_keys import customer_key
from api.erased_records import remember
from api.models import AudienceExclusion, AuditEntry, Erasure, IngestedRecord, PiiAccess, Profile
from api.roles import Role
from api.scopes import Scope
from api.v1.profiles.excluded import digest
from api.warehouse_ids import identifier_id, uuid_v8
from tests.api.conftest import Caller
from tests.api.v1.profiles.conftest import Ask, refusal
from tests.factories import accounts, people, served
from touchledger.settings import Settings

ANN = [("email", "ann@example.com"), ("phone", "+14155550100")]
BOB = [("external_id", "bob-7")]


def person(profile: Profile, identifiers: Sequence[tuple[str, str]]) -> str:
    return uuid_v8(profile.id, "person", ":".join(identifiers[0]))


@pytest.fixture
def key(settings: Settings, profile: Profile, caller_with: Callable[..., Caller]) -> Caller:
    known = [
        {"profile_key": 1, "identifier_id": identifier_id(profile.id, kind, value),
         "person_ref": person(profile, who), "alias_ref": uuid_v8(profile.id, "person", f"{kind}:{value}")}
        for who in (ANN, BOB)
        for kind, value in who
    ]  # fmt: skip
    facts = {"profile_id": profile.id, "time_zone": "UTC", "currency": "USD", "currency_digits": 2}
    tables = {"profiles": [{"profile_key": 1, **facts, "settings_version": "v"}], "person_identifiers": known}
    served.publish(settings.published, tables)
    return caller_with(scopes=[Scope.EXPORTS_WRITE])


def put(key: Caller, profile: Profile, customers: list[dict[str, Any]]) -> Any:
    return key("PUT", f"/profiles/{profile.id}/audience-exclusions", json={"customers": customers})


def counts(response: Any) -> tuple[int, int, int]:
    assert response.status_code == 200, response.text
    data = response.get_json()["data"]
    return data["excluded_count"], data["added"], data["removed"]


def kept(url: str) -> set[str]:
    with db.transaction(url) as session:
        return set(session.scalars(sa.select(AudienceExclusion.digest)))


def test_a_person_named_in_several_ways_is_one_exclusion(
    key: Caller, settings: Settings, url: str, profile: Profile
) -> None:
    by_key = {"customer_key": customer_key(settings, profile.id, person(profile, ANN))}
    everyone = [{"email": "ANN@example.com "}, {"phone": "+14155550100"}, by_key, {"external_ref": "bob-7"}]
    assert counts(put(key, profile, everyone)) == (2, 2, 0)
    ids = {identifier_id(profile.id, *ANN[0]), identifier_id(profile.id, *BOB[0])}
    assert kept(url) == {digest(settings.signing_key(), one) for one in ids}
    assert counts(put(key, profile, [by_key])) == (1, 0, 1)
    assert counts(put(key, profile, [{"phone": "+14155550100"}])) == (1, 0, 0)
    assert counts(put(key, profile, [])) == (0, 0, 1)


def test_addresses_of_nobody_yet_are_kept_as_hashes_alone(
    key: Caller, settings: Settings, url: str, profile: Profile
) -> None:
    sent = [{"email": "Later@Example.com"}, {"phone": "+34600000000"}]
    assert counts(put(key, profile, sent)) == (2, 2, 0)
    later = identifier_id(profile.id, "email", "later@example.com")
    assert digest(settings.signing_key(), later) in kept(url)
    with db.transaction(url) as session:
        entry = session.scalars(sa.select(AuditEntry)).one()
        read = session.scalars(sa.select(PiiAccess)).one()
        assert (entry.category, entry.details["after"]) == ("exports", {"excluded": 2, "added": 2, "removed": 0})
        assert "later" not in str(entry.details).lower()
        assert (read.subject, read.record_count) == ("list", 2)


def test_one_customer_of_nobody_refuses_the_whole_list(
    key: Caller, settings: Settings, url: str, profile: Profile
) -> None:
    foreign = accounts.profile(url)
    strangers = [
        {"customer_key": customer_key(settings, foreign.id, person(profile, ANN))},
        {"customer_key": customer_key(settings, profile.id, person(profile, [("email", "merged@example.com")]))},
        {"customer_key": "ck_nobody"},
    ]
    for stranger in strangers:
        answer = put(key, profile, [{"email": "ann@example.com"}, stranger])
        assert refusal(answer) == (422, "customer_not_in_profile", None)
        assert "customers[1].customer_key" in answer.get_json()["error"]["message"]
    answer = put(key, profile, [{"external_ref": "nobody"}])
    assert refusal(answer) == (422, "unknown_customer_ref", None)
    assert kept(url) == set()


def test_a_reference_that_was_just_sent_is_known_before_a_build(key: Caller, url: str, profile: Profile) -> None:
    with db.transaction(url) as session:
        session.add(
            IngestedRecord(
                profile_id=profile.id, dataset="conversions", record_key="e", fingerprint="f",
                record={"external_id": "new-1"},
            )
        )  # fmt: skip
    assert counts(put(key, profile, [{"external_ref": "new-1"}])) == (1, 1, 0)


def test_whoever_was_erased_is_nobody(key: Caller, settings: Settings, url: str, profile: Profile) -> None:
    ids = [identifier_id(profile.id, *one) for one in (*ANN, *BOB)]
    with db.transaction(url) as session:
        erasure = Erasure(profile_id=profile.id, reason="request", counts={}, due_at=db.now())
        session.add(erasure)
        session.flush()
        remember(session, settings.signing_key(), profile_id=profile.id, erasure_id=erasure.id, ids=ids)
    by_key = {"customer_key": customer_key(settings, profile.id, person(profile, ANN))}
    assert refusal(put(key, profile, [by_key])) == (422, "customer_not_in_profile", None)
    assert refusal(put(key, profile, [{"external_ref": "bob-7"}])) == (422, "unknown_customer_ref", None)


def test_lists_too_long_and_customers_named_twice_are_refused(key: Caller, profile: Profile) -> None:
    many = put(key, profile, [{"external_ref": "r"}] * 10_001)
    assert refusal(many) == (422, "validation_error", None)
    both = put(key, profile, [{"email": "a@example.com", "phone": "+14155550100"}])
    assert refusal(both) == (422, "validation_error", None)


def test_a_full_list_is_taken_in_one_call(key: Caller, url: str, profile: Profile) -> None:
    everyone = [{"email": f"{number}@example.com"} for number in range(10_000)]
    assert counts(put(key, profile, everyone)) == (10_000, 10_000, 0)
    assert counts(put(key, profile, everyone[:9_000])) == (9_000, 0, 1_000)
    assert len(kept(url)) == 9_000


@pytest.mark.usefixtures("key")
def test_editors_need_the_permission_and_keys_the_scope(ask: Ask, url: str, profile: Profile, caller: Caller) -> None:
    path, body = f"/profiles/{profile.id}/audience-exclusions", {"customers": [{"email": "ann@example.com"}]}
    answers = {}
    for role, permissions in (
        (Role.ADMIN, []),
        (Role.EDITOR, ["exports.manage"]),
        (Role.EDITOR, []),
        (Role.VIEWER, ["exports.manage"]),
    ):
        member = people.user(url)
        people.member(url, member, profile.workspace_id, role, permissions=permissions)
        answers[role, bool(permissions)] = ask("PUT", path, people.session_of(url, member), body).status_code
    assert answers == {
        (Role.ADMIN, False): 200, (Role.EDITOR, True): 200, (Role.EDITOR, False): 403, (Role.VIEWER, True): 403,
    }  # fmt: skip
    assert refusal(caller("PUT", path, json=body)) == (403, "insufficient_scope", None)
