"""GET W/reports/hub, GET /reports/{reportId} and its file, POST W/reports/bulk-generate, W/reports/schedules/bulk."""

from __future__ import annotations

from email.utils import parseaddr
from typing import Any

import sqlalchemy as sa
from flask import Response
from sqlalchemy.orm import Session

from api import auth, context, db, errors, mail, op_lists, plans, purge, reach
from api.audit import Attempt, record
from api.guard import caller_guarded, workspace_guarded
from api.http import Blueprint
from api.models import Branding, Profile, Report, ReportSchedule, SenderDomain, Workspace
from api.reading_across import openable, opened
from api.reports import MIME, SECTIONS, TEMPLATES, pdf, scheduling
from api.reports.labels import Words
from api.reports.names import attachment, attachment_name
from api.roles import Role
from api.scopes import Scope
from api.v1.reports import mailing, schedules
from api.v1.reports.rows import report_row, schedule_row
from api.v1.reports.schemas import Applied, Batch, GenerateBody, Hub, HubQuery, ReportRow, SchedulesBody
from api.windows import DateRange
from api.writing import actor, idempotent, session

bp = Blueprint("reports", __name__, description="Reports of a workspace's profiles, and their schedules.")

# an agent that may have a report made may read it
OF_AGENTS = (Scope.ANALYTICS_READ, Scope.REPORTS_WRITE)
RETRY_MAIL = {"Retry-After": "3600"}
FILE = {
    "responses": {
        "200": {
            "description": "The file.",
            # generators read all of them as the first, or as the first that is text: bytes keep a PDF whole
            "content": {
                MIME["pdf"]: {"schema": {"type": "string", "format": "binary"}},
                **{MIME[kind]: {"schema": {"type": "string"}} for kind in ("html", "csv")},
            },
        }
    }
}
# a report opened in a browser runs nothing and fetches nothing
SEALED = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"


@bp.route("/workspaces/<workspace_id>/reports/hub")
@workspace_guarded(role=Role.VIEWER)
@bp.arguments(HubQuery, location="query")
@bp.response(200, Hub)
def reports_hub(query: dict[str, Any], workspace_id: str) -> dict[str, Any]:
    """Templates, reports, schedules, and who reports are sent by

    Of every profile of the workspace; `profile_id` or `profile_ids` narrow reports and schedules. Only `reports` come
    in pages, newest first; templates and schedules are whole on each. In `sender` stands whether mail can leave at all.
    """
    named = auth.current().reach.profile
    if query["profile_ids"] is not None:
        opened(workspace_id, query["profile_ids"])
    wanted = [named.id] if named else query["profile_ids"]
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        found = op_lists.page(
            reading,
            _of_profiles(Report, workspace_id, wanted).add_columns(Profile.name),
            [
                op_lists.By(Report.created_at, lambda row: row[0].created_at, descending=True),
                op_lists.By(Report.id, lambda row: row[0].id),
            ],
            query,
            route="/reports/hub",
            owner=workspace_id,
            filters={"profile_ids": wanted},
        )
        ordered = _of_profiles(ReportSchedule, workspace_id, wanted).order_by(ReportSchedule.id)
        planned = [schedule_row(one) for one in reading.scalars(ordered)]
        sender = _sender(reading, workspace_id)
    words = Words("en")
    return {
        "templates": [{"key": key, "name": words(key), "sections": list(SECTIONS[key])} for key in TEMPLATES],
        "reports": [report_row(report, name) for report, name in found],
        "schedules": planned,
        "sender": sender,
    }


@bp.route("/reports/<report_id>")
@caller_guarded(scope=Scope.ANALYTICS_READ, token_scopes=OF_AGENTS, uuids=["report_id"])
@bp.response(200, ReportRow)
def one_report(report_id: str) -> dict[str, Any]:
    """A report, and how far it is

    Goes from queued over rendering to ready and, where it is mailed, over sending to sent; failed says why in
    `failure_reason`. Ask every few seconds, or have `report.ready` told. For people from the role viewer on who can
    open its profile; for others it is 404.
    """
    report, profile = _one(report_id)
    return report_row(report, profile.name)


