"""W/reports/schedules/bulk, and when schedules run: by the profile's clock, and once however many runs were missed."""

from __future__ import annotations

import sys
from datetime import UTC, date, datetime
from typing import Any

import pytest
import sqlalchemy as sa
import time_machine
from structlog.testing import capture_logs

from api import db, mail_delivery
from api.models import Profile, Report, ReportSchedule
from api.reports import making, scheduling
from api.roles import Role
from api.windows import DateRange
from tests.api.v1.reports.conftest import Ask, change
from tests.api.v1.reports.test_reports import code, hub
from tests.factories.mailbox import Mailbox
from touchledger.settings import Settings

WEEKLY = {"template": "performance_summary", "cadence": "weekly", "recipients": ["a@example.com"], "format": "csv"}


def apply(ask: Ask, *profiles: Profile, **patch: Any) -> dict[str, Any]:
    sent = {"profile_ids": [one.id for one in profiles], "patch": patch}
    answer = ask("POST", "/reports/schedules/bulk", json=sent)
    assert answer.status_code == 200, answer.text
    return dict(answer.get_json()["data"])


def refused(ask: Ask, profile: Profile, **patch: Any) -> tuple[int, str]:
    return code(ask("POST", "/reports/schedules/bulk", json={"profile_ids": [profile.id], "patch": patch}))


def counts(data: dict[str, Any]) -> tuple[int, int, int]:
    return data["created"], data["updated"], data["unchanged"]


def reports(settings: Settings) -> list[Report]:
    with db.transaction(settings.operational_url) as session:
        return list(session.scalars(sa.select(Report).order_by(Report.created_at)))


def move(ask: Ask, profile: Profile, zone: str, at: datetime) -> None:
    with time_machine.travel(at, tick=False):
        answer = ask("PATCH", f"/api/v1/profiles/{profile.id}", role=Role.ADMIN, json={"timezone": zone})
        assert answer.status_code == 200, answer.text


def run_at(settings: Settings, at: datetime) -> list[tuple[date, date]]:
    """The windows that the schedules order at an instant."""
    before = {one.id for one in reports(settings)}
    with time_machine.travel(at, tick=False):
        scheduling.run_due(settings)
    return [(one.date_from, one.date_to) for one in reports(settings) if one.id not in before]


def schedule(cadence: str, hour: int, day: int) -> ReportSchedule:
    weekday, day_of_month = (day, None) if cadence == "weekly" else (None, day)
    return ReportSchedule(id="s", cadence=cadence, hour=hour, weekday=weekday, day_of_month=day_of_month)


def test_a_schedule_is_made_once_and_then_changed_by_what_is_sent(ask: Ask, profile: Profile, second: Profile) -> None:
    made = apply(ask, profile, second, **WEEKLY)
    assert counts(made) == (2, 0, 0)
    first = made["schedules"][0]
    assert (first["weekday"], first["day_of_month"], first["hour"], first["enabled"]) == (1, None, 8, True)
    assert counts(apply(ask, profile, second, **WEEKLY)) == (0, 0, 2)
    changed = apply(ask, profile, template="performance_summary", cadence="monthly", hour=6)
    assert counts(changed) == (0, 1, 0)
    (row,) = changed["schedules"]
    assert (row["schedule_id"], row["weekday"], row["day_of_month"]) == (first["schedule_id"], None, 1)
    assert (row["recipients"], row["format"]) == (["a@example.com"], "csv")
    off = apply(ask, profile, template="performance_summary", enabled=False)["schedules"][0]
    assert (off["enabled"], off["next_run_at"]) == (False, None)
    assert apply(ask, profile, template="performance_summary", enabled=True)["schedules"][0]["next_run_at"]
    assert len(hub(ask)["schedules"]) == 2


