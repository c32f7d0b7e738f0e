"""A platform may ask for any wait, and refuse the deployment itself; a conversion is tried again within a day."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine

from api import db
from tests.api.exports.conftest import Exporting
from tests.api.exports.test_sending import DOWN, queue, row
from tests.fixtures.statements import statements


@pytest.mark.parametrize("wait", ["999999999999", "9" * 400, "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_a_wait_beyond_all_reason_holds_a_conversion_for_a_day(exporting: Exporting, wait: str) -> None:
    # such a moment cannot be written down: the whole batch stayed unsettled, what was sent of it too
    queue(exporting, "one")
    exporting.sandbox.plan({**DOWN, "status": 429, "headers": {"Retry-After": wait}})
    assert exporting.send() == 1
    found = row(exporting)
    assert (found.status, found.reason) == ("queued", "throttled")
    assert found.next_attempt_at is not None and found.next_attempt_at - db.now() <= timedelta(days=1)


def test_what_is_refused_because_of_the_deployments_app_waits_for_it_to_be_mended(exporting: Exporting) -> None:
    # no event is to blame: each was asked for alone, and had failed for good
    queue(exporting, "one", "two", "three")
    unproven = {"code": "100", "message": "Invalid appsecret_proof provided in the API argument"}
    exporting.sandbox.plan({**DOWN, "kind": "code", "status": 400, **unproven})
    assert exporting.send() == 3
    assert {(one.status, one.reason, one.attempts) for one in exporting.rows()} == {("queued", "app_refused", 1)}
    assert exporting.sandbox.calls("/events") == 1


@pytest.mark.parametrize("fails", [False, True], ids=["matched", "tried"])
def test_a_conversion_that_was_put_off_leaves_though_the_clock_was_set_back(exporting: Exporting, fails: bool) -> None:
    # it waited until the clock had come to where it had been
    ahead = db.now() + timedelta(days=3)
    with time_machine.travel(ahead, tick=False):
        queue(exporting, "one", hours_ago=3 * 24 + 1)
        if fails:
            exporting.sandbox.plan({**DOWN, "times": 1})
            assert exporting.send() == 1
    with time_machine.travel(ahead - timedelta(days=3), tick=False):
        assert exporting.send() == 1
    assert row(exporting).status == "sent"


def test_a_conversion_that_is_told_of_tomorrow_waits_for_it_in_spite_of_the_clock(exporting: Exporting) -> None:
    # platforms refuse what has not happened yet
    at = db.now()
    with time_machine.travel(at + timedelta(days=3), tick=False):
        queue(exporting, "one", hours_ago=2 * 24)
    with time_machine.travel(at, tick=False):
        assert exporting.send() == 0
    with time_machine.travel(at + timedelta(days=1), tick=False):
        assert exporting.send() == 1


def test_a_look_for_what_is_due_does_not_read_what_was_sent(exporting: Exporting) -> None:
    # every two seconds, the rows of all time
    queue(exporting, "one")
    engine = db.engine_for(exporting.settings.operational_url, durable=False)
    with statements(engine) as run:
        assert exporting.send() == 1
    asked = next(one for one in run if "FROM export_rows" in one[0])
    with engine.connect() as connection:
        plan = connection.exec_driver_sql(f"explain query plan {asked[0]}", asked[1]).all()
    steps = [step.detail for step in plan if "export_rows" in step.detail]
    assert steps == ["SEARCH export_rows USING INDEX ix_export_rows_due (destination_id=? AND status=?)"]
