"""Whom an event names: the customer key of somebody published, and own references that must be known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from api import db
from api.customer_keys import customer_key
from api.models import IngestedRecord, Profile, Run
from api.snapshot import snapshots
from api.v1.events.ingest import accept
from api.warehouse_ids import identifier_id
from tests.api.v1.events.conftest import Sender
from tests.factories import erasures, served
from touchledger.settings import Settings

ANN, BOB = "11111111-1111-8111-8111-111111111111", "22222222-2222-8222-8222-222222222222"
LEAD: dict[str, Any] = {"event_name": "lead_created", "timestamp": "2026-03-05T10:00:00Z"}


@pytest.fixture
def published(settings: Settings, profile: Profile) -> Iterator[None]:
    """Ann is known by e-mail and own reference, Bob by phone."""
    known = [("email", "ann@example.com", ANN), ("external_id", "crm-1", ANN), ("phone", "+14155550100", BOB)]
    served.publish(
        settings.published,
        {
            "profiles": [
                {
                    "profile_key": 1,
                    "profile_id": profile.id,
                    "time_zone": "UTC",
                    "currency": "USD",
                    "settings_version": "v",
                }
            ],
            "person_identifiers": [
                {"profile_key": 1, "identifier_id": identifier_id(profile.id, kind, value), "person_ref": person}
                for kind, value, person in known
            ],
        },
    )
    yield
    snapshots(settings).close()


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize(
    ("named", "person"),
    [
        ({"user_traits": {"email": "ANN@example.com"}}, ANN),
        ({"customer": {"external_ref": "crm-1"}}, ANN),
        ({"customer": {"phone": "+1 415 555 0100"}}, BOB),
        ({"user_traits": {"external_id": "crm-1", "phone": "+14155550100"}}, ANN),
        ({"user_traits": {"email": "new@example.com"}}, None),
        ({"anonymous_id": "a1"}, None),
        ({}, None),
    ],
    ids=str,
)
def test_a_published_person_has_a_key_and_a_new_one_not_yet(
    sender: Sender, settings: Settings, profile: Profile, named: dict[str, Any], person: str | None
) -> None:
    key = customer_key(settings, profile.id, person) if person else None
    assert sender.accepted({**LEAD, **named})["customer_key"] == key


@pytest.mark.usefixtures("published")
def test_who_asked_to_be_forgotten_has_no_key_from_then_on(
    sender: Sender, settings: Settings, profile: Profile
) -> None:
    erasures.forget(settings, profile.id, ("email", "ann@example.com"), ("external_id", "crm-1"))
    assert sender.accepted({**LEAD, "user_traits": {"email": "ann@example.com"}})["customer_key"] is None


def test_before_the_first_snapshot_nobody_has_a_key(sender: Sender) -> None:
    assert sender.accepted({**LEAD, "user_traits": {"email": "ann@example.com"}})["customer_key"] is None


@pytest.mark.usefixtures("published")
def test_a_reference_nobody_has_creates_nobody(
    sender: Sender, stranger: Sender, landing: Callable[..., list[dict[str, Any]]]
) -> None:
    unknown = {**LEAD, "customer": {"external_ref": "crm-2"}}
    assert sender.refused(unknown)[:2] == (422, "unknown_customer_ref")
    assert landing() == []
    foreign = {**LEAD, "customer": {"external_ref": "crm-1"}}
    assert stranger.refused(foreign)[:2] == (422, "unknown_customer_ref")


@pytest.mark.usefixtures("published")
def test_the_reference_of_who_was_just_erased_is_nobodys(
    sender: Sender, settings: Settings, profile: Profile, landing: Callable[..., list[dict[str, Any]]]
) -> None:
    # the snapshot tells of her until the next build
    erasures.forget(settings, profile.id, ("external_id", "crm-1"))
    assert sender.refused({**LEAD, "customer": {"external_ref": "crm-1"}})[:2] == (422, "unknown_customer_ref")
    assert landing() == []


@pytest.mark.parametrize("more", [{"email": "cem@example.com"}, {"phone": "+14155550199"}], ids=str)
def test_a_reference_with_an_email_or_phone_makes_a_person(
    sender: Sender, landing: Callable[..., list[dict[str, Any]]], more: dict[str, str]
) -> None:
    sender.accepted({**LEAD, "customer": {"external_ref": "crm-2", **more}})
    assert landing()[0]["external_id"] == "crm-2"
    assert sender.accepted({**LEAD, "customer": {"external_ref": "crm-2"}})["status"] == "accepted"


def test_a_reference_is_known_from_its_record_until_a_snapshot_holds_it(
    sender: Sender, settings: Settings, profile: Profile
) -> None:
    people = [{"person_key": "p", "external_id": "crm-9"}]
    with db.transaction(settings.operational_url) as session:
        accept(session, profile_id=profile.id, dataset="people", records=people)
    event = {**LEAD, "customer": {"external_ref": "crm-9"}}
    sender.accepted(event)
    begun = db.now()
    with db.transaction(settings.operational_url) as session:
        session.add(Run(started_at=begun, published_at=begun, snapshot_id="s"))
        # landed by that run: not in the snapshot yet as far as can be told
        session.execute(sa.update(IngestedRecord).values(landed_batch=db.new_id()))
    sender.accepted(event)
    with db.transaction(settings.operational_url) as session:
        late = db.now() + timedelta(seconds=5)
        session.add(Run(started_at=late, published_at=late, snapshot_id="t"))
        session.execute(sa.update(IngestedRecord).where(IngestedRecord.landed_batch.is_(None)).values(landed_batch="0"))
    # the snapshot made since does not hold the person, so nobody has the reference
    assert sender.refused(event)[:2] == (422, "unknown_customer_ref")
