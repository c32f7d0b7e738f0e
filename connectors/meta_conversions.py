"""The Conversions API of one Meta pixel: conversions as events, with who converted as hashes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from connectors.errors import Malformed
from connectors.meta_graph import MetaGraph
from connectors.transport import Transport

MOST_AT_ONCE = 1000
# Meta counts an event under this name and id once, however often it arrives
_NAMES = {
    "payment_received": "Purchase",
    "lead_created": "Lead",
    "appointment_booked": "Schedule",
    "appointment_attended": "AppointmentAttended",
    "closed_won": "ClosedWon",
    "dm_started": "Contact",
    "quote_presented": "QuotePresented",
}
# Purchase without a value teaches the platform that sales are worth nothing
_UNPRICED_PAYMENT = "PaymentReceived"


@dataclass(frozen=True, slots=True)
class Match:
    """What a person is found by: SHA-256 in lower-case hexadecimal, but for the click, which is the platform's own."""

    email: str | None = None
    phone: str | None = None
    external_id: str | None = None
    click_id: str | None = None
    clicked_at: datetime | None = None

    @property
    def is_empty(self) -> bool:
        return not (self.email or self.phone or self.external_id or self.click_id)


@dataclass(frozen=True, slots=True)
class Conversion:
    """One conversion to report. `id` is the same at every attempt; `value` is in `currency`, None to withhold it."""

    id: str
    type: str
    occurred_at: datetime
    is_chat: bool
    match: Match
    value: Decimal | None = None
    currency: str | None = None


class MetaConversions:
    """One pixel, `base_url` without the version. Raises ConnectorErrors only; a request is taken whole or not."""

    def __init__(
        self, base_url: str, token: str, pixel_id: str, transport: Transport, *, app_secret: str | None = None
    ) -> None:
        self.pixel_id = pixel_id
        self._graph = MetaGraph(base_url.rstrip("/"), token, transport, app_secret)

    def __repr__(self) -> str:
        return f"<MetaConversions {self.pixel_id}>"

    def send(self, conversions: Sequence[Conversion], *, test_event_code: str | None = None) -> int:
        """Report at most `MOST_AT_ONCE` conversions; gives how many the platform took.

        With a code they are shown to testers and count for nothing.
        """
        form = {"data": json.dumps([_event(one) for one in conversions], separators=(",", ":"))}
        body = self._graph.post(
            f"{self.pixel_id}/events", {**form, **({"test_event_code": test_event_code} if test_event_code else {})}
        )
        received = body.get("events_received")
        if not isinstance(received, int) or received != len(conversions):
            raise Malformed("meta", f"{len(conversions)} events were sent and {received} received")
        return received


def _event(one: Conversion) -> dict[str, Any]:
    is_priced = one.value is not None
    name = _NAMES[one.type]
    event: dict[str, Any] = {
        "event_name": _UNPRICED_PAYMENT if name == "Purchase" and not is_priced else name,
        "event_id": one.id,
        "event_time": int(one.occurred_at.timestamp()),
        "action_source": "chat" if one.is_chat else "system_generated",
        "user_data": _person(one.match),
    }
    if one.value is not None:
        event["custom_data"] = {"value": float(one.value), "currency": one.currency}
    return event


def _person(match: Match) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for name, value in (("em", match.email), ("ph", match.phone), ("external_id", match.external_id)):
        if value:
            found[name] = [value]
    if match.click_id and match.clicked_at:
        found["fbc"] = f"fb.1.{int(match.clicked_at.timestamp() * 1000)}.{match.click_id}"
    return found