@bp.route("/reports/<report_id>/file")
@caller_guarded(scope=Scope.ANALYTICS_READ, token_scopes=OF_AGENTS, uuids=["report_id"])
@bp.doc(**FILE)
def report_file(report_id: str) -> Response:
    """A report's file, once it is ready

    404 until the report is ready, so look at GET /reports/{report_id} first. It comes as an attachment, in the format
    that was asked for, and is the same whenever it is asked: figures that changed since are in a new report only.
    """
    report, profile = _one(report_id)
    path = context.settings().home / "reports" / report.file_name if report.file_name else None
    if path is None or not path.is_file():
        raise errors.NOT_FOUND()
    response = Response(path.read_bytes(), mimetype=MIME[report.format])
    response.headers["Content-Disposition"] = attachment(attachment_name(report, profile.name))
    response.headers["Content-Security-Policy"] = SEALED
    response.headers["Cache-Control"] = "no-store"
    return response


@bp.route("/workspaces/<workspace_id>/reports/bulk-generate", methods=["POST"])
@workspace_guarded(scope=Scope.REPORTS_WRITE, role=Role.VIEWER)
@bp.arguments(GenerateBody)
@idempotent()
@bp.response(202, Batch)
def generate_reports(body: dict[str, Any], workspace_id: str) -> dict[str, Any]:
    """Make a report of each profile, and mail it if wanted

    The files are rendered one after the other, a few seconds each; the hub tells when one is ready. Nothing is queued
    when one of the profiles cannot be reached, nor when the person would have more than 2,000 reports mailed within an
    hour: 429 `rate_limit_exceeded`, reports times recipients.
    """
    settings, window = context.settings(), DateRange(body["date_from"], body["date_to"])
    _refuse_mail_to_app_people(sends=body["send"])
    with db.transaction(settings.operational_url, durable=False) as reading:
        _profiles(reading, workspace_id, body["profile_ids"])
    if len(body["profile_ids"]) > 1:
        plans.require(auth.current().workspace, "bulk_reports")
    _require_means(body["format"], sends=body["send"])
    # outside the write: reading figures takes longer than a lock should be held
    tells = scheduling.has_data(settings, body["profile_ids"], window)
    purge.keep_live(session(), body["profile_ids"])
    _profiles(session(), workspace_id, body["profile_ids"])
    batch_id, locale = db.new_id(), body["locale"] or _locale(session(), workspace_id)
    told = []
    for profile_id in body["profile_ids"]:
        report = _ordered(workspace_id, profile_id, batch_id, locale, body) if tells[profile_id] else None
        if report is not None:
            session().add(report)
        told.append(
            {
                "report_id": report.id if report else None,
                "profile_id": profile_id,
                "status": "queued" if report else "skipped",
                "reason": None if report else "no_data",
            }
        )
    if body["send"]:
        mailing.spend(session(), auth.current().person, sum(tells.values()) * len(body["recipients"]))
    details = {"template": body["template"], "profile_ids": body["profile_ids"], "recipients": len(body["recipients"])}
    _record("report.requested", workspace_id, {**details, "batch_id": batch_id})
    return {"batch_id": batch_id, "reports": told}


@bp.route("/workspaces/<workspace_id>/reports/schedules/bulk", methods=["POST"])
@workspace_guarded(scope=Scope.REPORTS_WRITE, role=Role.VIEWER)
@bp.arguments(SchedulesBody)
@idempotent()
@bp.response(200, Applied)
def schedule_reports(body: dict[str, Any], workspace_id: str) -> dict[str, Any]:
    """Create or change the schedules of a template for many profiles

    Weekly reports tell the seven days before, monthly ones the month before. Runs missed meanwhile run once.
    """
    patch = body["patch"]
    sends = bool(patch.get("recipients"))
    _refuse_mail_to_app_people(sends=sends)
    # two who schedule the same at once, or change the time zone, do it one after the other
    session().scalar(sa.select(Workspace.id).where(Workspace.id == workspace_id).with_for_update(key_share=True))
    found = _profiles(session(), workspace_id, body["profile_ids"])
    plans.require(auth.current().workspace, "bulk_reports")
    locale = _locale(session(), workspace_id)
    applied = [schedules.apply(session(), profile, patch, locale=locale) for profile in found]
    # a new one has a format too where none is named
    asked = {row.format for outcome, row in applied if outcome == "created" or "format" in patch}
    _require_means("pdf" if "pdf" in asked else "csv", sends=sends)
    outcomes = [outcome for outcome, _ in applied]
    counts = {name: outcomes.count(name) for name in ("created", "updated", "unchanged")}
    changed = [row.profile_id for outcome, row in applied if outcome != "unchanged"]
    if changed:
        # the trail holds no addresses of people
        after = {**patch, **({"recipients": len(patch["recipients"])} if "recipients" in patch else {})}
        _record("report_schedule.changed", workspace_id, {"profile_ids": changed, "after": after})
    return {**counts, "schedules": [schedule_row(row) for _, row in applied]}


