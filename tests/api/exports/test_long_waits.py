"""A platform may ask for any wait; a conversion is tried again within a day."""

from __future__ import annotations

from datetime import timedelta

import pytest

from api import db
from tests.api.exports.conftest import Exporting
from tests.api.exports.test_sending import DOWN, queue, row


@pytest.mark.parametrize("wait", ["999999999999", "9" * 400, "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_a_wait_beyond_all_reason_holds_a_conversion_for_a_day(exporting: Exporting, wait: str) -> None:
    # such a moment cannot be written down: the whole batch stayed unsettled, what was sent of it too
    queue(exporting, "one")
    exporting.sandbox.plan({**DOWN, "status": 429, "headers": {"Retry-After": wait}})
    assert exporting.send() == 1
    found = row(exporting)
    assert (found.status, found.reason) == ("queued", "throttled")
    assert found.next_attempt_at is not None and found.next_attempt_at - db.now() <= timedelta(days=1)