def test_a_profile_of_the_query_is_the_only_one_that_is_reached(ask: Ask, profile: Profile, second: Profile) -> None:
    window = {"template": "pacing", "date_from": "2026-03-01", "date_to": "2026-03-05", "format": "csv"}
    for path, more in (("schedules/bulk", {"patch": WEEKLY}), ("bulk-generate", window)):
        for both in ([profile.id], [second.id, profile.id]):
            answer = ask("POST", f"/reports/{path}?profile_id={second.id}", json={"profile_ids": both, **more})
            assert code(answer) == (404, "not_found")
    assert (hub(ask)["reports"], hub(ask)["schedules"]) == ([], [])


def test_what_a_schedule_cannot_be_is_refused(ask: Ask, settings: Settings, profile: Profile) -> None:
    new = {"template": "pacing"}
    assert refused(ask, profile, **new, cadence="weekly") == (422, "validation_error")
    assert refused(ask, profile, **new, recipients=[]) == (422, "validation_error")
    assert refused(ask, profile, **{**WEEKLY, "day_of_month": 3}) == (422, "validation_error")
    assert refused(ask, profile, **{**WEEKLY, "weekday": 8}) == (422, "validation_error")
    assert refused(ask, profile, **{**WEEKLY, "hour": True}) == (422, "validation_error")
    assert refused(ask, profile, **{**WEEKLY, "hour": 24}) == (422, "validation_error")
    change(settings, profile, plan="starter")
    assert refused(ask, profile, **WEEKLY) == (402, "plan_upgrade_required")
    change(settings, profile, plan="growth", acquisition_source="oauth")
    assert refused(ask, profile, **WEEKLY) == (403, "app_provisioned_workspace")
    assert hub(ask)["schedules"] == []


