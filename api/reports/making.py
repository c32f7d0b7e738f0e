"""Reports that were ordered are rendered, kept as files and sent, outside any request."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa
import structlog
from sqlalchemy.orm import Session

from api import db, logos, mail
from api.models import Branding, OutgoingMail, Profile, Report, ReportSchedule, Workspace
from api.one_by_one import never
from api.postponed import is_due, is_over
from api.quoting import within_a_line
from api.reports import LEVELS, MIME, figures, pdf
from api.reports.document import Brand, Order, render
from api.reports.labels import Words
from api.reports.names import attachment_name
from api.served import profile_facts
from api.snapshot import snapshots
from api.webhooks.telling import report_ended
from api.windows import DateRange
from touchledger.settings import Settings

log = structlog.get_logger("api.reports")

WAITS = tuple(timedelta(minutes=minutes) for minutes in (1, 5))
# longer than any rendering takes: whoever began it is gone
ABANDONED_AFTER = timedelta(minutes=15)
# between batches the worker sends mail, and sees that it is told to end
AT_ONCE = 4
UNNAMED_FOR = timedelta(hours=1)
ENDED_MAIL = ("sent", "failed", "unconfirmed")


class NoData(Exception):
    """Nothing is published for the profile, or nothing happened in the window."""


@dataclass(frozen=True)
class _Job:
    """What is rendered: read in one short transaction, so that none is open meanwhile."""

    report: Report
    order: Order
    profile: Profile


def make_due(settings: Settings, ended: Callable[[], bool] = never) -> int:
    """Render the next few reports that are due; the number that got ready. Safe in several processes at once.

    None is begun once `ended` says so.
    """
    _requeue_abandoned(settings)
    made = 0
    for report_id in _due(settings):
        if ended():
            break
        job = _claim(settings, report_id)
        made += job is not None and _make(settings, job)
    return made


def settle_sending(settings: Settings) -> None:
    """A report is sent when each of its messages has ended, and at least one was taken."""
    with db.transaction(settings.operational_url, durable=False) as session:
        waiting = list(session.scalars(sa.select(Report.id).where(Report.status == "sending")))
    for report_id in waiting:
        with db.transaction(settings.operational_url) as session:
            report = session.get(Report, report_id, with_for_update=True)
            if report is not None and report.status == "sending":
                _settle(session, report)


def folder(settings: Settings) -> Path:
    """Where the files of reports lie."""
    return settings.home / "reports"


def forget_unnamed(settings: Settings) -> None:
    """Delete files of reports whose rows are gone, such as those of purged profiles."""
    with db.transaction(settings.operational_url, durable=False) as session:
        named = set(session.scalars(sa.select(Report.file_name).where(Report.file_name.is_not(None))))
    before = (db.now() - UNNAMED_FOR).timestamp()
    for path in folder(settings).glob("*"):
        if path.name not in named and path.stat().st_mtime < before:
            path.unlink(missing_ok=True)


def _due(settings: Settings) -> list[str]:
    ripe = sa.and_(Report.status == "queued", is_due(db.now(), Report, WAITS))
    oldest = sa.select(Report.id).where(ripe).order_by(Report.created_at, Report.id).limit(AT_ONCE)
    with db.transaction(settings.operational_url, durable=False) as session:
        return list(session.scalars(oldest))


def _claim(settings: Settings, report_id: str) -> _Job | None:
    with db.transaction(settings.operational_url) as session:
        claimed: Any = session.execute(
            sa.update(Report)
            .where(Report.id == report_id, Report.status == "queued")
            .values(status="rendering", begun_at=db.now())
        )
        if not claimed.rowcount:
            return None
        report = session.get_one(Report, report_id)
        profile = session.get_one(Profile, report.profile_id)
        workspace = session.get_one(Workspace, report.workspace_id)
        brand = _brand(settings, workspace, session.get(Branding, workspace.id))
        order = Order(report.template, report.locale, report.format, profile.name, brand)
        return _Job(report, order, profile)


def _brand(settings: Settings, workspace: Workspace, row: Branding | None) -> Brand:
    if row is None:
        return Brand(workspace.name)
    return Brand(
        row.display_name or workspace.name,
        row.primary_color,
        row.accent_color,
        row.website_url,
        row.report_footer,
        logos.content_of(settings, row.logo_name),
    )


def _make(settings: Settings, job: _Job) -> bool:
    report = job.report
    try:
        found = _figures(settings, job)
        name = _kept(settings, report, render(job.order, found))
    except NoData:
        _fail(settings, report, "no_data")
    except pdf.Unavailable:
        _fail(settings, report, "pdf_not_available")
    except Exception as problem:
        log.exception("report_failed", report=report.id, exc_info=problem)
        _postpone(settings, report)
    else:
        if _finish(settings, job, name, found.snapshot_id):
            return True
        (folder(settings) / name).unlink(missing_ok=True)
    return False


def _figures(settings: Settings, job: _Job) -> figures.Figures:
    window = DateRange(job.report.date_from, job.report.date_to)
    with snapshots(settings).reader() as reader:
        facts = profile_facts(reader, job.report.profile_id) if reader else None
        if reader is None or facts is None or not figures.has_any(reader, facts, window):
            raise NoData
        level = LEVELS[job.report.template]
        has_all = job.report.format == "csv"
        return figures.gather(reader, facts, window, level=level, of=job.profile, has_all=has_all)


def _kept(settings: Settings, report: Report, content: bytes) -> str:
    folder(settings).mkdir(parents=True, exist_ok=True)
    # a name of this attempt alone: who was given up for gone writes over no other's file
    name = f"{report.id}-{secrets.token_hex(8)}.{report.format}"
    part = folder(settings) / f".{secrets.token_hex(8)}.part"
    try:
        with part.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(folder(settings) / name)
    finally:
        part.unlink(missing_ok=True)
    return name


def _finish(settings: Settings, job: _Job, name: str, snapshot_id: str) -> bool:
    with db.transaction(settings.operational_url) as session:
        report = _begun(session, job.report)
        if report is None:
            return False
        report.status, report.file_name, report.snapshot_id, report.ready_at = "ready", name, snapshot_id, db.now()
        report.failure_reason = None
        report_ended(session, report, "ready")
        if report.is_sent:
            _send(session, settings, report, job.order)
        _tell_schedule(session, report)
    return True


def _send(session: Session, settings: Settings, report: Report, order: Order) -> None:
    words = Words(report.locale)
    window, title = words.window(report.date_from, report.date_to), words(report.template)
    name, by = within_a_line(order.profile_name), within_a_line(order.brand.display_name)
    said = words("mail", title, name, window)
    attachment = {
        "file_name": attachment_name(report, order.profile_name),
        "mime_type": MIME[report.format],
        "path": f"reports/{report.file_name}",
    }
    for recipient in report.recipients:
        queued = mail.queue(
            session,
            workspace_id=report.workspace_id,
            to=recipient,
            kind="report",
            subject=words("subject", title, name, window),
            text=f"{said}\n\n{by}\n",
            attachments=[attachment],
            report_id=report.id,
            settings=settings,
        )
        if queued == "not_configured":
            report.status, report.failure_reason = "failed", "mail_not_configured"
            return
    report.status = "sending"


def _settle(session: Session, report: Report) -> None:
    mails = list(session.scalars(sa.select(OutgoingMail).where(OutgoingMail.report_id == report.id)))
    if any(one.status not in ENDED_MAIL for one in mails):
        return
    taken = [one for one in mails if one.status != "failed"]
    report.status = "sent" if taken else "failed"
    if len(taken) < len(mails):
        report.failure_reason = "some_recipients_failed" if taken else "recipients_failed"
    if taken:
        report.sent_at = max(one.ended_at for one in taken if one.ended_at is not None)
    _tell_schedule(session, report)


def _fail(settings: Settings, report: Report, reason: str) -> None:
    with db.transaction(settings.operational_url) as session:
        current = _begun(session, report)
        if current is not None:
            current.status, current.failure_reason = "failed", reason
            report_ended(session, current, "failed")
            _tell_schedule(session, current)


def _postpone(settings: Settings, report: Report) -> None:
    if report.attempts >= len(WAITS):
        _fail(settings, report, "rendering_failed")
        return
    with db.transaction(settings.operational_url) as session:
        current = _begun(session, report)
        if current is not None:
            current.attempts, current.next_attempt_at = report.attempts + 1, db.now() + WAITS[report.attempts]
            current.status = "queued"


def _begun(session: Session, seen: Report) -> Report | None:
    """The report, locked, while it is still rendered by whoever saw it so."""
    report = session.get(Report, seen.id, with_for_update=True)
    # purged meanwhile, or given up as abandoned and begun by another
    if report is None or report.status != "rendering" or report.begun_at != seen.begun_at:
        return None
    return report


def _requeue_abandoned(settings: Settings) -> None:
    gone = sa.and_(Report.status == "rendering", is_over(db.now(), Report.begun_at, ABANDONED_AFTER))
    with db.transaction(settings.operational_url, durable=False) as session:
        abandoned = list(session.scalars(sa.select(Report).where(gone)))
    for report in abandoned:
        _postpone(settings, report)


def _tell_schedule(session: Session, report: Report) -> None:
    schedule = session.get(ReportSchedule, report.schedule_id) if report.schedule_id else None
    if schedule is not None:
        schedule.last_status = report.status
