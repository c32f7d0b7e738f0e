"""Deliveries of the chat app: whether they are signed, and the conversations in them that an ad opened."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from connectors.chatapp import PROVIDER

LONGEST = 128
_SCHEME = "sha256="
_NUMBER = re.compile(r"[0-9]{7,15}")
# of somebody in one business: it is told always, the number not of people who took a name in its place
_IDENTITY = re.compile(r"[A-Z]{2}\.(?:ENT\.)?[0-9A-Za-z]{1,128}")


@dataclass(frozen=True)
class Opened:
    """One message with which somebody came from an ad; `click_id` is the platform's, if told.

    `who` is what the sender is known by: the phone as E.164, else the app's own id of the sender in this business.
    """

    message_id: str
    who: Mapping[str, str]
    ad_id: str
    click_id: str | None
    at: datetime


def outcome_key(conversation_id: str) -> str:
    """The key of the outcome that is kept of each conversation seen live, beside its referral."""
    return f"dm_started:{conversation_id}"


def is_signed(secret: str, header: str, body: bytes) -> bool:
    """Whether `X-Hub-Signature-256` fits the bytes of the body."""
    wanted = _SCHEME + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(wanted.encode(), header.strip().encode("utf-8", "replace"))


def is_for(body: Any, account_id: str) -> bool:
    """Whether the delivery tells of this business account. Raises ValueError for what is no delivery."""
    return any(str(entry.get("id")) == account_id for entry in _entries(body))


def opened(body: Any, account_id: str, *, now: datetime) -> list[Opened]:
    """The messages to this account that an ad led to; whatever else a delivery tells is left out."""
    found = []
    for entry in _entries(body):
        if str(entry.get("id")) == account_id:
            found += [one for message in _messages(entry) if (one := _opened(message, now))]
    return found


def _entries(body: Any) -> Iterator[Mapping[str, Any]]:
    entries = body.get("entry") if isinstance(body, dict) else None
    if not isinstance(entries, list):
        raise ValueError("no delivery of the chat app")
    return _objects(entries)


def _messages(entry: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for change in _objects(entry.get("changes")):
        value = change.get("value")
        if change.get("field") == "messages" and isinstance(value, dict):
            yield from _objects(value.get("messages"))


def _objects(given: Any) -> Iterator[Mapping[str, Any]]:
    return (one for one in given if isinstance(one, dict)) if isinstance(given, list) else iter(())


def _opened(message: Mapping[str, Any], now: datetime) -> Opened | None:
    referral, number = message.get("referral"), str(message.get("id") or "")
    who = _who(str(message.get("from") or ""), str(message.get("from_user_id") or ""))
    if not isinstance(referral, dict) or referral.get("source_type") != "ad" or not number or not who:
        return None
    ad_id, click_id = str(referral.get("source_id") or ""), str(referral.get("ctwa_clid") or "") or None
    if not 0 < len(ad_id) <= LONGEST:
        return None
    return Opened(number, who, ad_id, click_id and click_id[:1024], _time(message.get("timestamp"), now))


def _who(*told: str) -> Mapping[str, str]:
    """The person column that a sender goes by; empty for nobody."""
    if number := next((one for one in told if _NUMBER.fullmatch(one)), None):
        return {"phone": f"+{number}"}
    identity = next((one for one in told if _IDENTITY.fullmatch(one)), None)
    return {"anonymous_id": f"{PROVIDER}:{identity}"} if identity else {}


def _time(told: Any, now: datetime) -> datetime:
    try:
        at = datetime.fromtimestamp(int(str(told)), UTC)
    except (ValueError, OverflowError, OSError):
        return now
    # a clock that is ahead of ours must not make a visit of tomorrow
    return min(at, now)
