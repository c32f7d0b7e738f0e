"""Frozen leaderboards of a test deployment."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

from api import credentials, db
from api.models import Profile, SharedSnapshot, SharedSnapshotProfile


def snapshot(
    url: str,
    of: Sequence[Profile],
    *,
    expires_at: datetime | None = None,
    revoked_at: datetime | None = None,
    **told: Any,
) -> tuple[SharedSnapshot, str]:
    """A link to one row of these profiles (of one workspace), and its token."""
    token, at = credentials.mint("tl_shr"), db.now()
    rows = told.pop("rows", [{"ad_name": "One"}])
    with db.transaction(url) as session:
        made = SharedSnapshot(
            workspace_id=of[0].workspace_id, digest=credentials.digest(token), token_prefix=credentials.shown(token),
            score_window="28d", row_limit=10, currency="USD", score_date=date(2026, 3, 10), config_version=1,
            data_snapshot_id=db.new_id(), rows=rows, row_count=len(rows), created_by_kind="session",
            created_by_id=db.new_id(), expires_at=expires_at or at + timedelta(days=30), revoked_at=revoked_at, **told,
        )  # fmt: skip
        session.add(made)
        session.flush()
        session.add_all(SharedSnapshotProfile(shared_snapshot_id=made.id, profile_id=one.id) for one in of)
    return made, token
