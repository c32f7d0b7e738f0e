"""Stripe's official client against the sandbox's Stripe face."""

from __future__ import annotations

import httpx
import pytest
import stripe

from sandbox.faces import TOKENS
from tests.fixtures.sandbox import RunningSandbox


@pytest.fixture
def client(sandbox: RunningSandbox) -> stripe.StripeClient:
    return stripe.StripeClient(
        TOKENS["stripe"], base_addresses={"api": f"{sandbox.url}/stripe"}, max_network_retries=2
    )  # fmt: skip


def test_a_walk_over_pages_finds_every_charge_once_and_newest_first(
    client: stripe.StripeClient, sandbox: RunningSandbox
) -> None:
    found = list(client.v1.charges.list({"limit": 17}).auto_paging_iter())
    assert sorted(row.id for row in found) == sorted(row.charge_id for row in sandbox.world.payments)
    assert [row.created for row in found] == sorted((row.created for row in found), reverse=True)
    assert sandbox.calls("/v1/charges") == -(-len(found) // 17)


def test_a_walk_backwards_ends_at_the_newest(client: stripe.StripeClient) -> None:
    first = client.v1.payment_intents.list({"limit": 5})
    second = client.v1.payment_intents.list({"limit": 5, "starting_after": first.data[-1].id})
    back = client.v1.payment_intents.list({"limit": 5, "ending_before": second.data[0].id})
    assert [row.id for row in back.data] == [row.id for row in first.data]
    assert back.has_more is False


def test_charges_say_what_came_of_the_payment(client: stripe.StripeClient, sandbox: RunningSandbox) -> None:
    charges = {row.payment_intent: row for row in client.v1.charges.list({"limit": 100}).auto_paging_iter()}
    intents = {row.id: row for row in client.v1.payment_intents.list({"limit": 100}).auto_paging_iter()}
    for payment in sandbox.world.payments:
        charge, intent = charges[payment.intent_id], intents[payment.intent_id]
        assert charge.currency == intent.currency == payment.currency.lower()
        if payment.status == "captured":
            assert (intent.status, charge.status, charge.captured) == ("succeeded", "succeeded", True)
            assert charge.amount_captured - charge.amount_refunded == payment.net_minor
        elif payment.status == "failed":
            assert (intent.status, charge.status, charge.paid) == ("requires_payment_method", "failed", False)
        else:
            assert (intent.status, charge.captured, charge.amount_captured) == ("requires_capture", False, 0)


def test_refunds_are_listed_with_their_payment_failed_ones_too(
    client: stripe.StripeClient, sandbox: RunningSandbox
) -> None:
    true = {refund.id: (row.intent_id, refund) for row in sandbox.world.payments for refund in row.refunds}
    found = list(client.v1.refunds.list({"limit": 10}).auto_paging_iter())
    assert {row.id for row in found} == set(true)
    for row in found:
        intent, refund = true[row.id]
        assert (row.payment_intent, row.amount, row.status) == (intent, refund.amount_minor, refund.status)


def test_refunds_show_their_charge_when_expanded(client: stripe.StripeClient) -> None:
    charges = {row.id: row for row in client.v1.charges.list({"limit": 100}).auto_paging_iter()}
    found = client.v1.refunds.list({"limit": 10, "expand": ["data.charge"]}).data
    assert found
    assert [row.charge for row in found] == [charges[row.charge.id] for row in found]


def test_invoices_join_a_subscription_to_its_payments_when_expanded(
    client: stripe.StripeClient, sandbox: RunningSandbox
) -> None:
    true = {row.invoice_id: row for row in sandbox.world.payments if row.invoice_id}
    found = list(client.v1.invoices.list({"limit": 50, "expand": ["data.payments"]}).auto_paging_iter())
    assert {row.id for row in found} == set(true)
    for row in found:
        payment = true[row.id]
        assert row.parent.subscription_details.subscription == payment.subscription_id
        assert row.payments.data[0].payment.payment_intent == payment.intent_id
        assert row.billing_reason == f"subscription_{payment.billing_reason}"
    plain = client.v1.invoices.list({"limit": 1}).data[0]
    assert "payments" not in plain
    joined = client.v1.invoice_payments.list({"invoice": plain.id}).data
    assert [row.payment.payment_intent for row in joined] == [true[plain.id].intent_id]


def test_the_created_filter_is_closed_at_gte_and_open_at_lt(
    client: stripe.StripeClient, sandbox: RunningSandbox
) -> None:
    moments = sorted(row.at for row in sandbox.world.payments)
    low, high = moments[20], moments[40]
    found = list(client.v1.charges.list({"created": {"gte": low, "lt": high}, "limit": 100}).auto_paging_iter())
    assert len(found) == sum(low <= moment < high for moment in moments)


def test_single_objects_are_retrieved_by_id(client: stripe.StripeClient, sandbox: RunningSandbox) -> None:
    subscription = sandbox.world.subscriptions[0]
    found = client.v1.subscriptions.retrieve(subscription.id)
    assert (found.customer, found.status) == (subscription.customer_id, subscription.status)
    assert client.v1.customers.retrieve(subscription.customer_id).email.endswith("@example.com")


def test_refusals_are_the_clients_own_exceptions(client: stripe.StripeClient, sandbox: RunningSandbox) -> None:
    with pytest.raises(stripe.InvalidRequestError, match="No such charge") as missing:
        client.v1.charges.retrieve("ch_none")
    assert (missing.value.code, missing.value.http_status) == ("resource_missing", 404)
    with pytest.raises(stripe.InvalidRequestError, match="between 1 and 100"):
        client.v1.charges.list({"limit": 101})
    stranger = stripe.StripeClient("sk_test_nobody", base_addresses={"api": f"{sandbox.url}/stripe"})
    with pytest.raises(stripe.AuthenticationError):
        stranger.v1.charges.list()


@pytest.mark.parametrize(
    "query", ["starting_after=ch_none", "created[gte]=yesterday", "limit=ten", "colour=red"]
)  # fmt: skip
def test_a_malformed_query_is_refused(sandbox: RunningSandbox, query: str) -> None:
    url, headers = f"{sandbox.url}/stripe/v1/charges?{query}", {"Authorization": f"Bearer {TOKENS['stripe']}"}
    answer = httpx.get(url, headers=headers, trust_env=False)
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")


def test_an_unknown_address_is_not_found(sandbox: RunningSandbox) -> None:
    headers = {"Authorization": f"Bearer {TOKENS['stripe']}"}
    assert httpx.get(f"{sandbox.url}/stripe/v1/wishes", headers=headers, trust_env=False).status_code == 404
