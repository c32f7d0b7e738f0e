"""Deliveries of the chat app: whether they are signed, and the conversations in them that an ad opened."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

MOST = 500
LONGEST = 128
_SCHEME = "sha256="
_WHO = re.compile(r"[0-9]{7,15}")


@dataclass(frozen=True)
class Opened:
    """One message with which somebody came from an ad; `phone` is E.164, `click_id` the platform's, if told."""

    message_id: str
    phone: str
    ad_id: str
    click_id: str | None
    at: datetime


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
    return found[:MOST]


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
    referral, who = message.get("referral"), str(message.get("from") or "")
    number = str(message.get("id") or "")
    if not isinstance(referral, dict) or referral.get("source_type") != "ad" or not number or not _WHO.fullmatch(who):
        return None
    ad_id, click_id = str(referral.get("source_id") or ""), str(referral.get("ctwa_clid") or "") or None
    if not 0 < len(ad_id) <= LONGEST:
        return None
    return Opened(number, f"+{who}", ad_id, click_id and click_id[:1024], _time(message.get("timestamp"), now))


def _time(told: Any, now: datetime) -> datetime:
    try:
        at = datetime.fromtimestamp(int(str(told)), UTC)
    except (ValueError, OverflowError, OSError):
        return now
    # a clock that is ahead of ours must not make a visit of tomorrow
    return min(at, now)
