"""Messages of people to the business account, delivered to a webhook as the chat app does: signed, maybe twice."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

import httpx
from flask import Flask, request

from sandbox.chatapp import ACCOUNT
from sandbox.faults import CONTROL

NUMBER = "106540352242922"
Row = dict[str, Any]


def message(number: str, sender: str, at: int, *, ad_id: str | None = None, click_id: str | None = None) -> Row:
    """One text message; with `ad_id` it opened a conversation from that ad.

    `sender` is a number, or the id that the chat app tells alone of somebody who has a name there instead.
    """
    row: Row = {**_who(sender, "from", "from_user_id"), "id": f"wamid.{number}", "timestamp": str(at), "type": "text"}
    row["text"] = {"body": "Hi! Is this still available?"}
    if ad_id:
        row["referral"] = {
            "source_url": "https://fb.me/3cr4Wqqkv", "source_id": ad_id, "source_type": "ad",
            "headline": "Chat with us", "body": "Autumn jackets", "media_type": "image",
            "ctwa_clid": click_id or f"ARA{number}",
        }  # fmt: skip
    return row


def delivery(messages: list[Row], *, secret: str, account: str = ACCOUNT) -> tuple[bytes, dict[str, str]]:
    """The bytes and headers of one delivery of these messages."""
    senders = [str(one.get("from", one["from_user_id"])) for one in messages]
    people = [{"profile": {"name": "Kerry Fisher"}, **_who(one, "wa_id", "user_id")} for one in senders]
    about = {"display_phone_number": "15550783881", "phone_number_id": NUMBER}
    value = {"messaging_product": "whatsapp", "metadata": about, "contacts": people, "messages": messages}
    entry = {"id": account, "changes": [{"value": value, "field": "messages"}]}
    content = json.dumps({"object": "whatsapp_business_account", "entry": [entry]}).encode()
    mac = hmac.new(secret.encode(), content, hashlib.sha256).hexdigest()
    return content, {"Content-Type": "application/json", "X-Hub-Signature-256": f"sha256={mac}"}


def _who(sender: str, number: str, identity: str) -> Row:
    return {identity: sender} if "." in sender else {number: sender, identity: f"US.{sender}"}


def control(app: Flask) -> None:
    """The route by which a test has people write to the business account."""

    @app.post(f"{CONTROL}/chatapp/messages")
    def write() -> Row:
        """Deliver messages (`message`'s arguments each) to `to`, signed with `secret`, `times` over."""
        asked = request.get_json()
        content, headers = delivery([message(**one) for one in asked["messages"]], secret=asked["secret"])
        return {
            "answers": [
                httpx.post(asked["to"], content=content, headers=headers, trust_env=False).status_code
                for _ in range(asked.get("times", 1))
            ]
        }