def _one(report_id: str) -> tuple[Report, Profile]:
    """A report of a profile that the person can open as a viewer at least; 404 not_found for any other."""
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        report = reading.get(Report, report_id)
        if report is None:
            raise errors.NOT_FOUND()
        found = reach.of_person(
            reading, auth.current().person, workspace_id=report.workspace_id, profile_id=report.profile_id
        )
    if found.profile is None or (found.role or Role.GUEST) < Role.VIEWER:
        raise errors.NOT_FOUND()
    context.meta(workspace_id=report.workspace_id, profile_id=report.profile_id)
    return report, found.profile


def _of_profiles(model: Any, workspace_id: str, profile_ids: list[str] | None) -> Any:
    live = sa.select(model).join(Profile, Profile.id == model.profile_id).where(Profile.archived_at.is_(None))
    chosen = live.where(model.workspace_id == workspace_id)
    return chosen if profile_ids is None else chosen.where(model.profile_id.in_(profile_ids))


def _profiles(unit: Session, workspace_id: str, profile_ids: list[str]) -> list[Profile]:
    """The named profiles as the person can open them, in the order asked.

    404 not_found if one is not theirs, or another than the query names.
    """
    found = {one.id: one for one in unit.scalars(openable(workspace_id).where(Profile.id.in_(profile_ids)))}
    if len(found) < len(profile_ids):
        raise errors.NOT_FOUND()
    return [found[one] for one in profile_ids]


def _refuse_mail_to_app_people(*, sends: bool) -> None:
    if sends and auth.current().workspace.is_provisioned:
        raise errors.APP_PROVISIONED_WORKSPACE()


def _require_means(format_: str, *, sends: bool) -> None:
    if format_ == "pdf" and not pdf.is_available():
        raise errors.NOT_IMPLEMENTED("PDF cannot be written on this deployment; ask for html or csv.")
    if sends and not mail.is_configured(context.settings()):
        raise errors.SERVICE_UNAVAILABLE("This deployment has no mail server.", headers=RETRY_MAIL)


def _ordered(workspace_id: str, profile_id: str, batch_id: str, locale: str, body: dict[str, Any]) -> Report:
    return Report(
        id=db.new_id(),
        workspace_id=workspace_id,
        profile_id=profile_id,
        batch_id=batch_id,
        locale=locale,
        is_sent=body["send"],
        **{name: body[name] for name in ("template", "date_from", "date_to", "format", "recipients")},
    )


def _locale(unit: Session, workspace_id: str) -> str:
    row = unit.get(Branding, workspace_id)
    return row.locale if row else "en"


def _sender(unit: Session, workspace_id: str) -> dict[str, Any]:
    settings = context.settings()
    chosen = sa.select(SenderDomain).where(SenderDomain.workspace_id == workspace_id)
    domain = unit.scalars(chosen).one_or_none()
    is_verified = domain is not None and domain.status == "verified"
    own = parseaddr(settings.smtp_from)[1] if mail.is_configured(settings) else None
    return {
        "from_address": domain.from_address if domain is not None and is_verified else own,
        "domain_verified": is_verified,
        "mail_configured": mail.is_configured(settings),
    }


def _record(action: str, workspace_id: str, details: dict[str, Any]) -> None:
    target = {"kind": "workspace", "id": workspace_id, "label": "reports"}
    record(session(), actor(), Attempt(action, {"target": target, **details}))
