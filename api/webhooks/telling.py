"""What each kind of event says, and of whom; callers tell it in the transaction of the change itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from sqlalchemy.orm import Session

from api.models import (
    Connection,
    CreativeAnalysis,
    Erasure,
    ExportDestination,
    ExportRow,
    Import,
    Recommendation,
    Report,
)
from api.webhooks.emitting import emit, emit_for_profile

LOST = "reconnect_required"
ENDED = ("sent", "failed", "skipped")


def reconnect_url(base_url: str, connection: Connection) -> str:
    """Where a lost connection is made anew."""
    return f"{base_url}/connect/{connection.provider_word}?reconnect_connection_id={connection.id}"


def connection_changed(session: Session, connection: Connection, before: str, *, base_url: str) -> None:
    """A connection is in another state than `before`; one that lost its grant is told of as such, once per loss."""
    if connection.status == before:
        return
    lost = connection.status == LOST
    url = reconnect_url(base_url, connection) if lost else None
    who = {"connection_id": connection.id, "provider": connection.provider_word, "kind": connection.kind_word}
    health = {
        "status": connection.status,
        "previous_status": before,
        "status_reason": connection.status_reason,
        "can_send": None,
        "reconnect_required": lost,
        "reconnect_url": url,
    }
    emit_for_profile(session, "channel.health.updated", {**who, **health}, connection.profile_id)
    if lost:
        reason = "expired" if connection.status_reason == "expired" else "revoked"
        loss = {**who, "reason": reason, "reconnect_url": url}
        emit_for_profile(session, "connection.reconnect_required", loss, connection.profile_id)


def report_ended(session: Session, report: Report, status: str) -> None:
    """A report is `ready`, or `failed` to be made."""
    data = {"report_id": report.id, "template": report.template, "status": status, "batch_id": report.batch_id}
    emit(session, "report.ready", data, workspace_id=report.workspace_id, profile_id=report.profile_id)


def import_finished(session: Session, imported: Import) -> None:
    """A file was loaded or rejected; one of the whole deployment concerns no subscriber."""
    if imported.profile_id is None:
        return
    session.flush()
    data = {
        "import_id": imported.id,
        "dataset": imported.dataset,
        "status": imported.status,
        "rows_in": imported.rows_in,
        "rows_loaded": imported.rows_loaded,
        "rows_quarantined": imported.rows_quarantined,
    }
    emit_for_profile(session, "import.finished", data, imported.profile_id)


def customer_erased(session: Session, erasure: Erasure) -> None:
    """An erasure is completed: the first snapshot without the person is served."""
    at = (
        erasure.completed_at.isoformat(timespec="milliseconds").replace("+00:00", "Z") if erasure.completed_at else None
    )
    emit_for_profile(session, "customer.erased", {"erasure_id": erasure.id, "completed_at": at}, erasure.profile_id)


def analysis_ended(session: Session, job: CreativeAnalysis, *, status: str, failure_reason: str | None) -> None:
    """The analysis of a creative succeeded or failed."""
    data = {
        "job_id": job.id,
        "ad_id": job.ad_id,
        "ad_external_id": job.ad_external_id,
        "status": status,
        "failure_reason": failure_reason,
    }
    emit_for_profile(session, "creative_analysis.completed", data, job.profile_id)


def recommendation_opened(session: Session, row: Recommendation) -> None:
    """There is a new recommendation about an ad."""
    entity = {"level": "ad", "external_id": row.entity_external_id, "platform": row.platform}
    data = {"recommendation_id": row.id, "kind": row.kind, "entity": entity}
    emit(session, "recommendation.opened", data, workspace_id=row.workspace_id, profile_id=row.profile_id)


def exports_ended(session: Session, destination: ExportDestination, rows: Iterable[ExportRow]) -> None:
    """A batch at one destination: one event for each way in which rows of it ended, never one per row."""
    ended: dict[str, list[ExportRow]] = {status: [] for status in ENDED}
    for row in rows:
        if row.status in ended:
            ended[row.status].append(row)
    for status, found in ended.items():
        if found:
            data = {"destination_id": destination.id, "kind": destination.kind, **_batch(found)}
            reasons = Counter(row.reason or "unknown" for row in found)
            told = data if status == "sent" else {**data, "reasons": dict(sorted(reasons.items()))}
            emit_for_profile(session, f"conversion_export.{status}", told, destination.profile_id)


def _batch(rows: Sequence[ExportRow]) -> dict[str, int | str]:
    ids = sorted(row.id for row in rows)
    return {"count": len(ids), "first_export_id": ids[0], "last_export_id": ids[-1]}
