"""Reports and schedules as they are answered."""

from __future__ import annotations

from typing import Any

from api import context
from api.models import Report, ReportSchedule

REPORT = (
    "profile_id",
    "template",
    "date_from",
    "date_to",
    "locale",
    "format",
    "status",
    "failure_reason",
    "snapshot_id",
    "batch_id",
    "created_at",
    "ready_at",
    "sent_at",
)
SCHEDULE = (
    "profile_id",
    "template",
    "cadence",
    "weekday",
    "day_of_month",
    "hour",
    "recipients",
    "locale",
    "format",
    "enabled",
    "next_run_at",
    "last_run_at",
    "last_status",
)


def report_row(report: Report, profile_name: str) -> dict[str, Any]:
    """A report; its address is the API's own, so only members can open it."""
    place = f"/api/v1/reports/{report.id}/file"
    return {
        "report_id": report.id,
        "profile_name": profile_name,
        "recipients_count": len(report.recipients),
        "file_url": f"{context.settings().base_url}{place}" if report.file_name else None,
        **{name: getattr(report, name) for name in REPORT},
    }


def schedule_row(schedule: ReportSchedule) -> dict[str, Any]:
    """A schedule."""
    return {"schedule_id": schedule.id, **{name: getattr(schedule, name) for name in SCHEDULE}}
