"""Freezing a leaderboard behind a link, and taking the link back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import credentials, errors, plans, purge
from api.audit import Actor
from api.db import now
from api.models import Profile, SharedSnapshot, SharedSnapshotProfile, Workspace
from api.reach import Reach
from api.reading_across import Across
from api.roles import Role
from api.shared_snapshots import PREFIX
from api.v1.top_performers.across import leaderboard
from api.v1.top_performers.rows import without_money


def capture(
    session: Session,
    found: Across | None,
    *,
    workspace: Workspace,
    profiles: Sequence[Profile],
    asked: Mapping[str, Any],
    by: Actor,
) -> tuple[SharedSnapshot, str]:
    """Freeze the leaderboard that `asked` names, and give it with the token of its link.

    404 not_found when one of the profiles was archived meanwhile; 402 plan_upgrade_required; 409
    invalid_state/nothing_scored when no ad passes.
    """
    plans.require_room(session, workspace, "snapshot_links")
    purge.keep_live(session, [one.id for one in profiles])
    currency = workspace.reporting_currency
    frozen = leaderboard(found, currency, {**asked, **asked["filters"]}) if found else None
    if found is None or frozen is None or all(row["composite_score"] is None for row in frozen.rows):
        raise errors.INVALID_STATE("No ad is scored in this window that passes these filters.", reason="nothing_scored")
    token, at = credentials.mint(PREFIX), now()
    made = SharedSnapshot(
        workspace_id=workspace.id,
        title=asked["title"],
        digest=credentials.digest(token),
        token_prefix=credentials.shown(token),
        score_window=asked["window"],
        row_limit=asked["limit"],
        filters=_kept(asked["filters"]),
        hide_money=asked["hide_money"],
        currency=currency,
        score_date=frozen.score_date,
        config_version=frozen.config_version,
        data_snapshot_id=found.reader.snapshot_id,
        rows=[without_money(row) if asked["hide_money"] else row for row in frozen.rows],
        row_count=len(frozen.rows),
        created_by_kind=by.kind,
        created_by_id=by.id,
        created_at=at,
        expires_at=at + timedelta(days=asked["expires_in_days"]),
    )
    session.add(made)
    session.flush()
    session.add_all(SharedSnapshotProfile(shared_snapshot_id=made.id, profile_id=one.id) for one in profiles)
    session.flush()
    return made, token


def locked(session: Session, reached: Reach, snapshot_id: str, *, by: str) -> SharedSnapshot:
    """One link of the reached workspace, its row locked.

    404 not_found; 403 role_required for whoever is neither an admin nor the one who made it.
    """
    workspace = reached.workspace
    chosen = sa.select(SharedSnapshot).where(SharedSnapshot.id == snapshot_id)
    if workspace is None:
        raise LookupError("a link is one of a workspace")
    row = session.scalars(chosen.where(SharedSnapshot.workspace_id == workspace.id).with_for_update()).one_or_none()
    if row is None or (reached.profile is not None and not _is_wholly_of(session, row, reached.profile.id)):
        raise errors.NOT_FOUND()
    if row.created_by_id != by and (reached.role or Role.GUEST) < Role.ADMIN:
        raise errors.FORBIDDEN("This needs the role admin, or to have made the snapshot.", reason="role_required")
    return row


def revoke(row: SharedSnapshot) -> bool:
    """End a link now; False when it was revoked before. An expired one becomes a revoked one."""
    if row.revoked_at is not None:
        return False
    row.revoked_at = now()
    return True


def _kept(filters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: float(value) if name == "min_spend" else value for name, value in filters.items()}


def _is_wholly_of(session: Session, row: SharedSnapshot, profile_id: str) -> bool:
    chosen = sa.select(SharedSnapshotProfile.profile_id).where(SharedSnapshotProfile.shared_snapshot_id == row.id)
    return set(session.scalars(chosen)) == {profile_id}
