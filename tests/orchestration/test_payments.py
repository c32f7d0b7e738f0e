"""What a processor told lands as money, and stays right whatever becomes of it later."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import pyarrow.parquet as pq
import pytest

from api.models import Profile
from orchestration.lake import Lake
from orchestration.sync import sync_kind
from tests.factories import accounts, connected
from tests.fixtures.processor import Processor, charge
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
    day = date(2026, 11, 1)
    processor.lists["charges"] = [charge("odd", day, billing_details=typed, metadata={"ad_platform": "Facebook"})]
    pull(settings, lake, day)
    assert lake.quarantined("conversions") == []
    (row,) = told(lake).values()
    assert (row["payment_status"], row["email"], row["phone"]) == ("captured", "ada@example.com", None)
