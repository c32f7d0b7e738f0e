"""Which refunds of a payment captured in part gave money back, and which only let go of the rest."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from connectors.stripe import Stripe
from connectors.transport import Transport
from tests.fixtures.processor import Processor, charge, returned
from tests.fixtures.sandbox import served

DAY = date(2025, 11, 1)


@pytest.fixture
def processor() -> Iterator[Processor]:
    account = Processor()
    with served(account.app()) as account.url:
        yield account


def counted(processor: Processor, held: dict[str, Any], *refunds: dict[str, Any]) -> dict[str, Decimal]:
    """The refunds that count, of a charge of EUR 100.00 with these members."""
    processor.lists = {"charges": [charge("one", DAY, **held)]}
    first = returned("one", DAY)["created"]
    processor.lists["refunds"] = [
        returned("one", DAY, id=f"re_{n}", created=first + n, **told) for n, told in enumerate(refunds)
    ]
    with Transport() as transport:
        rows = Stripe(processor.url, "sk_test", transport).payments()
    return {row["conversion_key"]: row["value"] for row in rows if "refund_kind" in row and not row["_deleted"]}


def test_what_the_capture_let_go_of_is_no_refund(processor: Processor) -> None:
    held = {"amount_captured": 7000, "amount_refunded": 3000}
    assert counted(processor, held, {"amount": 3000}) == {}


def test_only_a_refund_that_came_through_of_a_charge_that_is_told_can_be_what_the_capture_let_go_of(
    processor: Processor,
) -> None:
    held = {"amount_captured": 7000, "amount_refunded": 3000}
    failed, nameless = {"amount": 3000, "status": "failed"}, {"amount": 3000, "charge": None}
    assert counted(processor, held, failed, {"amount": 3000}) == {}
    assert counted(processor, held, nameless, {"amount": 3000}) == {"stripe:re_0": Decimal(30)}


def test_a_refund_of_as_much_again_is_one(processor: Processor) -> None:
    held = {"amount_captured": 7000, "amount_refunded": 6000}
    assert counted(processor, held, {"amount": 3000}, {"amount": 3000}) == {"stripe:re_1": Decimal(30)}


def test_a_refund_of_another_amount_is_one(processor: Processor) -> None:
    held = {"amount_captured": 7000, "amount_refunded": 1000}
    assert counted(processor, held, {"amount": 1000}) == {"stripe:re_0": Decimal(10)}


def test_all_that_was_captured_may_be_half_of_what_was_held(processor: Processor) -> None:
    held = {"amount_captured": 5000, "amount_refunded": 5000}
    assert counted(processor, {**held, "refunded": True}, {"amount": 5000}) == {"stripe:re_0": Decimal(50)}
    # less than was held is refunded, so the hold itself was
    assert counted(processor, {**held, "refunded": False}, {"amount": 5000}) == {}


def test_a_refund_of_a_payment_captured_whole_is_one(processor: Processor) -> None:
    assert counted(processor, {"amount_refunded": 10_000, "refunded": True}, {"amount": 10_000}) == {
        "stripe:re_0": Decimal(100)
    }
