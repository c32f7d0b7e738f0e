"""What a processor told lands as money, and stays right whatever becomes of it later."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa

from api.db import transaction
from api.models import Connection, Profile
from orchestration.lake import Lake
from orchestration.quarantine import counted
from orchestration.sync import sync_kind
from tests.factories import accounts, connected
from tests.fixtures.processor import Processor, charge, invoice, returned
from tests.fixtures.sandbox import served
from touchledger.settings import Settings


@pytest.fixture
def lake(settings: Settings) -> Lake:
    lake = Lake(settings.lake)
    lake.prepare()
    return lake


@pytest.fixture
def processor() -> Iterator[Processor]:
    account = Processor()
    with served(account.app()) as account.url:
        yield account


@pytest.fixture
def profile(settings: Settings, processor: Processor) -> Profile:
    """A profile that is connected to `processor`."""
    made = accounts.profile(settings.operational_url)
    connected.to_payments(settings.operational_url, made, processor.url, base_url=processor.url)
    return made


def pull(settings: Settings, lake: Lake, day: date) -> None:
    (pulled,) = sync_kind(settings.model_copy(update={"demo_today": day}), lake, "payments")
    assert pulled.failure is None


def told(lake: Lake) -> dict[str, dict[str, Any]]:
    """The newest row of each key, without those withdrawn."""
    rows = [row for batch in lake.batches("conversions") for row in pq.read_table(batch.path).to_pylist()]
    return {key: row for key, row in {row["conversion_key"]: row for row in rows}.items() if not row["_deleted"]}


def test_a_payer_with_an_odd_telephone_number_has_paid(
    settings: Settings, lake: Lake, profile: Profile, processor: Processor
) -> None:
    typed = {"email": "ada@example.com", "phone": "0151 23456789"}
    day = date(2025, 11, 1)
    processor.lists["charges"] = [charge("odd", day, billing_details=typed, metadata={"ad_platform": "Facebook"})]
    pull(settings, lake, day)
    assert counted(lake, "conversions") == []
    (row,) = told(lake).values()
    assert (row["payment_status"], row["email"], row["phone"]) == ("captured", "ada@example.com", None)


def test_what_was_paid_after_a_clock_had_been_a_year_ahead_comes_once_it_is_right(
    settings: Settings, lake: Lake, profile: Profile, processor: Processor
) -> None:
    # all was said to be landed until then, and payments were asked for from there on: none came for a year
    day = date(2025, 11, 1)
    processor.lists["charges"] = [charge("before", day)]
    pull(settings, lake, day)
    pull(settings, lake, day + timedelta(days=365))
    processor.lists["charges"] += [charge("after", day + timedelta(days=2))]
    pull(settings, lake, day + timedelta(days=3))
    assert sorted(told(lake)) == ["stripe:pi_after", "stripe:pi_before"]
    with transaction(settings.operational_url) as session:
        assert session.scalars(sa.select(Connection.synced_through)).all() == [day + timedelta(days=3)]


def test_what_settles_later_becomes_money(
    settings: Settings, lake: Lake, profile: Profile, processor: Processor
) -> None:
    made = date(2025, 11, 1)
    by_hand = charge("by_hand", made, captured=False, amount_captured=0)
    processor.lists["charges"] = [charge("card", made), by_hand, charge("debit", made, status="pending")]
    processor.lists["refunds"] = [returned("card", made, status="pending")]
    pull(settings, lake, made)
    pull(settings, lake, date(2025, 11, 4))
    states = {key: row["payment_status"] for key, row in told(lake).items()}
    assert states == {"stripe:pi_card": "captured", "stripe:pi_by_hand": "authorized", "stripe:pi_debit": "authorized"}
    processor.lists["charges"] = [charge("card", made), charge("by_hand", made), charge("debit", made)]
    processor.lists["refunds"] = [returned("card", made)]
    # the last days on which they may settle
    pull(settings, lake, date(2025, 12, 1))
    pull(settings, lake, date(2025, 12, 6))
    found = told(lake)
    assert {key: row["payment_status"] for key, row in found.items()} == {
        "stripe:pi_card": "captured", "stripe:pi_by_hand": "captured", "stripe:pi_debit": "captured",
        "stripe:re_card": None,
    }  # fmt: skip
    assert (found["stripe:re_card"]["value"], found["stripe:re_card"]["refunds_payment_ref"]) == (40, "stripe:pi_card")


def test_a_refund_that_failed_after_all_is_withdrawn(
    settings: Settings, lake: Lake, profile: Profile, processor: Processor
) -> None:
    made = date(2025, 11, 1)
    processor.lists["charges"], processor.lists["refunds"] = [charge("card", made)], [returned("card", made)]
    pull(settings, lake, made)
    assert "stripe:re_card" in told(lake)
    processor.lists["refunds"] = [returned("card", made, status="failed")]
    pull(settings, lake, date(2025, 11, 20))
    assert list(told(lake)) == ["stripe:pi_card"]


def test_a_dispute_lost_after_months_lowers_its_payment_until_it_is_won_after_all(
    settings: Settings, lake: Lake, profile: Profile, processor: Processor
) -> None:
    made, decided = date(2025, 3, 1), date(2025, 8, 1)
    processor.lists["charges"] = [charge("card", made)]
    processor.lists["disputes"] = [returned("card", made, id="dp_card", status="under_review")]
    pull(settings, lake, made)
    pull(settings, lake, decided)
    assert list(told(lake)) == ["stripe:pi_card"]
    processor.lists["disputes"] = [returned("card", made, id="dp_card", status="lost")]
    pull(settings, lake, decided)
    assert (told(lake)["stripe:dp_card"]["refund_kind"], told(lake)["stripe:dp_card"]["value"]) == ("dispute_lost", 40)
    processor.lists["disputes"] = [returned("card", made, id="dp_card", status="won")]
    pull(settings, lake, decided)
    assert list(told(lake)) == ["stripe:pi_card"]


def test_a_key_that_may_not_read_disputes_still_brings_the_payments(
    settings: Settings, lake: Lake, profile: Profile, processor: Processor
) -> None:
    processor.closed = {"disputes"}
    processor.lists["charges"] = [charge("card", date(2025, 11, 1))]
    pull(settings, lake, date(2025, 11, 1))
    assert list(told(lake)) == ["stripe:pi_card"]


def test_a_key_that_may_not_read_invoices_brings_the_payments_and_says_what_it_lacks(
    settings: Settings, lake: Lake, profile: Profile, processor: Processor
) -> None:
    day = date(2025, 11, 1)
    processor.lists["charges"], processor.lists["invoices"] = [charge("card", day)], [invoice("card", day)]
    pull(settings, lake, day)
    (before,) = (pq.read_table(batch.path).to_pylist() for batch in lake.batches("recurring_payments"))
    assert before
    processor.closed = {"invoices"}
    later = date(2025, 11, 4)
    processor.lists["charges"].append(charge("later", later))
    processor.lists["disputes"] = [returned("card", day, id="dp_card", status="lost")]
    (pulled,) = sync_kind(settings.model_copy(update={"demo_today": later}), lake, "payments")
    assert set(told(lake)) == {"stripe:pi_card", "stripe:pi_later", "stripe:dp_card"}
    # what it told before stays, and its owner hears of it
    (after,) = (pq.read_table(batch.path).to_pylist() for batch in lake.batches("recurring_payments"))
    assert after == before
    assert pulled.failure is not None
    assert (pulled.failure.reason, pulled.through) == ("permission_missing", later)
    with transaction(settings.operational_url) as session:
        connection = session.get_one(Connection, pulled.connection.id)
        assert (connection.status, connection.synced_through) == ("needs_action", later)


def test_weeks_that_did_not_change_are_not_landed_again_and_none_loses_a_row(
    settings: Settings, lake: Lake, profile: Profile, processor: Processor
) -> None:
    days = [date(2025, 11, 2) + timedelta(days=3 * n) for n in range(20)]
    for day in days:
        processor.lists.setdefault("charges", []).append(charge(f"{day:%m%d}", day))
        pull(settings, lake, day)
    assert set(told(lake)) == {f"stripe:pi_{day:%m%d}" for day in days}
    seen = {batch.batch: batch.seq for batch in lake.batches("conversions")}
    processor.lists["charges"].append(charge("last", days[-1]))
    pull(settings, lake, days[-1])
    changed = [batch.batch[-10:] for batch in lake.batches("conversions") if seen[batch.batch] != batch.seq]
    assert changed == [(days[-1] - timedelta(days=days[-1].weekday())).isoformat()]


def test_what_was_never_captured_is_not_taken_off_what_was(
    settings: Settings, lake: Lake, profile: Profile, processor: Processor
) -> None:
    made, later = date(2025, 11, 1), date(2025, 11, 8)
    held = {"amount_captured": 8000, "amount_refunded": 2000}
    canceled = {"captured": False, "amount_captured": None, "amount_refunded": 10_000, "refunded": True}
    processor.lists["charges"] = [charge("part", made, **held), charge("none", made, **canceled)]
    # as the captures and cancellations of older versions of the interface left them
    release = returned("part", later, amount=2000)
    processor.lists["refunds"] = [release, returned("none", made, amount=10_000)]
    pull(settings, lake, later)
    paid = {"stripe:pi_part": ("captured", 80), "stripe:pi_none": ("authorized", 100)}
    assert {key: (row["payment_status"], row["value"]) for key, row in told(lake).items()} == paid
    processor.lists["charges"][0]["amount_refunded"] = 4000
    processor.lists["refunds"].append({**release, "id": "re_given", "created": release["created"] + 60})
    pull(settings, lake, date(2025, 12, 11))
    # the charge is not among those asked for any more
    pull(settings, lake, date(2025, 12, 18))
    assert {key: row["value"] for key, row in told(lake).items() if key not in paid} == {"stripe:re_given": 20}


def test_a_saved_card_is_its_customers(settings: Settings, lake: Lake, profile: Profile, processor: Processor) -> None:
    day, nobody = date(2025, 11, 1), {"email": None, "phone": None}
    saved = charge("saved", day, customer="cus_1", billing_details=nobody)
    typed = charge("typed", day, customer="cus_1", billing_details={**nobody, "phone": "+4915123456789"})
    processor.lists["charges"] = [saved, typed, charge("gone", day, customer="cus_2", billing_details=nobody)]
    known = {"id": "cus_1", "email": "eve@example.com", "phone": None}
    processor.lists["customers"] = [known, {"id": "cus_2", "deleted": True}]
    pull(settings, lake, day)
    who = {key: (row["email"], row["phone"], row["payment_customer_id"]) for key, row in told(lake).items()}
    assert who == {
        "stripe:pi_saved": ("eve@example.com", None, "cus_1"),
        "stripe:pi_typed": (None, "+4915123456789", "cus_1"),
        "stripe:pi_gone": (None, None, "cus_2"),
    }
    # a key that may not read customers brings the payments all the same
    processor.closed = {"customers"}
    pull(settings, lake, day)
    assert {key: row["email"] for key, row in told(lake).items()} == dict.fromkeys(who)
