"""Buying a plan with the processor, and what the workspace then may have."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime

import httpx

from api import db
from api.app import create_app
from api.models import Subscription, Workspace
from sandbox.stripe_billing import signature
from tests.factories import billing
from tests.factories.billing_events import invoice, marks
from tests.fixtures.sandbox import served
from tests.recording.deployment import TOO_LARGE, Place
from tests.recording.who import Who
from touchledger.demo import DEMO_WORKSPACE_ID

HOOK = {"provider": "stripe"}
PAID_AT = datetime(2026, 11, 16, 10, tzinfo=UTC)


def buying(place: Place, who: Who) -> None:
    ask, refused = place.recorder.ask, place.recorder.refused
    ask("subscription_state", who.owner)
    refused("billing_portal_session", "invalid_state", who.owner, body={})
    refused("register_sender_domain", "plan_upgrade_required", who.owner, body={"domain": "mail.alderfinch.example"})
    page = ask("checkout_session", who.owner, body={"plan": "growth", "interval": "month"})
    ask("handoff_state", who.owner, at={"handoff_id": page["id"]})
    ask("checkout_session", who.owner, body={"plan": "growth", "interval": "month"})
    where = f"{place.sandbox.url}/__sandbox__/stripe/endpoint"
    with served(create_app(place.settings)) as url, httpx.Client(trust_env=False) as control:
        hook = {"url": f"{url}/hooks/payments/stripe", "secret": billing.WEBHOOK_SECRET}
        control.put(where, json=hook).raise_for_status()
        billing.decide(page["url"])
        control.put(where, json={"url": None})
    refused("checkout_session", "invalid_state", who.owner, body={"plan": "growth", "interval": "month"})
    ask("billing_portal_session", who.owner, body={"return_url": "https://shop.example.com/settings"})


def being_told(place: Place, who: Who) -> None:
    with db.transaction(place.url) as session:
        workspace = session.get_one(Workspace, DEMO_WORKSPACE_ID)
        number = session.get_one(Subscription, DEMO_WORKSPACE_ID).subscription_ref
    event = invoice("evt_1", PAID_AT, marks(workspace), is_paid=True, sub=number or "")
    body = json.dumps(event).encode()
    signed = {"Stripe-Signature": signature(billing.WEBHOOK_SECRET, body, int(time.time()))}
    place.recorder.ask("payment_hook", at=HOOK, sent=body, headers=signed, shown=event)
    unsigned = {"Stripe-Signature": signature("whsec_another", body, int(time.time()))}
    place.recorder.refused("payment_hook", "unauthorized", at=HOOK, sent=body, headers=unsigned)
    place.recorder.refused("payment_hook", "not_found", at={"provider": "paypal"}, sent=body, headers=signed)
    place.recorder.refused("payment_hook", "payload_too_large", at=HOOK, sent=TOO_LARGE, headers=signed)
    no_event = {"Stripe-Signature": signature(billing.WEBHOOK_SECRET, b"[]", int(time.time()))}
    place.recorder.refused("payment_hook", "invalid_request", at=HOOK, sent=b"[]", headers=no_event)


def at_the_marketplace(place: Place, who: Who) -> None:
    ask, refused = place.recorder.ask, place.recorder.refused
    refused("shopify_plan_selection", "invalid_state", who.owner, body={"plan": "growth"})
    with db.transaction(place.url) as session:
        workspace = session.get_one(Workspace, DEMO_WORKSPACE_ID)
        kept = workspace.acquisition_source
        workspace.acquisition_source = "storefront"
    ask("shopify_plan_selection", who.owner, body={"plan": "agency"})
    with db.transaction(place.url) as session:
        session.get_one(Workspace, DEMO_WORKSPACE_ID).acquisition_source = kept


SCENES = (buying, being_told, at_the_marketplace)
