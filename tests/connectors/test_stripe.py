"""The Stripe connector against the sandbox: one row per payment, whatever goes wrong underneath."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from connectors import stripe as stripe_module
from connectors import stripe_lists
from connectors.errors import CursorExpired, Malformed, Refused, Revoked, Throttled
from connectors.payments import Payments
from connectors.stripe import Stripe
from connectors.transport import Answer, Transport
from sandbox.faces import TOKENS
from tests.connectors.conftest import POLICY
from tests.connectors.truths import given_back, taken, true_payments, true_refunds
from tests.fixtures.processor import Processor, charge
from tests.fixtures.sandbox import TODAY, RunningSandbox, served


@pytest.fixture
def stripe(sandbox: RunningSandbox, transport: Transport, monkeypatch: pytest.MonkeyPatch) -> Stripe:
    monkeypatch.setattr(stripe_lists, "PAGE", 20)
    return Stripe(f"{sandbox.url}/stripe", TOKENS["stripe"], transport)


def test_it_offers_payments(stripe: Stripe) -> None:
    offered: Payments = stripe
    assert offered


def test_every_payment_of_the_world_is_one_row_with_its_amount_state_and_time(
    sandbox: RunningSandbox, stripe: Stripe
) -> None:
    rows = stripe.payments()
    assert taken(rows) == true_payments(sandbox.world)
    assert {status for _, _, status, _ in taken(rows).values()} >= {"captured", "failed"}
    keys = [row["conversion_key"] for row in rows]
    assert len(set(keys)) == len(keys)


def test_every_refund_that_succeeded_names_the_payment_it_lowers(sandbox: RunningSandbox, stripe: Stripe) -> None:
    assert given_back(stripe.payments()) == true_refunds(sandbox.world)


def test_payments_carry_the_identifiers_the_processor_knows(sandbox: RunningSandbox, stripe: Stripe) -> None:
    found = {row["payment_ref"]: row for row in stripe.payments() if row.get("payment_ref")}
    for row in sandbox.world.payments:
        known = found[f"stripe:{row.intent_id}"]
        assert (known["email"], known["phone"], known["payment_customer_id"], known["source"]) == (
            row.known.email, row.known.phone, row.known.payment_customer_id, "payments",
        )  # fmt: skip


@pytest.mark.parametrize(
    ("billing", "receipt", "told"),
    [
        ({"email": "typed@example.com", "phone": "+1"}, "receipt@example.com", ("typed@example.com", "+1")),
        ({"email": "typed@example.com"}, None, ("typed@example.com", None)),
        ({"email": None}, "receipt@example.com", ("receipt@example.com", None)),
        # another phone than the customer's: whoever paid by it may be somebody else
        ({"email": None, "phone": "+1"}, None, (None, "+1")),
        ({"email": None}, None, ("saved@example.com", "+49")),
    ],
)
def test_whoever_paid_is_who_said_so_at_the_till_and_else_the_customer_of_the_card(
    billing: dict[str, Any], receipt: str | None, told: tuple[str | None, str | None]
) -> None:
    saved = {"id": "cus_1", "email": "saved@example.com", "phone": "+49"}
    row = stripe_module.payment(
        charge("one", TODAY, billing_details=billing, receipt_email=receipt, customer=saved),
    )
    assert (row["email"], row["phone"], row["payment_customer_id"]) == (*told, "cus_1")


@pytest.mark.parametrize(
    ("beside", "ref"), [({"order_id": "7"}, "7"), ({"order_ref": "A", "order_id": "7"}, "A"), ({}, None)]
)
def test_the_order_of_a_payment_is_what_its_metadata_names(beside: dict[str, str], ref: str | None) -> None:
    assert stripe_module.payment(charge("one", TODAY, metadata=beside))["order_ref"] == ref


def test_renewals_are_numbered_from_their_subscriptions_first_payment(sandbox: RunningSandbox, stripe: Stripe) -> None:
    first = {row.subscription_id: row.intent_id for row in sandbox.world.payments if row.sequence_no == 1}
    true = {
        f"stripe:{row.intent_id}": (
            f"stripe:{first[row.subscription_id]}", row.subscription_id, row.sequence_no, row.billing_reason,
        )
        for row in sandbox.world.payments
        if row.invoice_id
    }  # fmt: skip
    rows = stripe.renewals()
    assert true
    assert true == {
        row["payment_ref"]: (
            row["first_payment_ref"], row["subscription_ref"], row["sequence_no"], row["billing_reason"],
        )
        for row in rows
    }  # fmt: skip


def _invoice(name: str, created: int, reason: str, *payments: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": f"in_{name}",
        "created": created,
        "billing_reason": f"subscription_{reason}",
        "parent": {"subscription_details": {"subscription": "sub_1"}},
        "payments": {"data": list(payments)},
    }


def _settled(kind: str, number: str, at: int, status: str = "paid") -> dict[str, Any]:
    return {"status": status, "payment": {"type": kind, kind: number}, "status_transitions": {"paid_at": at}}


def test_renewals_may_be_paid_by_old_charges_and_in_parts(transport: Transport) -> None:
    parts = [_settled("payment_intent", "pi_2", 320), _settled("payment_intent", "pi_3", 310)]
    tried = _settled("payment_intent", "pi_9", 300, status="canceled")
    processor = Processor()
    processor.lists["invoices"] = [
        _invoice("1", 100, "create", _settled("charge", "ch_1", 100)),
        _invoice("2", 200, "cycle", _settled("payment_record", "pr_1", 200)),
        _invoice("3", 300, "cycle", *parts, tried),
    ]
    with served(processor.app()) as url:
        rows = Stripe(url, "sk_test", transport).renewals()
    assert [(row["payment_ref"], row["sequence_no"], row["billing_reason"]) for row in rows] == [
        ("stripe:ch_1", 1, "create"), ("stripe:pi_3", 2, "cycle"), ("stripe:pi_2", 3, "cycle"),
    ]  # fmt: skip
    assert {row["first_payment_ref"] for row in rows} == {"stripe:ch_1"}


def test_only_payments_since_a_moment_are_asked_for(sandbox: RunningSandbox, stripe: Stripe) -> None:
    moment = datetime(TODAY.year, TODAY.month, TODAY.day, tzinfo=UTC) - timedelta(days=10)
    rows = stripe.payments(moment)
    since = {ref: row for ref, row in true_payments(sandbox.world).items() if row[3] >= moment.timestamp()}
    assert taken(rows) == since


def test_a_payment_tried_three_times_is_one_payment_the_captured_one() -> None:
    base = {"payment_intent": "pi_1", "currency": "usd", "amount": 500, "amount_captured": 500, "customer": None}
    charges = [
        {**base, "id": "ch_3", "created": 30, "status": "failed", "captured": False},
        {**base, "id": "ch_2", "created": 20, "status": "succeeded", "captured": True, "amount_captured": 450},
        {**base, "id": "ch_1", "created": 10, "status": "failed", "captured": False},
    ]
    rows = stripe_module._one_per_payment(map(stripe_module.payment, charges))
    assert [(row["payment_ref"], row["payment_status"], row["value"]) for row in rows] == [
        ("stripe:pi_1", "captured", Decimal("4.50"))
    ]


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"livemode": False}, "test"),
        ({"captured": False}, "authorized"),
        ({"status": "pending"}, "authorized"),
        ({"status": "failed"}, "failed"),
        ({}, "captured"),
    ],
)
def test_only_captured_live_money_is_captured(change: dict[str, Any], status: str) -> None:
    charge = {"id": "ch_1", "payment_intent": {"id": "pi_9"}, "currency": "usd", "amount": 5, "amount_captured": 5,
              "created": 1, "status": "succeeded", "captured": True, **change}  # fmt: skip
    row = stripe_module.payment(charge)
    assert (row["payment_status"], row["payment_ref"]) == (status, "stripe:pi_9")


REFUND = {"id": "re_1", "payment_intent": None, "charge": "ch_1", "amount": 5, "currency": "usd", "created": 1}


@pytest.mark.parametrize(
    ("status", "withdrawn"),
    [("succeeded", False), ("failed", True), ("canceled", True), ("pending", None), ("requires_action", None)],
)
def test_a_refund_counts_once_it_succeeded_and_is_withdrawn_if_it_came_to_nothing(
    status: str, withdrawn: bool | None
) -> None:
    row = stripe_module.refund({**REFUND, "status": status})
    assert (row and (row["_deleted"], row["refunds_payment_ref"], row["refund_kind"])) == (
        None if withdrawn is None else (withdrawn, "stripe:ch_1", "refund")
    )


@pytest.mark.parametrize(
    ("status", "withdrawn"),
    [("lost", False), ("won", True), ("warning_closed", True), ("needs_response", None), ("under_review", None)],
)
def test_only_a_lost_dispute_takes_the_money_back(status: str, withdrawn: bool | None) -> None:
    row = stripe_module.lost({**REFUND, "id": "dp_1", "payment_intent": "pi_1", "status": status})
    assert (row and (row["_deleted"], row["refunds_payment_ref"], row["refund_kind"])) == (
        None if withdrawn is None else (withdrawn, "stripe:pi_1", "dispute_lost")
    )


def test_money_sent_back_that_no_payment_brought_lowers_none() -> None:
    assert stripe_module.refund({**REFUND, "charge": None, "status": "succeeded"}) is None


@pytest.mark.parametrize(("currency", "value"), [("usd", "12.34"), ("jpy", "1234"), ("kwd", "1.234")])
def test_amounts_follow_the_currencys_own_digits(currency: str, value: str) -> None:
    charge = {"id": "ch_1", "currency": currency, "amount": 1234, "amount_captured": 1234, "created": 1,
              "status": "succeeded", "captured": True, "metadata": {"order_ref": "#7", "fbclid": "abc"}}  # fmt: skip
    row = stripe_module.payment(charge)
    assert (row["value"], row["currency"]) == (Decimal(value), currency.upper())
    assert (row["order_ref"], row["click_id_type"], row["click_id"]) == ("#7", "fbclid", "abc")
    assert row["payment_ref"] == "stripe:ch_1"


def test_a_conflict_is_repeated_within_the_request_budget(
    sandbox: RunningSandbox, stripe: Stripe, transport: Transport
) -> None:
    stripe.payments()
    undisturbed = transport.requests
    sandbox.plan({"route": "/v1/(charges|refunds|invoices)", "after": 1, "times": 2, "kind": "status", "status": 409})
    assert taken(stripe.payments()) == true_payments(sandbox.world)
    assert (sandbox.hits(), transport.requests - undisturbed) == ([2], undisturbed + 2)


def test_a_dead_key_is_never_tried_twice(sandbox: RunningSandbox, stripe: Stripe, transport: Transport) -> None:
    sandbox.plan({"route": "/v1/charges", "kind": "revoked", "after": 2, "times": None})
    with pytest.raises(Revoked):
        stripe.payments()
    assert sandbox.hits() == [1]


def test_a_used_up_rate_is_waited_for_as_long_as_stripe_says(
    sandbox: RunningSandbox, stripe: Stripe, slept: list[float]
) -> None:
    sandbox.plan({"route": "/v1/charges", "kind": "throttled", "wait": 7, "times": 1})
    stripe.payments()
    assert [7 <= wait < 8 for wait in slept] == [True]


@pytest.mark.parametrize(
    ("fault", "error", "requests"),
    [
        ({"kind": "status", "status": 500, "headers": {"Stripe-Should-Retry": "false"}}, Refused, 1),
        ({"kind": "status", "status": 400, "headers": {"Stripe-Should-Retry": "true"}}, Exception, POLICY.attempts),
        ({"kind": "throttled", "wait": 500}, Throttled, 1),
        ({"kind": "duplicate_page", "after": 1}, Malformed, 6),
    ],
)
def test_lasting_faults_end_within_a_bound(
    sandbox: RunningSandbox, stripe: Stripe, transport: Transport, fault: dict[str, Any],
    error: type[Exception], requests: int,
) -> None:  # fmt: skip
    sandbox.plan({"route": "/v1/charges", "times": None, **fault})
    with pytest.raises(error):
        stripe.payments()
    assert transport.requests <= requests


@pytest.mark.parametrize(
    ("code", "param", "error"),
    [
        ("resource_missing", "starting_after", CursorExpired),
        ("resource_missing", "customer", Refused),
        ("parameter_invalid_string", "starting_after", Refused),
    ],
)
def test_only_a_missing_cursor_is_one_that_expired(code: str, param: str, error: type[Exception]) -> None:
    told = {"type": "invalid_request_error", "code": code, "param": param, "message": "No such object"}
    with pytest.raises(error):
        stripe_lists.StripeDialect().judge(Answer(400, {}, {"error": told}, is_json=True))


@pytest.mark.parametrize("times", [stripe_lists.RESTARTS, None])
def test_a_walk_whose_cursor_is_gone_begins_anew_within_a_bound(
    sandbox: RunningSandbox, stripe: Stripe, times: int | None
) -> None:
    sandbox.plan({"route": "/v1/charges", "kind": "cursor_expires", "times": times})
    if times is None:
        with pytest.raises(CursorExpired):
            stripe.payments()
        assert sandbox.hits() == [stripe_lists.RESTARTS + 1]
    else:
        assert taken(stripe.payments()) == true_payments(sandbox.world)
