"""Two workers and one report: whoever was given up for gone changes nothing of what another does by then."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

import pytest
import time_machine

from api import db
from api.models import Report
from api.reports import making
from api.snapshot import snapshots
from tests.api.reports.conftest import GOLDEN, PROFILE
from tests.factories import accounts, served
from touchledger.settings import Settings


@pytest.fixture
def report(settings: Settings) -> Report:
    """A report that is due."""
    profile = accounts.profile(settings.operational_url, profile_id=PROFILE)
    days = {"date_from": date(2026, 3, 1), "date_to": date(2026, 3, 2)}
    with db.transaction(settings.operational_url) as session:
        made = Report(workspace_id=profile.workspace_id, profile_id=profile.id, **days)
        made.template, made.locale, made.format, made.recipients = "performance_summary", "en", "csv", []
        session.add(made)
    return made


@pytest.mark.parametrize(
    "end",
    [making._postpone, lambda settings, mine: making._fail(settings, mine, "no_data")],
    ids=["postponed", "failed"],
)
def test_a_worker_that_took_too_long_does_not_end_what_another_began(
    settings: Settings, report: Report, end: Callable[[Settings, Report], None]
) -> None:
    slow = making._claim(settings, report.id)
    assert slow is not None
    with time_machine.travel(db.now() + making.ABANDONED_AFTER + timedelta(seconds=1), tick=False):
        making._requeue_abandoned(settings)
        other = making._claim(settings, report.id)
        assert other is not None
        end(settings, slow.report)
        with db.transaction(settings.operational_url) as session:
            now = session.get_one(Report, report.id)
            assert (now.status, now.attempts, now.begun_at) == ("rendering", 1, other.report.begun_at)
        end(settings, other.report)
        with db.transaction(settings.operational_url) as session:
            assert session.get_one(Report, report.id).status in ("queued", "failed")


def test_a_worker_that_took_too_long_does_not_write_over_the_file_of_another(
    settings: Settings, report: Report
) -> None:
    # the report then told figures of another snapshot than the one that it names, and than the one that was mailed
    slow = making._claim(settings, report.id)
    assert slow is not None
    tables = served.from_csv(GOLDEN)
    with time_machine.travel(db.now() + making.ABANDONED_AFTER + timedelta(seconds=1), tick=False):
        making._requeue_abandoned(settings)
        other = making._claim(settings, report.id)
        assert other is not None
        served.publish(settings.published, tables)
        assert making._make(settings, other)
        (made,) = making.folder(settings).iterdir()
        content = made.read_bytes()
        for row in tables["entities"]:
            row["name"] = "Renamed"
        served.publish(settings.published, tables)
        assert not making._make(settings, slow)
    snapshots(settings).close()
    (left,) = making.folder(settings).iterdir()
    with db.transaction(settings.operational_url) as session:
        assert session.get_one(Report, report.id).file_name == left.name
    assert left.read_bytes() == content


@pytest.mark.parametrize("is_begun", [False, True], ids=["postponed", "killed while it was rendered"])
def test_a_report_that_was_put_off_is_made_though_the_clock_was_set_back(
    settings: Settings, report: Report, is_begun: bool
) -> None:
    # it waited until the clock had come to where it had been
    at = db.now()
    with time_machine.travel(at + timedelta(days=365), tick=False):
        job = making._claim(settings, report.id)
        assert job is not None
        if not is_begun:
            making._postpone(settings, job.report)
    for minutes in (0, 2):
        with time_machine.travel(at + timedelta(minutes=minutes), tick=False):
            making.make_due(settings)
    with db.transaction(settings.operational_url) as session:
        now = session.get_one(Report, report.id)
        assert (now.status, now.failure_reason) == ("failed", "no_data")
