"""Promise: a chore that fails is tried again and again, and its log tells each change of how it fares once.

A worker that is told to end finishes what it is doing, and begins nothing more.
"""

from __future__ import annotations

import threading
from datetime import date
from pathlib import Path

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from api import db, mail
from api.models import CreativeAnalysis, OutgoingMail, Report, WebhookDelivery
from api.webhooks.emitting import emit_for_profile
from api.worker import Chore, chores, work
from tests.api.webhooks.conftest import subscribed
from tests.factories import accounts, exports, served
from tests.factories.mailbox import mail_server
from touchledger.settings import Settings


def test_figures_that_cannot_be_read_are_told_once_for_each_chore_and_without_a_traceback(settings: Settings) -> None:
    # a traceback of each of them every two seconds filled the log
    exports.destination(settings.operational_url, accounts.profile(settings.operational_url))
    settings.published.mkdir(parents=True, exist_ok=True)
    (settings.published / "current.json").write_text("{not json")
    todo = [chore for chore in chores(settings) if not chore.every]
    with capture_logs() as told:
        for at in (1.0, 2.0, 3.0):
            for chore in todo:
                chore.run(settings, at)
    waiting = [one["chore"] for one in told if one["event"] == "chore_waits"]
    assert waiting and sorted(waiting) == sorted(set(waiting))
    assert {one["event"] for one in told} == {"snapshot_not_served", "chore_waits"}
    assert not any("exc_info" in one for one in told)
    (settings.published / "current.json").unlink()
    with capture_logs() as told:
        for chore in todo:
            chore.run(settings, 4.0)
    assert sorted(one["chore"] for one in told if one["event"] == "chore_works_again") == sorted(waiting)


def test_another_fault_of_a_chore_is_told_anew_and_so_is_one_that_comes_back(settings: Settings) -> None:
    turns = iter(["0", "00", "x", "1", "0"])

    def do(_: Settings) -> float:
        return 1 / int(next(turns))

    chore = Chore("divide", do)
    with capture_logs() as told:
        for at in range(5):
            chore.run(settings, float(at))
    assert [(one["event"], type(one.get("exc_info")).__name__) for one in told] == [
        ("chore_failed", "ZeroDivisionError"),
        ("chore_failed", "ValueError"),
        ("chore_works_again", "NoneType"),
        ("chore_failed", "ZeroDivisionError"),
    ]


@pytest.mark.parametrize("every", [0.0, 2.0])
def test_a_chore_that_failed_is_tried_again_at_its_next_turn(settings: Settings, every: float) -> None:
    done: list[int] = []
    chore = Chore("fail", lambda _: done.append(1) or 1 / 0, every=every)
    for at in (10.0, 11.0, 12.0):
        chore.run(settings, at)
    assert len(done) == (2 if every else 3)


def test_a_worker_told_to_end_hands_over_no_further_message(home: Path, sqlite_url: str) -> None:
    # whoever ends it waits for 15 seconds: of many messages the one half handed over then was never sent again
    with mail_server() as mailbox:
        settings = Settings(home=home, smtp_host="127.0.0.1", smtp_port=mailbox.port, smtp_starttls="off")
        with db.transaction(sqlite_url) as session:
            for to in ("ada@example.com", "bob@example.com", "eve@example.com"):
                letter = {"kind": "test", "subject": "Hello", "text": "Come in"}
                mail.queue(session, workspace_id=None, to=to, settings=settings, **letter)
        (chore,) = [one for one in chores(settings, lambda: bool(mailbox.arrived)) if one.name == "deliver_mail"]
        for at in (1.0, 2.0):
            chore.run(settings, at)
    with db.transaction(sqlite_url) as session:
        found = session.scalars(sa.select(OutgoingMail.status).order_by(OutgoingMail.id))
        assert list(found) == ["sent", "queued", "queued"]


def test_a_worker_told_to_end_takes_hold_of_nothing_more(settings: Settings) -> None:
    profile = accounts.profile(settings.operational_url)
    facts = {"time_zone": "UTC", "currency": "USD", "currency_digits": 2, "settings_version": "v"}
    served.publish(settings.published, {"profiles": [{"profile_key": 1, "profile_id": profile.id, **facts}]})
    exports.row(settings.operational_url, exports.destination(settings.operational_url, profile))
    with db.transaction(settings.operational_url) as session:
        days = {"date_from": date(2026, 3, 1), "date_to": date(2026, 3, 2)}
        report = Report(workspace_id=profile.workspace_id, profile_id=profile.id, **days)
        report.template, report.locale, report.format, report.recipients = "pacing", "en", "csv", []
        about = {"ad_id": "a", "ad_external_id": "1", "creative_hash": "h", "account": "k", "creative": {}}
        session.add_all([report, CreativeAnalysis(profile_id=profile.id, **about)])

    def told() -> list[str]:
        (row,) = exports.rows(settings.operational_url)
        with db.transaction(settings.operational_url) as session:
            analysis, report = (session.scalars(sa.select(kind)).one() for kind in (CreativeAnalysis, Report))
            return [f"{one.status} {one.attempts}" for one in (row, analysis, report)]

    for chore in chores(settings, lambda: True):
        chore.run(settings, 0.0)
    assert told() == ["queued 0"] * 3
    for chore in chores(settings):
        chore.run(settings, 0.0)
    assert told() == ["skipped 1", "queued 1", "failed 0"]


class Told(threading.Event):
    """Set as soon as a round has begun."""

    looks = 0

    def is_set(self) -> bool:
        self.looks += 1
        return self.looks > 1


def test_a_worker_told_to_end_does_no_further_chore(settings: Settings) -> None:
    profile = accounts.profile(settings.operational_url)
    subscribed(settings, profile, url="https://127.0.0.1/hook")
    with db.transaction(settings.operational_url) as session:
        emit_for_profile(session, "report.ready", {"report_id": "r"}, profile.id)
    work(settings, Told())
    with db.transaction(settings.operational_url) as session:
        assert session.scalars(sa.select(WebhookDelivery.attempts)).one() == 0
