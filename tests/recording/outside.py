"""What reaches over to others: connections, exports, webhooks, the chat app, and what stores and chats tell us."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

from api import db
from api.hooks import store_effects
from api.models import Connection, ExportDestination
from api.webhooks import delivering
from api.webhooks.egress import Egress
from sandbox.ad_catalogue import ACCOUNTS
from sandbox.chat_messages import delivery, message
from sandbox.chatapp import ACCOUNT, PICTURE
from sandbox.faces import TOKENS
from tests.api.conftest import Caller
from tests.api.v1.connections.conftest import Owner
from tests.factories import exports as ledger
from tests.factories.receivers import Receiver
from tests.factories.store_deliveries import signed
from tests.recording.deployment import CHAT_SECRET, CHAT_WORD, HOOK_HOST, STORE_SECRET, TOO_LARGE, Place
from tests.recording.figures import WINDOW
from tests.recording.who import Who
from touchledger.demo import DEMO_PROFILE_ID

META, STORE = f"{DEMO_PROFILE_ID[:-2]}10", f"{DEMO_PROFILE_ID[:-2]}12"
CONNECTED = {"connection_id": META}
UNKNOWN = "01900000-0000-7000-8000-00000000ffff"
CHAT = "01900000-0000-7000-8000-000000000d20"
AT = 1_794_823_200


def connections(place: Place, who: Who) -> None:
    ask, refused = place.recorder.ask, place.recorder.refused
    ask("connection_list", who.key)
    ask("connection_state", who.key, at=CONNECTED)
    ask("connect", who.key, body={"provider": "meta", "return_url": "https://shop.example.com/settings"})
    owner = Owner(Caller(place.recorder.client, who.key.removeprefix("Bearer ")), place.recorder.client)
    at = {"connection_id": str(owner.walk()["connection_id"])}
    offered = ask("candidate_accounts", who.key, at=at)
    refused("finalize", "validation_error", who.key, at=at, body={"external_account_ids": ["act_0"]})
    chosen = [one["external_account_id"] for one in offered if one["external_account_id"] == ACCOUNTS[-1].id]
    ask("finalize", who.key, at=at, body={"external_account_ids": chosen})
    ask("sync", who.key, at=CONNECTED, body=WINDOW)
    ask("disconnect", who.key, at=at)
    refused("sync", "connection_not_ready", who.key, at=at, body={})


def exports(place: Place, who: Who) -> None:
    ask = place.recorder.ask
    pixel = place.sandbox.pixel_id()
    body: dict[str, Any] = {"kind": "meta_capi", "name": "Purchases to Meta", "connection_id": META}
    body |= {"meta_pixel_id": pixel, "conversion_types": ["payment_received"], "send_value": True}
    made = ask("add_destination", who.key, body=body)
    place.recorder.refused("add_destination", "destination_conflict", who.key, body=body)
    at = {"destination_id": made["id"]}
    ask("change_destination", who.key, at=at, body={"name": "Sales to Meta", "test_event_code": "TEST4711"})
    ask("destination_list", who.key)
    ask("try_destination", who.key, at=at, body={"test_event_code": "TEST4711"})
    with db.transaction(place.url) as session:
        destination = session.get_one(ExportDestination, made["id"])
    # the demo's outcomes are older than its destination, and so never leave by it
    ledger.row(place.url, destination, status="sent", sent_at=db.now(), next_attempt_at=None)
    ask("export_ledger", who.key, query={"limit": 1})
    ask("set_catalog", who.key, body={
        "privacy_mode": "standard",
        "conversion_types": [{"type": "payment_received", "enabled": True, "send_value": True}],
    })  # fmt: skip
    ask("platform_safe_consent", who.owner, query={"profile_id": DEMO_PROFILE_ID})
    ask("data_sources", who.key)
    place.recorder.refused("choose_dataset", "platform_safe_required", who.key, body={"target": "clean"})
    place.recorder.unkept("set_catalog", who.key, body={"privacy_mode": "platform_safe"})
    ask("choose_dataset", who.key, body={"target": "clean", "dataset": "website", "connection_id": META})
    place.recorder.unkept(
        "set_catalog", who.owner, query={"profile_id": DEMO_PROFILE_ID}, body={"privacy_mode": "standard"}
    )
    ask("delete_destination", who.key, at=at)


def webhooks(place: Place, who: Who) -> None:
    ask = place.recorder.ask
    body = {"url": f"https://{HOOK_HOST}/hook", "events": ["report.ready", "connection.reconnect_required"]}
    made = ask("create_subscription", who.key, body=body)
    place.recorder.refused("create_subscription", "validation_error", who.key, body={**body, "url": "http://10.0.0.7/"})
    at = {"subscription_id": made["id"]}
    ask("change_subscription", who.key, at=at, body={"events": ["report.ready"], "status": "active"})
    ask("subscription_list", who.key)
    ask("rotate_secret", who.key, at=at, body={"grace_days": 7})
    ask("test_subscription", who.key, at=at, body={})
    delivering.deliver(place.settings, _way_out(place.receiver))
    (one, *_) = ask("delivery_list", who.key, query={"limit": 1})
    ask("replay_delivery", who.key, at={"delivery_id": one["delivery_id"]}, body={})
    ask("delete_subscription", who.key, at=at)


def _way_out(receiver: Receiver) -> Egress:
    return Egress({f"https://{HOOK_HOST}": receiver.url})


def chat(place: Place, who: Who) -> None:
    ask, refused = place.recorder.ask, place.recorder.refused
    with db.transaction(place.url) as session:
        session.add(Connection(
            id=CHAT, profile_id=DEMO_PROFILE_ID, provider="chatapp", kind="messaging", display_name="Alder & Finch",
            external_account_id=ACCOUNT, base_url=f"{place.sandbox.url}/meta", token=TOKENS["meta"], is_sandbox=True,
        ))  # fmt: skip
    of_chat = {"connection_id": CHAT}
    template: dict[str, Any] = {**of_chat, "name": "order_ready", "category": "UTILITY", "language": "en"}
    template |= {"body_text": "Your order {{1}} is ready.", "examples": {"1": "1001"}}
    payload = {"payload": json.dumps(template), "header_media": "order.png"}
    ask("create_template", who.key, body=template, form=payload)
    refused("create_template", "invalid_state", who.key, body=template)
    ask("sync_templates", who.key, body=of_chat)
    ask("cached_templates", who.key, query=of_chat)
    ask("cached_template", who.key, at={"name": "order_ready"}, query=of_chat)
    refused("cached_template", "template_not_found", who.key, at={"name": "order_raedy"}, query=of_chat)
    ask("resolve_media", who.key, at={"media_id": PICTURE}, query=of_chat)


def told_by_chats(place: Place, who: Who) -> None:
    ask, refused = place.recorder.ask, place.recorder.refused
    at = {"connection_id": CHAT}
    proving = {"hub.mode": "subscribe", "hub.verify_token": CHAT_WORD, "hub.challenge": "1158201444"}
    ask("prove_chat_hook", at=at, query=proving)
    refused("prove_chat_hook", "unauthorized", at=at, query={**proving, "hub.verify_token": "another"})
    came = message("HBgLMTQxNTU1NTAxMjM", "14155550123", AT, ad_id="120230000000009011", click_id="ARAkLkA8rmlFeiCkt")
    body, headers = delivery([came], secret=CHAT_SECRET)
    ask("chat_hook", at=at, sent=body, headers=headers, shown=json.loads(body))
    refused("chat_hook", "unauthorized", at=at, sent=body, headers={"Content-Type": "application/json"})
    mac = hmac.new(CHAT_SECRET.encode(), b"[]", hashlib.sha256).hexdigest()
    nothing = {"X-Hub-Signature-256": f"sha256={mac}"}
    refused("chat_hook", "not_found", at={"connection_id": UNKNOWN}, sent=body, headers=headers)
    refused("chat_hook", "payload_too_large", at=at, sent=TOO_LARGE, headers=headers)
    refused("chat_hook", "invalid_request", at=at, sent=b"[]", headers=nothing)


def told_by_stores(place: Place, who: Who) -> None:
    ask, refused = place.recorder.ask, place.recorder.refused
    at = {"connection_id": STORE}
    order = {"id": 5610000000000, "name": "#1001", "updated_at": "2026-11-16T10:00:00-05:00"}
    body, headers = signed("orders/updated", order, secret=STORE_SECRET)
    ask("store_hook", at=at, sent=body, headers=headers, shown=order)
    unsigned = {**headers, "X-Shopify-Hmac-Sha256": "bm90IHNpZ25lZA=="}
    refused("store_hook", "unauthorized", at=at, sent=body, headers=unsigned)
    refused("store_hook", "not_found", at={"connection_id": UNKNOWN}, sent=body, headers=headers)
    refused("store_hook", "payload_too_large", at=at, sent=TOO_LARGE, headers=headers)
    nothing, headers = signed("orders/updated", b"[]", secret=STORE_SECRET, number="d-2")
    refused("store_hook", "invalid_request", at=at, sent=nothing, headers=headers)
    store_effects.settle_due(place.settings)


SCENES = (connections, exports, webhooks, chat, told_by_chats, told_by_stores)
