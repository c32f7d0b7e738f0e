"""Goals: which conversion type an event of each name is, and whether its value is cash.

Every profile has the built-in goals, and rows only for what it changed of them or defined beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api.models import GoalRow
from api.warehouse_ids import uuid_v8

REFUND = "refund_issued"
# what no goal names is kept under this type, and is no outcome
NO_GOAL = "unmapped_event"
PAYMENT = "payment_received"
ORDER = "order_placed"


@dataclass(frozen=True, slots=True)
class Goal:
    """One goal. `revenue_type` is cash, pipeline or gross; gross value is never cash.

    `event_names` are those of POST /events and of the tracker alike. What is not `attribution_eligible` is no outcome.
    """

    conversion_key: str
    revenue_type: str
    event_names: tuple[str, ...]
    display_name: str
    attribution_eligible: bool = True

    @property
    def is_built_in(self) -> bool:
        """Whether every profile has it."""
        return self.conversion_key in _BUILT_IN


def _pipeline(key: str, *also: str) -> Goal:
    return Goal(key, "pipeline", (key, *also), key.replace("_", " ").capitalize())


BUILT_IN = (
    Goal(PAYMENT, "cash", (PAYMENT, "purchase", "invoice_paid"), "Payment received"),
    _pipeline("lead_created", "lead_submitted", "registration_completed"),
    _pipeline("appointment_booked"),
    _pipeline("appointment_attended"),
    _pipeline("dm_started"),
    _pipeline("quote_presented"),
    _pipeline("closed_won"),
    Goal(ORDER, "gross", (ORDER, "purchase"), "Order placed", attribution_eligible=False),
)
_BUILT_IN = {goal.conversion_key: goal for goal in BUILT_IN}


def goals_of(session: Session, profile_id: str) -> tuple[Goal, ...]:
    """The profile's goals: the built-in ones with what was changed of them, then its own by their keys."""
    chosen = sa.select(GoalRow).where(GoalRow.profile_id == profile_id)
    return with_rows(session.scalars(chosen))


def with_rows(rows: Iterable[GoalRow]) -> tuple[Goal, ...]:
    """The goals of a profile that has these rows."""
    kept = {row.conversion_key: row for row in rows}
    own = sorted(kept.keys() - _BUILT_IN.keys())
    changed = [_changed(goal, kept.get(goal.conversion_key)) for goal in BUILT_IN]
    return (*changed, *(goal_of_row(kept[key]) for key in own))


def goal_of_row(row: GoalRow) -> Goal:
    """A custom goal as its row has it."""
    names = tuple(row.source_event_names)
    return Goal(row.conversion_key, row.revenue_type, names, row.display_name, row.attribution_eligible)


def goal_id(profile_id: str, conversion_key: str) -> str:
    """The id of a built-in goal of a profile: known before it has a row."""
    return uuid_v8(profile_id, "goal", conversion_key)


def goal_of_server_event(event_name: str, goals: Sequence[Goal] = BUILT_IN) -> Goal | None:
    """The goal that a server's event counts for; None when no goal names it.

    A name that payments and placed orders share is a payment here: a server is believed about cash.
    """
    named = [goal for goal in goals if event_name in goal.event_names]
    return next((goal for goal in named if goal.conversion_key != ORDER), named[0] if named else None)


def goal_of_browser_event(event_name: str, goals: Sequence[Goal] = BUILT_IN) -> Goal | None:
    """The goal that a tracker's event counts for; None when no goal names it.

    A browser makes no cash, since anybody can read its key: what is cash from a server is an order placed here.
    """
    goal = goal_of_server_event(event_name, goals)
    return _BUILT_IN[ORDER] if goal is not None and goal.revenue_type == "cash" else goal


def kept_type(goal: Goal | None) -> str:
    """The type under which an event of the goal is kept in `conversions`, where types are a closed list.

    The warehouse finds a custom goal by the event's name, so that events follow their goals when these change.
    """
    if goal is None:
        return NO_GOAL
    if goal.revenue_type == "cash":
        return PAYMENT
    return goal.conversion_key if goal.is_built_in else NO_GOAL


def taken(goals: Iterable[Goal], conversion_key: str, event_names: Iterable[str]) -> str | None:
    """The first of these names that another goal has; None when the goal of this key may have them all.

    Payments and placed orders may share names: the one counts what servers send, the other what browsers do.
    """
    shared = {PAYMENT, ORDER}
    others = [
        goal
        for goal in goals
        if goal.conversion_key != conversion_key and {goal.conversion_key, conversion_key} != shared
    ]
    return next((name for name in event_names if any(name in goal.event_names for goal in others)), None)


def _changed(goal: Goal, row: GoalRow | None) -> Goal:
    if row is None:
        return goal
    return replace(goal, event_names=tuple(row.source_event_names), display_name=row.display_name)
