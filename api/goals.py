"""The built-in goals: which conversion type an event of each name is, and whether its value is cash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

REFUND = "refund_issued"


@dataclass(frozen=True, slots=True)
class Goal:
    """One goal. `revenue_type` is cash, pipeline or gross; gross value is never cash.

    `server_events` are names that POST /events maps to it, `browser_events` those of the tracker.
    """

    conversion_key: str
    revenue_type: str
    server_events: tuple[str, ...]
    browser_events: tuple[str, ...]
    attribution_eligible: bool = True


def _pipeline(name: str, *also: str) -> Goal:
    return Goal(name, "pipeline", (name, *also), (name, *also))


BUILT_IN = (
    Goal("payment_received", "cash", ("payment_received", "purchase", "invoice_paid"), ("payment_received",)),
    _pipeline("lead_created", "lead_submitted", "registration_completed"),
    _pipeline("appointment_booked"),
    _pipeline("appointment_attended"),
    _pipeline("dm_started"),
    _pipeline("quote_presented"),
    _pipeline("closed_won"),
    Goal("order_placed", "gross", ("order_placed",), ("order_placed", "purchase"), attribution_eligible=False),
)

_BY_SERVER_EVENT: Mapping[str, Goal] = {name: goal for goal in BUILT_IN for name in goal.server_events}


def goal_of_server_event(event_name: str) -> Goal | None:
    """The goal that a server's event counts for; None when no goal names it."""
    return _BY_SERVER_EVENT.get(event_name)