def test_a_schedule_of_a_kind_of_file_that_is_not_made_here_is_refused(
    ask: Ask, profile: Profile, second: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply(ask, profile, **WEEKLY)
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    # who names none means pdf, of a new one; each of its runs failed
    new = {name: value for name, value in WEEKLY.items() if name != "format"}
    for kind in ({}, {"format": "pdf"}):
        assert refused(ask, second, **new, **kind) == (501, "not_implemented")
    assert refused(ask, profile, template=WEEKLY["template"], format="pdf") == (501, "not_implemented")
    assert counts(apply(ask, profile, **new, hour=7)) == (0, 1, 0)
    assert [one["profile_id"] for one in hub(ask)["schedules"]] == [profile.id]


@pytest.mark.parametrize(
    ("after", "runs"),
    [
        # Mondays at 02:00 in New York: -5 h, and from 2026-03-08 -4 h
        ((2026, 3, 1), ["2026-03-02T07", "2026-03-09T06"]),
    ],
)
def test_runs_follow_the_clock_of_the_profile(after: tuple[int, int, int], runs: list[str]) -> None:
    at, found = datetime(*after, tzinfo=UTC), []
    for _ in runs:
        at = scheduling.next_run(schedule("weekly", 2, 1), "America/New_York", at)
        found.append(f"{at:%Y-%m-%dT%H}")
    assert found == runs


def test_an_hour_that_is_skipped_or_comes_twice_runs_once() -> None:
    sunday = schedule("weekly", 2, 7)
    at = scheduling.next_run(sunday, "America/New_York", datetime(2026, 3, 7, tzinfo=UTC))
    assert at == datetime(2026, 3, 8, 7, tzinfo=UTC)
    one = schedule("weekly", 1, 7)
    first = scheduling.next_run(one, "America/New_York", datetime(2026, 10, 31, 12, tzinfo=UTC))
    assert first == datetime(2026, 11, 1, 5, tzinfo=UTC)
    assert scheduling.next_run(one, "America/New_York", first) == datetime(2026, 11, 8, 6, tzinfo=UTC)


def test_a_run_tells_the_week_or_the_month_before_its_own_day() -> None:
    at = datetime(2026, 3, 2, 3, tzinfo=UTC)  # still March 1 in New York
    weekly, monthly = schedule("weekly", 22, 7), schedule("monthly", 22, 1)
    assert scheduling.window_at(weekly, "America/New_York", at) == DateRange(date(2026, 2, 22), date(2026, 2, 28))
    assert scheduling.window_at(monthly, "America/New_York", at) == DateRange(date(2026, 2, 1), date(2026, 2, 28))


def test_a_run_whose_hour_is_skipped_into_the_next_day_tells_what_it_planned(
    ask: Ask, settings: Settings, profile: Profile
) -> None:
    # Saturday, 2027-03-27, ends at 23:00 in Nuuk: the run is at midnight, and told the seven days before the Sunday
    saturday, at, found = schedule("weekly", 23, 6), datetime(2027, 3, 21, 1, tzinfo=UTC), []
    for _ in range(3):
        found.append((f"{at:%m-%dT%H}", f"{scheduling.window_at(saturday, 'America/Nuuk', at).date_to:%m-%d}"))
        at = scheduling.next_run(saturday, "America/Nuuk", at)
    assert found == [("03-21T01", "03-19"), ("03-28T01", "03-26"), ("04-04T00", "04-02")]
    move(ask, profile, "America/Nuuk", datetime(2027, 3, 27, tzinfo=UTC))
    with time_machine.travel(datetime(2027, 3, 27, tzinfo=UTC), tick=False):
        apply(ask, profile, **{**WEEKLY, "weekday": 6, "hour": 23})
    move(ask, profile, "UTC", datetime(2027, 3, 27, 1, tzinfo=UTC))
    assert hub(ask)["schedules"][0]["next_run_at"].startswith("2027-03-27T23:00")


def test_missed_runs_run_once_and_tell_the_last_of_them(
    ask: Ask, settings: Settings, profile: Profile, mailbox: Mailbox
) -> None:
    with time_machine.travel(datetime(2026, 2, 1, tzinfo=UTC), tick=False):
        planned = apply(ask, profile, **WEEKLY)["schedules"][0]["next_run_at"]
        assert planned.startswith("2026-02-02T13:00")
        assert scheduling.run_due(settings) == 0
    # four Mondays later; the golden figures are of 28 February to 2 March
    with time_machine.travel(datetime(2026, 3, 4, 9, tzinfo=UTC), tick=False):
        assert [scheduling.run_due(settings), scheduling.run_due(settings)] == [1, 0]
        (report,) = reports(settings)
        assert (report.date_from, report.date_to) == (date(2026, 2, 23), date(2026, 3, 1))
        assert making.make_due(settings) == 1
        assert mail_delivery.deliver(settings) == 1
        making.settle_sending(settings)
        (row,) = hub(ask)["schedules"]
        assert row["next_run_at"].startswith("2026-03-09T12:00")
        assert row["last_run_at"].startswith("2026-03-04T09:00")
        assert row["last_status"] == "sent"
    assert mailbox.recipients == ["a@example.com"]


def test_another_zone_tells_no_month_twice_and_runs_by_its_own_clock(
    ask: Ask, settings: Settings, profile: Profile
) -> None:
    move(ask, profile, "Asia/Tokyo", datetime(2026, 2, 20, tzinfo=UTC))
    with time_machine.travel(datetime(2026, 2, 20, tzinfo=UTC), tick=False):
        apply(ask, profile, **{**WEEKLY, "cadence": "monthly"})
    assert run_at(settings, datetime(2026, 2, 28, 23, tzinfo=UTC)) == [(date(2026, 2, 1), date(2026, 2, 28))]
    # still February in Los Angeles; what is planned is April 1 all the same, which tells March
    move(ask, profile, "America/Los_Angeles", datetime(2026, 3, 1, 1, tzinfo=UTC))
    assert hub(ask)["schedules"][0]["next_run_at"].startswith("2026-04-01T15:00")
    assert run_at(settings, datetime(2026, 4, 1, 14, 59, tzinfo=UTC)) == []
    assert run_at(settings, datetime(2026, 4, 1, 15, tzinfo=UTC)) == [(date(2026, 3, 1), date(2026, 3, 31))]


def test_a_zone_whose_hour_has_passed_already_loses_no_week(ask: Ask, settings: Settings, profile: Profile) -> None:
    with time_machine.travel(datetime(2026, 2, 25, tzinfo=UTC), tick=False):
        apply(ask, profile, **WEEKLY)
        off = apply(ask, profile, **{**WEEKLY, "template": "pacing", "enabled": False})["schedules"][0]
    # Monday, one in the morning in New York and three in the afternoon in Tokyo
    moved = datetime(2026, 3, 2, 6, tzinfo=UTC)
    move(ask, profile, "Asia/Tokyo", moved)
    assert run_at(settings, moved) == [(date(2026, 2, 23), date(2026, 3, 1))]
    planned = {row["schedule_id"]: row["next_run_at"] for row in hub(ask)["schedules"]}
    assert planned.pop(off["schedule_id"]) is None
    assert next(iter(planned.values())).startswith("2026-03-08T23:00")


def test_a_run_with_nothing_to_tell_or_beyond_the_plan_is_skipped(
    ask: Ask, settings: Settings, profile: Profile
) -> None:
    with time_machine.travel(datetime(2026, 1, 1, tzinfo=UTC), tick=False):
        apply(ask, profile, **WEEKLY)
    with time_machine.travel(datetime(2026, 1, 6, tzinfo=UTC), tick=False):
        assert scheduling.run_due(settings) == 0
        assert hub(ask)["schedules"][0]["last_status"] == "skipped"
    change(settings, profile, plan="starter")
    with time_machine.travel(datetime(2026, 3, 4, tzinfo=UTC), tick=False):
        assert scheduling.run_due(settings) == 0
    assert reports(settings) == []


def test_a_schedule_that_cannot_be_run_holds_up_no_other_and_is_tried_again(
    ask: Ask, settings: Settings, profile: Profile, second: Profile
) -> None:
    with time_machine.travel(datetime(2026, 2, 25, tzinfo=UTC), tick=False):
        apply(ask, profile, second, **WEEKLY)
    with db.transaction(settings.operational_url) as session:
        session.get_one(Profile, second.id).timezone = "Nowhere/Nothing"
    with time_machine.travel(datetime(2026, 3, 2, 23, tzinfo=UTC), tick=False):
        with capture_logs() as told:
            assert scheduling.run_due(settings) == 1
        (of,) = [one["of"] for one in told if one["event"] == "chore_failed"]
        status = {row["schedule_id"]: row["last_status"] for row in hub(ask)["schedules"]}
        assert (status.pop(of), list(status.values())) == (None, ["queued"])
        with db.transaction(settings.operational_url) as session:
            session.get_one(Profile, second.id).timezone = "UTC"
        assert scheduling.run_due(settings) == 0
        assert {row["schedule_id"]: row["last_status"] for row in hub(ask)["schedules"]}[of] == "skipped"


@pytest.mark.parametrize(("cadence", "planned"), [("weekly", (2026, 3, 9)), ("monthly", (2026, 4, 1))])
def test_a_run_that_was_planned_by_a_clock_that_was_set_back_is_planned_anew(
    ask: Ask, settings: Settings, profile: Profile, cadence: str, planned: tuple[int, int, int]
) -> None:
    # its reports had stopped until the clock had come to where it had been
    at = datetime(2026, 3, 5, 12, tzinfo=UTC)
    with time_machine.travel(at, tick=False):
        apply(ask, profile, **{**WEEKLY, "cadence": cadence})
    run_at(settings, datetime(2027, 3, 5, 12, tzinfo=UTC))
    for _ in range(2):
        assert run_at(settings, at) == []
        with db.transaction(settings.operational_url) as session:
            (found,) = session.scalars(sa.select(ReportSchedule))
            assert found.next_run_at is not None and found.next_run_at.timetuple()[:3] == planned


def test_an_archived_profile_runs_no_schedules(ask: Ask, settings: Settings, profile: Profile) -> None:
    with time_machine.travel(datetime(2026, 2, 25, tzinfo=UTC), tick=False):
        apply(ask, profile, **WEEKLY)
    with db.transaction(settings.operational_url) as session:
        session.get_one(Profile, profile.id).archived_at = db.now()
    with time_machine.travel(datetime(2026, 3, 4, tzinfo=UTC), tick=False):
        assert scheduling.run_due(settings) == 0
