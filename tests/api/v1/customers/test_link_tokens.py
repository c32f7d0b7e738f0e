"""POST /customers/link-tokens: for people of the snapshot only, all or nothing, and nobody is named in a token."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from api import db, link_tokens
from api.customer_keys import customer_key
from api.models import AuditEntry, Profile
from api.scopes import DEFAULT_SCOPES, Scope
from api.snapshot import snapshots
from api.warehouse_ids import identifier_id
from tests.api.conftest import Caller
from tests.factories import accounts, erasures, served
from tests.factories.deployments import application
from tests.fixtures.altered import altered
from touchledger.settings import Settings

ANN = "11111111-1111-8111-8111-111111111111"
GONE = "33333333-3333-8333-8333-333333333333"


@pytest.fixture
def signing(settings: Settings, profile: Profile) -> Iterator[Settings]:
    """A deployment with a secret for tokens, whose snapshot knows Ann."""
    made = settings.model_copy(update={"link_token_secret": SecretStr("a secret of tokens")})
    facts = {"profile_key": 1, "profile_id": profile.id, "time_zone": "UTC", "currency": "USD", "settings_version": "v"}
    known = [("email", "ann@example.com"), ("external_id", "crm-1"), ("phone", "+14155550100")]
    people = [
        {"profile_key": 1, "identifier_id": identifier_id(profile.id, kind, value), "person_ref": ANN}
        for kind, value in known
    ]
    served.publish(settings.published, {"profiles": [facts], "person_identifiers": people})
    yield made
    snapshots(made).close()


@pytest.fixture
def minter(signing: Settings, profile: Profile) -> Caller:
    key = accounts.secret(signing.operational_url, profile, scopes=[Scope.EVENTS_WRITE])
    return Caller(application(signing).test_client(), key)


def _mint(caller: Caller, *customers: dict[str, Any], **more: Any) -> Any:
    return caller.post("/customers/link-tokens", json={"customers": list(customers), **more})


def _refusal(response: Any) -> tuple[int, str, str]:
    error = response.get_json()["error"]
    return response.status_code, error["code"], error["message"]


def test_a_token_opens_to_the_pseudonym_of_whoever_was_named(
    minter: Caller, signing: Settings, profile: Profile
) -> None:
    key = customer_key(signing, profile.id, ANN)
    named = [{"email": "Ann@example.com"}, {"external_ref": "crm-1"}, {"phone": "+14155550100"}, {"customer_key": key}]
    response = _mint(minter, *named, ttl_days=7, purpose="newsletter")
    assert response.status_code == 201
    data = response.get_json()["data"]
    assert data["query_parameter"] == "tl_id"
    assert [(one["index"], one["customer_key"]) for one in data["tokens"]] == [(n, key) for n in range(4)]
    signer = link_tokens.serializer(signing)
    assert signer is not None
    token = data["tokens"][0]["token"]
    end = datetime.fromisoformat(data["tokens"][0]["expires_at"]).timestamp()
    assert 7 * 86400 - 60 < end - db.now().timestamp() <= 7 * 86400
    assert link_tokens.opened(signer, token, profile_id=profile.id, at=end - 1) == key
    assert link_tokens.opened(signer, token, profile_id=profile.id, at=end) is None
    assert link_tokens.opened(signer, token, profile_id=db.new_id()) is None
    assert link_tokens.opened(signer, "2" + token[1:], profile_id=profile.id) is None
    for place in range(2, len(token), 7):
        assert link_tokens.opened(signer, altered(token, place), profile_id=profile.id) is None


def test_a_token_and_the_audit_name_nobody(minter: Caller, signing: Settings) -> None:
    token = _mint(minter, {"email": "ann@example.com"}).get_json()["data"]["tokens"][0]["token"]
    readable = token.encode() + base64.urlsafe_b64decode(token.split(".")[1] + "===")
    assert b"ann" not in readable and b"example" not in readable and ANN[:8].encode() not in readable
    with db.transaction(signing.operational_url) as session:
        entry = session.scalars(sa.select(AuditEntry)).one()
    assert (entry.action, entry.category) == ("link_tokens.minted", "privacy")
    assert entry.details == {"after": {"customers": 1, "ttl_days": 30, "purpose": None}}


def test_one_nobody_refuses_all(minter: Caller, signing: Settings, profile: Profile) -> None:
    ann = {"email": "ann@example.com"}
    foreign = customer_key(signing, db.new_id(), ANN)
    for nobody, refusal in (
        ({"email": "bob@example.com"}, (404, "customer_not_found")),
        ({"phone": "+14155550199"}, (404, "customer_not_found")),
        ({"external_ref": "crm-2"}, (422, "unknown_customer_ref")),
        ({"customer_key": foreign}, (422, "customer_not_in_profile")),
        ({"customer_key": customer_key(signing, profile.id, GONE)}, (422, "customer_not_in_profile")),
        ({"customer_key": "ck_anything"}, (422, "customer_not_in_profile")),
    ):
        refused = _refusal(_mint(minter, ann, nobody))
        assert refused[:2] == refusal
        assert refused[2].startswith(f"customers[1].{next(iter(nobody))}")
    with db.transaction(signing.operational_url) as session:
        assert session.scalars(sa.select(AuditEntry)).all() == []


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"customers": []}, "customers"),
        ({"customers": [{}]}, "customers[0]"),
        ({"customers": [{"email": "a@example.com", "phone": "+14155550100"}]}, "customers[0]"),
        ({"customers": [{"email": "nobody"}]}, "customers[0].email"),
        ({"customers": [{"email": "ann@example.com"}] * 501}, "customers"),
        ({"customers": [{"email": "ann@example.com"}], "ttl_days": 0}, "ttl_days"),
        ({"customers": [{"email": "ann@example.com"}], "ttl_days": 91}, "ttl_days"),
        ({"customers": [{"email": "ann@example.com"}], "ttl_days": "7"}, "ttl_days"),
        ({"customers": [{"email": "ann@example.com"}], "purpose": "x" * 61}, "purpose"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_wrong_body_is_refused_with_its_field(minter: Caller, body: dict[str, Any], told: str) -> None:
    refused = _refusal(minter.post("/customers/link-tokens", json=body))
    assert refused[:2] == (422, "validation_error")
    assert refused[2].startswith(told)


def test_without_a_secret_tokens_are_off(settings: Settings, profile: Profile) -> None:
    key = accounts.secret(settings.operational_url, profile, scopes=[Scope.EVENTS_WRITE])
    off = Caller(application(settings).test_client(), key)
    assert _refusal(_mint(off, {"email": "ann@example.com"}))[:2] == (503, "link_tokens_disabled")


def test_nobody_mints_without_a_key_or_the_scope(signing: Settings, profile: Profile) -> None:
    client = application(signing).test_client()
    reader = Caller(client, accounts.secret(signing.operational_url, profile, scopes=DEFAULT_SCOPES))
    assert _mint(Caller(client, None), {}).status_code == 401
    assert _mint(reader, {}).status_code == 403


@pytest.mark.parametrize(
    ("name", "refusal"),
    [
        ("email", (404, "customer_not_found")),
        ("external_ref", (422, "unknown_customer_ref")),
        ("customer_key", (422, "customer_not_in_profile")),
    ],
)
def test_who_asked_to_be_forgotten_is_nobody_from_then_on(
    minter: Caller, signing: Settings, profile: Profile, name: str, refusal: tuple[int, str]
) -> None:
    key = customer_key(signing, profile.id, ANN)
    named = {name: {"email": "ann@example.com", "external_ref": "crm-1", "customer_key": key}[name]}
    assert _mint(minter, named).status_code == 201
    erasures.forget(
        signing, profile.id, ("email", "ann@example.com"), ("external_id", "crm-1"), ("phone", "+14155550100")
    )
    assert _refusal(_mint(minter, named))[:2] == refusal
