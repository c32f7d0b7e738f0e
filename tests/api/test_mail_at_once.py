"""Two processes with one message: what one hears about it changes nothing of what the other hands over."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from api import mail_delivery
from tests.api.test_mail import make_due, put, rows, sending_to
from tests.factories.mailbox import mail_server
from tests.fixtures.waiting import AT_MOST


@pytest.mark.parametrize("refusal", ["450 4.7.1 Try later", "550 5.1.1 No such user"])
def test_a_recipient_refused_to_one_sender_is_not_written_to_again_by_the_other(
    home: Path, sqlite_url: str, refusal: str
) -> None:
    # the one put off what the other was just handing over, so that it left once more, or called it failed
    asked, taken, refused = threading.Event(), threading.Event(), threading.Event()
    with mail_server() as first, mail_server() as second, ThreadPoolExecutor(2) as pool:
        settings, other = sending_to(first.port, home), sending_to(second.port, home)
        put(settings)
        handed_over = second.handle_DATA

        async def refuse(*_: Any) -> str:
            asked.set()
            assert taken.wait(AT_MOST)
            return refusal

        async def take_slowly(*told: Any) -> str:
            taken.set()
            assert refused.wait(AT_MOST)
            return await handed_over(*told)

        setattr(first, "handle_RCPT", refuse)  # noqa: B010 - mypy takes no other
        setattr(second, "handle_DATA", take_slowly)  # noqa: B010
        slow = pool.submit(mail_delivery.deliver, settings)
        assert asked.wait(AT_MOST)
        sent = pool.submit(mail_delivery.deliver, other)
        assert slow.result(AT_MOST) == 0
        refused.set()
        assert sent.result(AT_MOST) == 1
        make_due(settings)
        assert mail_delivery.deliver(other) == 0
    assert len(second.arrived) == 1
    (row,) = rows(settings)
    assert (row.status, row.attempts, row.note) == ("sent", 0, None)
