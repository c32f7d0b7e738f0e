"""The record of one attempt to change something at an ad platform: there before it is asked, closed whatever comes.

An entry of the audit trail can never be altered, so the attempt is a row of its own until it has ended, and its entry
is written then. The open row also keeps a second change off the same object: what is allowed depends on what is live.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import audit, db, errors, writebacks
from api.audit import Actor, Attempt
from api.auth import Principal
from api.models import PlatformChange, Writeback
from api.postponed import is_over
from touchledger.settings import Settings

ABANDONED = timedelta(seconds=60)
RETRY = {"Retry-After": "1"}
CATEGORY = "campaigns"


def begin(
    url: str,
    *,
    by: Principal,
    actor: Actor,
    attempt: Attempt,
    operation: str,
    target: Mapping[str, Any],
    request: Mapping[str, Any],
    dry_run: bool,
    idempotency_key: str | None,
) -> PlatformChange:
    """Keep an attempt, and for an agent what it asks for, in a transaction of its own.

    429 rate_limit_exceeded/concurrency while another change of the same object is under way; 403
    forbidden/writeback_disabled for an agent whose workspace does not let it write.
    """
    opened = PlatformChange(workspace_id=actor.workspace_id, profile_id=actor.profile_id, dry_run=dry_run)
    opened.platform_id, opened.action, opened.details = target["platform_id"], attempt.action, dict(attempt.details)
    opened.actor_kind, opened.actor_id, opened.request_id = actor.kind, actor.id, actor.request_id
    try:
        with db.transaction(url) as session:
            close_abandoned(session)
            session.flush()
            kept = writebacks.begin(
                session,
                by=by,
                operation=operation,
                target=target,
                request=request,
                dry_run=dry_run,
                request_id=actor.request_id or "",
                idempotency_key=idempotency_key,
            )
            opened.writeback_id = kept.id if kept else None
            session.add(opened)
    except sa.exc.IntegrityError:
        message = "Another change of this is under way; try again in a moment."
        raise errors.RATE_LIMIT_EXCEEDED(message, reason="concurrency", headers=RETRY) from None
    return opened


def end(url: str, opened: PlatformChange, *, outcome: str, details: Mapping[str, Any]) -> None:
    """Close an attempt with its entry in the trail; `outcome` is done, no_change or the code of what went wrong."""
    with db.transaction(url) as session:
        row = session.get_one(PlatformChange, opened.id, with_for_update=True)
        # one that was given up has its entry already, and the trail is not corrected
        if row.ended_at is None:
            _close(session, row, outcome=outcome, details=details)


def close_abandoned(session: Session, at: datetime | None = None) -> None:
    """Close the attempts whose process died, or took over a minute: nobody knows what came of them."""
    over = is_over(at or db.now(), PlatformChange.started_at, ABANDONED)
    late = sa.select(PlatformChange).where(PlatformChange.ended_at.is_(None), over)
    for row in session.scalars(late.with_for_update(skip_locked=True)):
        details = {**row.details, "confirmed": False}
        _close(session, row, outcome=errors.INTERNAL_ERROR.code, details=details)


def close_all_abandoned(settings: Settings) -> None:
    """The worker's chore: a change that nobody follows up reaches the trail too."""
    with db.transaction(settings.operational_url) as session:
        close_abandoned(session)


def _close(session: Session, row: PlatformChange, *, outcome: str, details: Mapping[str, Any]) -> None:
    row.ended_at = db.now()
    actor = Actor(row.actor_kind, row.actor_id, row.workspace_id, row.profile_id, row.request_id)
    audit.record(session, actor, Attempt(row.action, details, category=CATEGORY), outcome=outcome, id_=row.id)
    if row.writeback_id is not None:
        kept = session.get_one(Writeback, row.writeback_id)
        ended, code = writebacks.ended_as(outcome, dry_run=row.dry_run)
        writebacks.settle(session, kept, outcome=ended, error_code=code)
