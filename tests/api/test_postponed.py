"""Promise: what was put off leaves within the longest wait that is promised of it, whatever the clock does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from api import db
from api.models import OutgoingMail
from api.postponed import SLACK, is_due

WAITS = (timedelta(minutes=1), timedelta(hours=2))
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)


def put_off(url: str, *, attempts: int, until: datetime) -> None:
    with db.transaction(url) as session:
        told = {"kind": "test", "to_address": "ada@example.com", "subject": "Hello"}
        session.add(OutgoingMail(**told, created_at=START, attempts=attempts, next_attempt_at=until))


def due(url: str, at: datetime) -> bool:
    with db.transaction(url) as session:
        return session.scalar(sa.select(sa.func.count()).where(is_due(at, OutgoingMail, WAITS))) == 1


@pytest.mark.parametrize(
    ("attempts", "until", "not_at", "at"),
    [
        (0, START, [START - MINUTE], [START, START + DAY, START - SLACK - MINUTE, START - DAY]),
        # told seldom: put off before any attempt
        (0, START + DAY, [START, START + DAY - MINUTE], [START + DAY, START - DAY]),
        (1, START + MINUTE, [START, START - SLACK], [START + MINUTE, START - SLACK - MINUTE]),
        (
            2,
            START + DAY + WAITS[1],
            [START + DAY, START + DAY - SLACK],
            [START + DAY + WAITS[1], START + DAY - 2 * SLACK],
        ),
        (3, START + DAY, [START], [START + DAY]),
    ],
)
def test_what_was_put_off_by_a_clock_that_was_set_back_is_due(
    database_url: str, attempts: int, until: datetime, not_at: Sequence[datetime], at: Sequence[datetime]
) -> None:
    # mails and webhooks waited until the clock had come to where it had been
    put_off(database_url, attempts=attempts, until=until)
    assert [due(database_url, one) for one in not_at] == [False] * len(not_at)
    assert [due(database_url, one) for one in at] == [True] * len(at)
