"""Stripe's official client against the selling half of the sandbox's Stripe face, and its check of our signatures."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import httpx
import pytest
import stripe
from flask import Flask, request

from sandbox.faces import TOKENS
from tests.factories.billing import WEBHOOK_SECRET, decide
from tests.fixtures.sandbox import RunningSandbox, served


@pytest.fixture
def client(sandbox: RunningSandbox) -> stripe.StripeClient:
    return stripe.StripeClient(
        TOKENS["stripe"], base_addresses={"api": f"{sandbox.url}/stripe"}, max_network_retries=0
    )  # fmt: skip


@pytest.fixture
def received(sandbox: RunningSandbox) -> Iterator[list[tuple[str, bytes]]]:
    """The signature and the body of every delivery, while an endpoint is set."""
    app, kept = Flask("receiver"), list[tuple[str, bytes]]()

    @app.post("/hook")
    def hook() -> str:
        kept.append((request.headers["Stripe-Signature"], request.get_data()))
        return ""

    where = f"{sandbox.url}/__sandbox__/stripe/endpoint"
    with served(app) as url, httpx.Client(trust_env=False) as control:
        control.put(where, json={"url": f"{url}/hook", "secret": WEBHOOK_SECRET}).raise_for_status()
        yield kept
        control.put(where, json={"url": None})


def begun(client: stripe.StripeClient) -> stripe.checkout.Session:
    return client.v1.checkout.sessions.create(
        {
            "mode": "subscription",
            "line_items": [{"price": "price_growth_month", "quantity": 1}],
            "success_url": "https://shop.example/done",
            "client_reference_id": "one",
            "metadata": {"plan": "growth"},
            "subscription_data": {"metadata": {"plan": "growth"}},
        }
    )


def test_a_paid_checkout_begins_a_subscription_that_the_client_can_read(client: stripe.StripeClient) -> None:
    session = begun(client)
    assert (session.status, session.payment_status) == ("open", "unpaid")
    assert session.expires_at - session.created == 86400
    assert decide(str(session.url)).headers["Location"] == "https://shop.example/done"
    paid = client.v1.checkout.sessions.retrieve(session.id)
    assert (paid.status, paid.payment_status, paid.client_reference_id) == ("complete", "paid", "one")
    subscription = client.v1.subscriptions.retrieve(str(paid.subscription))
    (item,) = subscription["items"]["data"]
    assert (subscription.status, item["price"]["id"]) == ("active", "price_growth_month")
    assert (item["current_period_end"] - item["current_period_start"]) == 30 * 86400
    assert subscription.metadata.to_dict() == {"plan": "growth"}
    portal = client.v1.billing_portal.sessions.create(
        {"customer": str(paid.customer), "return_url": "https://shop.example"}
    )
    seen = httpx.get(portal.url, trust_env=False)
    assert seen.status_code == 200 and "https://shop.example" in seen.text
    done = httpx.post(portal.url, data={"do": "cancel"}, trust_env=False)
    assert (done.status_code, done.headers["Location"]) == (303, portal.url)
    assert client.v1.subscriptions.retrieve(subscription.id).cancel_at_period_end
    assert 'value="resume"' in httpx.get(portal.url, trust_env=False).text
    assert httpx.get(f"{portal.url}0", trust_env=False).status_code == 404
    assert httpx.post(portal.url, data={"do": "end"}, trust_env=False).status_code == 400
    ended = client.v1.subscriptions.cancel(subscription.id)
    assert ended.status == "canceled"
    with pytest.raises(stripe.InvalidRequestError, match="No such subscription"):
        client.v1.subscriptions.cancel(subscription.id)


def test_deliveries_pass_the_clients_own_check(
    client: stripe.StripeClient, received: list[tuple[str, bytes]], sandbox: RunningSandbox
) -> None:
    session = begun(client)
    decide(str(session.url))
    number = client.v1.checkout.sessions.retrieve(session.id).subscription
    with httpx.Client(trust_env=False) as control:
        for deed in ("fail", "renew", "cancel", "resume", "price_agency_year", "end"):
            where = f"{sandbox.url}/__sandbox__/stripe/subscriptions/{number}"
            control.post(where, json={"do": deed}).raise_for_status()
        assert control.post(where, json={"do": "dance"}).status_code == 400
    events = [client.construct_event(body, header, WEBHOOK_SECRET) for header, body in received]
    assert [event.type for event in events] == [
        "customer.subscription.created",
        "checkout.session.completed",
        "invoice.paid",
        "invoice.payment_failed",
        "customer.subscription.updated",
        "invoice.paid",
        *["customer.subscription.updated"] * 4,
        "customer.subscription.deleted",
    ]
    with pytest.raises(stripe.SignatureVerificationError):
        client.construct_event(received[0][1], received[1][0], WEBHOOK_SECRET)
    assert abs(json.loads(received[0][1])["created"] - time.time()) < 60
    kept = client.v1.events.list().data
    assert {event.id for event in events} <= {event.id for event in kept}


def test_an_idempotency_key_gives_the_same_session_again_and_no_other(client: stripe.StripeClient) -> None:
    def create(plan: str) -> str:
        lines = [{"price": f"price_{plan}_month", "quantity": 1}]
        return client.v1.checkout.sessions.create(
            {"mode": "subscription", "line_items": lines, "success_url": "https://shop.example"},  # type: ignore[typeddict-item]
            {"idempotency_key": "one"},
        ).id

    assert create("growth") == create("growth")
    with pytest.raises(stripe.InvalidRequestError, match="same parameters"):
        create("agency")


def test_refusals_are_worded_as_the_vendors(client: stripe.StripeClient) -> None:
    with pytest.raises(stripe.InvalidRequestError, match="No such price"):
        client.v1.checkout.sessions.create(
            {
                "mode": "subscription",
                "success_url": "https://shop.example",
                "line_items": [{"price": "price_none", "quantity": 1}],
            }
        )
    with pytest.raises(stripe.InvalidRequestError, match="unknown parameter: locale"):
        client.v1.checkout.sessions.create({"mode": "subscription", "locale": "de"})
    with pytest.raises(stripe.InvalidRequestError, match="Not a valid URL"):
        client.v1.checkout.sessions.create({"mode": "subscription", "success_url": "nowhere"})
    with pytest.raises(stripe.InvalidRequestError, match="No such customer"):
        client.v1.billing_portal.sessions.create({"customer": "cus_nobody"})


def test_a_session_is_expired_once_and_never_after_it_was_paid(client: stripe.StripeClient) -> None:
    left, paid = begun(client), begun(client)
    assert client.v1.checkout.sessions.expire(left.id).status == "expired"
    decide(str(paid.url))
    for session in (left, paid):
        with pytest.raises(stripe.InvalidRequestError, match="can be expired"):
            client.v1.checkout.sessions.expire(session.id)
    assert httpx.get(f"{left.url!s}0", trust_env=False).status_code == 404
    page = httpx.get(str(left.url), trust_env=False).text
    assert "Pay" in page and '<html lang="en">' in page and 'name="viewport"' in page
