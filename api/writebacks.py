"""Changes that agents ask ad platforms for: allowed by the workspace, and kept whatever becomes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from api import errors
from api.auth import Kind, Principal
from api.models import UserToken, Workspace, Writeback


def begin(
    session: Session,
    *,
    by: Principal,
    operation: str,
    target: Mapping[str, Any],
    request: Mapping[str, Any],
    dry_run: bool,
    request_id: str,
    idempotency_key: str | None = None,
) -> Writeback | None:
    """Keep what a user token is about to ask a platform for; None for every other credential.

    `operation` is `noun.verb`, for example `campaign.pause`; `target` is {kind, platform_id, name}. Commit before the
    platform is asked. 403 forbidden/writeback_disabled unless the workspace lets agents write; that is kept too, once
    the request's own work is rolled back.
    """
    if by.kind is not Kind.USER_TOKEN:
        return None
    workspace = session.get_one(Workspace, by.profile.workspace_id)
    kept = Writeback(workspace_id=workspace.id, profile_id=by.profile.id, user_id=by.person, operation=operation)
    kept.token_prefix = session.get_one(UserToken, by.id).prefix
    kept.target, kept.request, kept.dry_run = dict(target), dict(request), dry_run
    kept.idempotency_key, kept.request_id = idempotency_key, request_id
    if not workspace.mcp_writeback_enabled:
        kept.outcome, kept.error_code = ended_as(errors.FORBIDDEN.code, dry_run=dry_run)
        words = "This workspace does not let agents change ad platforms."
        raise errors.FORBIDDEN(words, reason="writeback_disabled").leaving(kept)
    session.add(kept)
    session.flush()
    return kept


def ended_as(outcome: str, *, dry_run: bool) -> tuple[str, str | None]:
    """(outcome, error_code) of a change that ended as done, no_change or with the code of what went wrong."""
    code = errors.CATALOGUE.get(outcome)
    if code is not None:
        return ("failed" if code.status >= 500 else "refused"), outcome
    return ("dry_run" if dry_run else "done"), None


def settle(session: Session, kept: Writeback, *, outcome: str, error_code: str | None = None) -> None:
    """Say how it ended: dry_run, done, refused or failed."""
    row = session.get_one(Writeback, kept.id)
    row.outcome, row.error_code = outcome, error_code
