"""GET and POST W/snapshots, DELETE W/snapshots/{id}."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import actors, auth, context, db, op_lists, reach
from api.audit import Attempt, record, target
from api.db import now
from api.guard import workspace_guarded
from api.http import Blueprint
from api.models import Profile, SharedSnapshot, SharedSnapshotProfile
from api.op_lists import By
from api.reading import timestamp
from api.reading_across import across, opened
from api.roles import Role
from api.scopes import Scope
from api.shared_snapshots import in_status, status_of
from api.v1.snapshots import capturing
from api.v1.snapshots.schemas import (
    CapturedSnapshot,
    RevokedSnapshot,
    SnapshotBody,
    SnapshotRow,
    SnapshotsQuery,
)
from api.writing import actor, idempotent, session

bp = Blueprint("snapshots", __name__, description="Leaderboards frozen for others to see, each behind a link.")

ORDER = [
    By(SharedSnapshot.created_at.expression, lambda row: row.created_at, descending=True),
    By(SharedSnapshot.id.expression, lambda row: row.id),
]
TOLD = (
    "title", "token_prefix", "score_window", "filters", "hide_money", "row_count", "score_date", "config_version",
    "created_at", "expires_at", "revoked_at", "view_count", "last_viewed_at",
)  # fmt: skip


@bp.route("/workspaces/<workspace_id>/snapshots")
@workspace_guarded(scope=Scope.CAMPAIGNS_READ)
@bp.arguments(SnapshotsQuery, location="query")
@bp.response(200, SnapshotRow(many=True))
def snapshot_list(query: dict[str, Any], workspace_id: str) -> list[dict[str, Any]]:
    """The frozen leaderboards of the workspace, newest first

    Guests see those that show no profile but theirs; nobody is told a link again.
    """
    caller, at = auth.current(), now()
    chosen = sa.select(SharedSnapshot).where(
        SharedSnapshot.workspace_id == workspace_id, *in_status(query["status"], at), ~_shows_another()
    )
    only = caller.reach.profile.id if caller.reach.profile else None
    filters = {"status": query["status"], "profile_id": only}
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        rows = op_lists.page(
            reading, chosen, ORDER, query, route="W/snapshots", owner=workspace_id, filters=filters
        )  # fmt: skip
        return _told(reading, rows)


@bp.route("/workspaces/<workspace_id>/snapshots", methods=["POST"])
@workspace_guarded(scope=Scope.REPORTS_WRITE, role=Role.VIEWER)
@bp.arguments(SnapshotBody)
@idempotent(once_shown=["url"])
@bp.response(201, CapturedSnapshot)
def capture_snapshot(body: dict[str, Any], workspace_id: str) -> dict[str, Any]:
    """Freeze the leaderboard as it is now, behind a link for anybody

    The answer is the only one that holds the link. Rows, filters, score date and version stay as they are: nothing is
    computed again when the link is opened.
    """
    profiles, workspace = opened(workspace_id, body["profile_ids"]), auth.current().workspace
    with across(profiles) as found:
        row, token = capturing.capture(
            session(), found, workspace=workspace, profiles=profiles, asked=body, by=actor()
        )  # fmt: skip
    _record("snapshot.captured", row, after={"row_count": row.row_count, "expires_at": timestamp(row.expires_at)})
    return {**_told(session(), [row])[0], "url": f"{context.settings().base_url}/shared/{token}"}


@bp.route("/workspaces/<workspace_id>/snapshots/<snapshot_id>", methods=["DELETE"])
@workspace_guarded(scope=Scope.REPORTS_WRITE, role=Role.VIEWER, uuids=["snapshot_id"])
@idempotent()
@bp.response(200, RevokedSnapshot)
def revoke_snapshot(snapshot_id: str, **_: str) -> dict[str, Any]:
    """Take a link back, from the next request on

    For admins, and for whoever made it. Again it changes nothing.
    """
    row = capturing.locked(session(), auth.current().reach, snapshot_id, by=auth.current().person)
    if capturing.revoke(row):
        _record("snapshot.revoked", row)
    return {"snapshot_id": row.id, "status": "revoked", "revoked_at": row.revoked_at}


def _shows_another() -> sa.ColumnElement[bool]:
    """Whether a frozen leaderboard ranks a profile that the caller cannot open, or did not name."""
    caller = auth.current()
    mine = reach.profiles_of(caller.person).with_only_columns(Profile.id)
    if caller.reach.profile is not None:
        mine = mine.where(Profile.id == caller.reach.profile.id)
    shown = sa.exists().where(SharedSnapshotProfile.shared_snapshot_id == SharedSnapshot.id)
    if caller.reach.profile is None and (caller.reach.role or Role.GUEST) > Role.GUEST:
        # archived profiles are no secret to whoever sees the whole workspace
        return sa.false()
    return shown.where(SharedSnapshotProfile.profile_id.not_in(mine))


def _told(reading: Session, rows: Sequence[SharedSnapshot]) -> list[dict[str, Any]]:
    at = now()
    makers = actors.told(reading, {(row.created_by_kind, row.created_by_id) for row in rows})
    shown: dict[str, list[str]] = {row.id: [] for row in rows}
    chosen = sa.select(SharedSnapshotProfile).where(SharedSnapshotProfile.shared_snapshot_id.in_(list(shown)))
    for one in reading.scalars(chosen.order_by(SharedSnapshotProfile.profile_id)):
        shown[one.shared_snapshot_id].append(one.profile_id)
    return [
        {
            **{name: getattr(row, name) for name in TOLD},
            "snapshot_id": row.id,
            "status": status_of(row, at),
            "profile_ids": shown[row.id],
            "created_by": makers[row.created_by_kind, row.created_by_id],
        }
        for row in rows
    ]


def _record(action: str, row: SharedSnapshot, after: dict[str, Any] | None = None) -> None:
    details = {"target": target("snapshot", row.id, row.title), "after": after or {}}
    record(session(), actor(), Attempt(action, details, category="exports"))
