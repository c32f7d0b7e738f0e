"""W/sender-domain: a key of its own, and only the domain's DNS makes it verified."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from api import db, sender_domains
from api.models import Profile, SenderDomain, Workspace
from tests.api.v1.branding.conftest import Ask
from tests.api.v1.branding.test_branding import code
from tests.factories.nameserver import Zone, name_server
from touchledger.settings import Settings

NONE = {
    "domain": None, "from_address": None, "status": "none", "records": [], "created_at": None, "checked_at": None,
    "verified_at": None,
}  # fmt: skip


@pytest.fixture
def zone() -> Iterator[Zone]:
    with name_server() as started:
        yield started


@pytest.fixture
def settings(home: Path, sqlite_url: str, zone: Zone) -> Settings:
    return Settings(home=home, dns_resolver=zone.address)


@pytest.fixture(autouse=True)
def on_growth(settings: Settings, profile: Profile) -> None:
    set_plan(settings, profile, "growth")


def set_plan(settings: Settings, profile: Profile, plan: str) -> None:
    with db.transaction(settings.operational_url) as session:
        session.get_one(Workspace, profile.workspace_id).plan = plan


def register(ask: Ask, domain: str = "mail.shop.example") -> dict[str, Any]:
    answer = ask("POST", "/sender-domain", json={"domain": domain})
    assert answer.status_code == 201, answer.text
    return dict(answer.get_json()["data"])


def verify(ask: Ask) -> dict[str, Any]:
    answer = ask("POST", "/sender-domain/verify", json={})
    assert answer.status_code == 200, answer.text
    return dict(answer.get_json()["data"])


def the_row(settings: Settings) -> SenderDomain:
    with db.transaction(settings.operational_url) as session:
        return session.scalars(sa.select(SenderDomain)).one()


def a_day_later(settings: Settings) -> None:
    with db.transaction(settings.operational_url) as session:
        session.execute(sa.update(SenderDomain).values(checked_at=db.now() - timedelta(hours=25)))
    sender_domains.check_all(settings)


def test_a_domain_is_verified_by_its_dns_and_by_nothing_else(ask: Ask, zone: Zone) -> None:
    assert ask("GET", "/sender-domain").get_json()["data"] == NONE
    made = register(ask, "Mail.Shop.example")
    (record,) = made["records"]
    assert (made["domain"], made["from_address"]) == ("mail.shop.example", "reports@mail.shop.example")
    assert (made["status"], record["type"], record["status"]) == ("pending", "TXT", "pending")
    assert record["host"].endswith("._domainkey.mail.shop.example")

    missing = verify(ask)
    assert (missing["status"], missing["records"][0]["status"], missing["verified_at"]) == ("pending", "missing", None)

    zone.texts[record["host"]] = "v=DKIM1; k=rsa; p=AAAA"
    wrong = verify(ask)
    assert (wrong["status"], wrong["records"][0]["status"]) == ("pending", "wrong")
    assert wrong["records"][0]["found"] == "v=DKIM1; k=rsa; p=AAAA"

    zone.texts[record["host"]] = record["value"].replace("; ", ";") + ";"
    right = verify(ask)
    assert (right["status"], right["records"][0]["status"]) == ("verified", "ok")
    assert ask("GET", "/sender-domain").get_json()["data"] == right
    assert set(zone.asked) == {record["host"]}


def test_the_trail_tells_which_domain_from_its_registration_on(ask: Ask, zone: Zone, settings: Settings) -> None:
    (record,) = register(ask)["records"]
    row = the_row(settings)
    zone.texts[record["host"]] = record["value"]
    verify(ask)
    ask("DELETE", "/sender-domain")
    # the row had no id yet when its registration was recorded
    told = [(one["action"], one["target"]["id"]) for one in ask("GET", "/audit").get_json()["data"]]
    actions = ("sender_domain.removed", "sender_domain.checked", "sender_domain.registered")
    assert told == [(action, row.id) for action in actions]


def test_the_private_key_is_kept_encrypted_and_never_shown(ask: Ask, settings: Settings) -> None:
    made = register(ask)
    row = the_row(settings)
    key = sender_domains.signing_key(settings, row)
    assert key is not None
    assert key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    assert "PRIVATE" not in row.private_key
    assert row.private_key not in str(made) + ask("GET", "/sender-domain").text + repr(row)
    another = settings.model_copy(update={"secret_key": Settings(secret_key="another").secret_key})  # type: ignore[arg-type]
    assert sender_domains.signing_key(another, row) is None


def test_a_workspace_has_one_domain_until_it_removes_it(ask: Ask) -> None:
    first = register(ask)
    again = ask("POST", "/sender-domain", json={"domain": "other.example"})
    assert code(again) == (409, "invalid_state")
    assert again.get_json()["error"]["reason"] == "domain_exists"
    assert ask("DELETE", "/sender-domain").get_json()["data"] == {"deleted": True}
    assert ask("DELETE", "/sender-domain").get_json()["data"] == {"deleted": False}
    gone = ask("POST", "/sender-domain/verify", json={})
    assert (code(gone), gone.get_json()["error"]["reason"]) == ((409, "invalid_state"), "domain_missing")
    assert register(ask)["records"] != first["records"]


def test_the_plan_decides_who_may_have_one(ask: Ask, settings: Settings, profile: Profile) -> None:
    set_plan(settings, profile, "starter")
    assert code(ask("POST", "/sender-domain", json={"domain": "shop.example"})) == (402, "plan_upgrade_required")


@pytest.mark.parametrize(
    "body",
    [
        {"domain": "com"},
        {"domain": "co.uk"},
        {"domain": "com.mx"},
        {"domain": "github.io"},
        {"domain": "127.0.0.1"},
        {"domain": "shop.example/x"},
        {"domain": "shop.example", "local_part": "Ada"},
        {"domain": "shop.example", "local_part": "a@b"},
        {"domain": "shop.example", "local_part": "a\n"},
        # no mail can carry such a sender: each report of the workspace failed once the domain was verified
        {"domain": "shop.example", "local_part": ".ada"},
        {"domain": "shop.example", "local_part": "ada."},
        {"domain": "shop.example", "local_part": "a..b"},
        {"domain": "shop.example", "local_part": "a" * 65},
        {},
    ],
)
def test_what_nobody_can_send_under_is_refused(ask: Ask, body: dict[str, str]) -> None:
    assert code(ask("POST", "/sender-domain", json=body)) == (422, "validation_error")


def test_a_resolver_that_is_down_is_no_statement_about_the_domain(ask: Ask, zone: Zone, settings: Settings) -> None:
    register(ask)
    zone.is_broken = True
    answer = ask("POST", "/sender-domain/verify", json={})
    assert code(answer) == (503, "service_unavailable")
    assert answer.headers["Retry-After"] == "30"
    assert the_row(settings).checked_at is None


def test_a_verified_domain_fails_after_three_bad_days_in_a_row(ask: Ask, zone: Zone, settings: Settings) -> None:
    (record,) = register(ask)["records"]
    zone.texts[record["host"]] = record["value"]
    verify(ask)
    sender_domains.check_all(settings)
    assert len(zone.asked) == 1
    zone.texts.clear()
    a_day_later(settings)
    a_day_later(settings)
    zone.texts[record["host"]] = record["value"]
    a_day_later(settings)
    zone.texts.clear()
    states = []
    for _ in range(3):
        assert verify(ask)["status"] == "verified"
        a_day_later(settings)
        states.append(the_row(settings).status)
    assert states == ["verified", "verified", "failed"]
    zone.texts[record["host"]] = record["value"]
    assert verify(ask)["status"] == "verified"


def test_a_domain_whose_own_dns_is_gone_keeps_no_other_from_being_looked_at(zone: Zone, settings: Settings) -> None:
    zone.lame = ("gone.example",)
    before = db.now() - timedelta(hours=25)
    with db.transaction(settings.operational_url) as session:
        for domain in ("one.gone.example", "shop.example", "two.gone.example"):
            workspace = Workspace(name=domain)
            session.add(workspace)
            session.flush()
            row = sender_domains.registered(settings, workspace.id, domain, "reports")
            row.status, row.checked_at = "verified", before
            session.add(row)
    sender_domains.check_all(settings)
    with db.transaction(settings.operational_url) as session:
        looked = {row.domain for row in session.scalars(sa.select(SenderDomain)) if row.checked_at > before}
    assert looked == {"shop.example"}


def test_a_day_without_a_resolver_is_no_bad_day(ask: Ask, zone: Zone, settings: Settings) -> None:
    (record,) = register(ask)["records"]
    zone.texts[record["host"]] = record["value"]
    verify(ask)
    zone.is_broken = True
    for _ in range(4):
        a_day_later(settings)
    assert (the_row(settings).status, the_row(settings).bad_days) == ("verified", 0)
