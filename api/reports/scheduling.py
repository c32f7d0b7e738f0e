"""When scheduled reports run: by the profile's own clock, and once for any number of runs that were missed."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from datetime import time as clock
from zoneinfo import ZoneInfo

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import db, mail, plans
from api.models import Profile, Report, ReportSchedule, Workspace
from api.one_by_one import one_by_one
from api.reports import figures
from api.served import profile_facts
from api.snapshot import snapshots
from api.windows import DateRange
from touchledger.settings import Settings

LONGEST_GAP_DAYS = 62
# nothing is planned further ahead, an hour that the clock skips and a change of zone included
FURTHEST = {"weekly": timedelta(days=9), "monthly": timedelta(days=33)}


def next_run(schedule: ReportSchedule, zone: str, after: datetime) -> datetime:
    """The first instant after `after` at which the schedule is due.

    An hour that the clock skips is the hour after it; of an hour that comes twice the first counts.
    """
    local = ZoneInfo(zone)
    day = after.astimezone(local).date()
    for _ in range(LONGEST_GAP_DAYS + 1):
        if _is_day(schedule, day):
            at = _instant(schedule, day, local)
            if at > after:
                return at
        day += timedelta(days=1)
    raise ValueError(f"schedule {schedule.id} names no day")


def move_to_zone(session: Session, profile_id: str, before: str, after: str) -> None:
    """Plan the next runs of a profile's schedules by its new clock.

    Each keeps its day, and with it what it tells, so no period is told twice or left out; a run whose hour has passed
    by the new clock is due at once.
    """
    planned = sa.select(ReportSchedule).where(
        ReportSchedule.profile_id == profile_id, ReportSchedule.next_run_at.is_not(None)
    )
    for schedule in session.scalars(planned.order_by(ReportSchedule.id).with_for_update()):
        if schedule.next_run_at is not None:
            day = _planned_day(schedule, ZoneInfo(before), schedule.next_run_at)
            schedule.next_run_at = _instant(schedule, day, ZoneInfo(after))


def window_at(schedule: ReportSchedule, zone: str, at: datetime) -> DateRange:
    """What a run at `at` tells: the seven days before its own, or the calendar month before."""
    day = _planned_day(schedule, ZoneInfo(zone), at)
    last = day - timedelta(days=1) if schedule.cadence == "weekly" else day.replace(day=1) - timedelta(days=1)
    return DateRange(last - timedelta(days=6) if schedule.cadence == "weekly" else last.replace(day=1), last)


def run_due(settings: Settings) -> int:
    """Order the reports of schedules that are due; the number of reports ordered."""
    at = db.now()
    _plan_anew(settings, at)
    due = sa.and_(ReportSchedule.enabled.is_(True), ReportSchedule.next_run_at <= at)
    live = sa.and_(Profile.archived_at.is_(None), Workspace.archived_at.is_(None))
    chosen = (
        sa.select(ReportSchedule, Profile)
        .join(Profile, Profile.id == ReportSchedule.profile_id)
        .join(Workspace, Workspace.id == ReportSchedule.workspace_id)
        .where(due, live)
        .order_by(ReportSchedule.next_run_at, ReportSchedule.id)
    )
    with db.transaction(settings.operational_url, durable=False) as session:
        found = {schedule.id: (schedule, profile) for schedule, profile in session.execute(chosen)}
    return one_by_one("run_schedules", found, lambda one: _run(settings, *one, at))


def _plan_anew(settings: Settings, at: datetime) -> None:
    """Plan the runs that are too far ahead: by a clock that has been set back since."""
    far = [
        sa.and_(ReportSchedule.cadence == cadence, ReportSchedule.next_run_at > at + most)
        for cadence, most in FURTHEST.items()
    ]
    with db.transaction(settings.operational_url, durable=False) as session:
        found = {one.id: one for one in session.scalars(sa.select(ReportSchedule).where(sa.or_(*far)))}

    def plan(seen: ReportSchedule) -> bool:
        with db.transaction(settings.operational_url) as session:
            zone = session.get_one(Profile, seen.profile_id, with_for_update={"read": True}).timezone
            schedule = session.get(ReportSchedule, seen.id, with_for_update=True)
            is_as_seen = schedule is not None and schedule.next_run_at == seen.next_run_at
            if schedule is not None and is_as_seen:
                schedule.next_run_at = next_run(schedule, zone, at)
            return is_as_seen

    one_by_one("run_schedules", found, plan)


def has_data(settings: Settings, profile_ids: list[str], window: DateRange) -> dict[str, bool]:
    """Of each profile, whether the published snapshot has anything to tell of the window."""
    with snapshots(settings).reader() as reader:
        if reader is None:
            return dict.fromkeys(profile_ids, False)
        facts = {one: profile_facts(reader, one) for one in profile_ids}
        return {one: known is not None and figures.has_any(reader, known, window) for one, known in facts.items()}


def _run(settings: Settings, seen: ReportSchedule, profile: Profile, at: datetime) -> bool:
    planned, following = _last_missed(seen, profile.timezone, at)
    window = window_at(seen, profile.timezone, planned)
    tells = has_data(settings, [profile.id], window)[profile.id]
    with db.transaction(settings.operational_url) as session:
        workspace = session.get_one(Workspace, seen.workspace_id)
        # nobody archives it or moves it to another zone meanwhile, who takes its row before its schedules too
        zone = session.get_one(Profile, profile.id, with_for_update={"read": True}).timezone
        schedule = session.get(ReportSchedule, seen.id, with_for_update=True)
        is_as_seen = schedule is not None and schedule.enabled and schedule.next_run_at == seen.next_run_at
        if schedule is None or not is_as_seen or zone != profile.timezone:
            # changed meanwhile, or run by another process
            return False
        schedule.last_run_at, schedule.next_run_at = at, following
        if not tells or not _plan_includes(settings, workspace):
            schedule.last_status = "skipped"
            return False
        schedule.last_status = "queued"
        may_send = mail.is_configured(settings) and not workspace.is_provisioned
        session.add(ordered(schedule, window, is_sent=bool(schedule.recipients) and may_send))
    return True


def ordered(schedule: ReportSchedule, window: DateRange, *, is_sent: bool) -> Report:
    """The report that a schedule orders."""
    return Report(
        workspace_id=schedule.workspace_id,
        profile_id=schedule.profile_id,
        template=schedule.template,
        date_from=window.date_from,
        date_to=window.date_to,
        locale=schedule.locale,
        format=schedule.format,
        is_sent=is_sent,
        recipients=schedule.recipients,
        schedule_id=schedule.id,
    )


def _last_missed(schedule: ReportSchedule, zone: str, at: datetime) -> tuple[datetime, datetime]:
    planned = schedule.next_run_at or at
    while (following := next_run(schedule, zone, planned)) <= at:
        planned = following
    return planned, following


def _instant(schedule: ReportSchedule, day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, clock(schedule.hour), zone).astimezone(UTC)


def _planned_day(schedule: ReportSchedule, zone: ZoneInfo, at: datetime) -> date:
    """The day that a run at `at` was planned for: the one before, where clocks skip its last hour and it is then."""
    day = at.astimezone(zone).date()
    before = day - timedelta(days=1)
    return before if _instant(schedule, before, zone) == at else day


def _plan_includes(settings: Settings, workspace: Workspace) -> bool:
    return settings.plan_limits == "off" or plans.ALLOWANCES["bulk_reports"][workspace.plan] is None


def _is_day(schedule: ReportSchedule, day: date) -> bool:
    if schedule.cadence == "weekly":
        return day.isoweekday() == schedule.weekday
    return day.day == schedule.day_of_month
