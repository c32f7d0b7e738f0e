"""One schedule per profile and template: made, or changed, by the same patch."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import db, errors
from api.models import Profile, ReportSchedule
from api.reports.scheduling import next_run

CHANGEABLE = ("cadence", "weekday", "day_of_month", "hour", "recipients", "locale", "format", "enabled")
TIMED = ("cadence", "weekday", "day_of_month", "hour", "enabled")
HOUR = 8


def apply(session: Session, profile: Profile, patch: dict[str, Any], *, locale: str) -> tuple[str, ReportSchedule]:
    """Create or patch the profile's schedule of the template: (created, updated or unchanged; the schedule).

    422 validation_error where a new one lacks its cadence or recipients, or a day is of the other cadence.
    """
    same = (ReportSchedule.profile_id == profile.id, ReportSchedule.template == patch["template"])
    found = session.scalars(sa.select(ReportSchedule).where(*same).with_for_update()).one_or_none()
    schedule = found or _new(session, profile, patch, locale)
    before = _values(schedule)
    for name in CHANGEABLE:
        if name in patch:
            setattr(schedule, name, patch[name])
    _settle_day(schedule, patch)
    after = _values(schedule)
    if found is not None and before == after:
        return "unchanged", schedule
    if not schedule.enabled:
        schedule.next_run_at = None
    elif found is None or any(before[name] != after[name] for name in TIMED):
        schedule.next_run_at = next_run(schedule, profile.timezone, db.now())
    return "updated" if found else "created", schedule


def _new(session: Session, profile: Profile, patch: dict[str, Any], locale: str) -> ReportSchedule:
    for name in ("cadence", "recipients"):
        if name not in patch:
            raise errors.VALIDATION_ERROR(f"patch.{name}: is needed, since a profile has no such schedule yet")
    made = ReportSchedule(
        id=db.new_id(),
        workspace_id=profile.workspace_id,
        profile_id=profile.id,
        template=patch["template"],
        hour=HOUR,
        locale=locale,
        format="pdf",
        enabled=True,
        recipients=[],
        cadence=patch["cadence"],
        created_at=db.now(),
    )
    session.add(made)
    return made


def _settle_day(schedule: ReportSchedule, patch: dict[str, Any]) -> None:
    own, other = ("weekday", "day_of_month") if schedule.cadence == "weekly" else ("day_of_month", "weekday")
    if other in patch:
        raise errors.VALIDATION_ERROR(f"patch.{other}: is not for a {schedule.cadence} schedule")
    setattr(schedule, other, None)
    if getattr(schedule, own) is None:
        setattr(schedule, own, 1)


def _values(schedule: ReportSchedule) -> dict[str, Any]:
    return {name: getattr(schedule, name) for name in CHANGEABLE}
