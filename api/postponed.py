"""What was put off, and when it is due: also where the clock was set back since, and its time is far ahead."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from api.db import UtcDateTime

# clocks of machines differ by less
SLACK = timedelta(minutes=10)


def is_due(at: datetime, row: Any, waits: Sequence[timedelta], made: Any = None) -> sa.ColumnElement[bool]:
    """Whether the row of a table with `created_at`, `attempts` and `next_attempt_at` is to be tried at this instant.

    `waits` are the longest ones after each attempt; `made` is the column that stands for `created_at` where there is
    none. What would wait longer than that, or was made in the future, was put off by a clock that has been set back
    since, and is due.
    """
    made = row.created_at if made is None else made
    ends = [(row.attempts == number, _instant(at + wait + SLACK)) for number, wait in enumerate(waits, start=1)]
    return sa.or_(row.next_attempt_at <= at, row.next_attempt_at > sa.case(*ends, else_=None), made > at + SLACK)


def is_over(at: datetime, begun: Any, most: timedelta) -> sa.ColumnElement[bool]:
    """Whether what was begun then has taken longer than `most`, or was begun under a clock that was set back since."""
    return sa.or_(begun < at - most, begun > at + SLACK)


def _instant(at: datetime) -> sa.ColumnElement[datetime]:
    return sa.literal(at, UtcDateTime())
