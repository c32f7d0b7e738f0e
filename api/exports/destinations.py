"""Destinations of a profile: what state each is in, who holds a place, and what switching one on or off does."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import errors
from api.db import now
from api.exports.catalog import Rule
from api.models import Connection, ExportDestination, ExportRow
from api.models.connection import ASKED

KINDS = ("meta_capi", "google_conversions", "tiktok_events")
PROVIDERS = {"meta_capi": "meta", "google_conversions": "google", "tiktok_events": "tiktok"}
# how the interface calls the target of each kind
TARGETS = {
    "meta_capi": "meta_pixel_id",
    "google_conversions": "google_conversion_action",
    "tiktok_events": "tiktok_pixel_code",
}
# kinds whose platform this deployment can talk to
SPOKEN = ("meta_capi",)
STATES = ("ok", "failing", "disabled", "blocked")
REQUEUED = timedelta(days=7)


def live(profile_id: str) -> sa.Select[ExportDestination]:
    """The destinations of a profile that were not deleted, on or off."""
    return sa.select(ExportDestination).where(
        ExportDestination.profile_id == profile_id, ExportDestination.deleted_at.is_(None)
    )


def enabled_counts(session: Session, profile_ids: Collection[str]) -> dict[str, int]:
    """How many destinations of each profile are switched on."""
    counted = (
        sa.select(ExportDestination.profile_id, sa.func.count().label("enabled"))
        .where(ExportDestination.profile_id.in_(profile_ids), ExportDestination.deleted_at.is_(None))
        .where(ExportDestination.is_enabled)
        .group_by(ExportDestination.profile_id)
    )
    return {row.profile_id: row.enabled for row in session.execute(counted)}


def state(destination: ExportDestination, connection: Connection) -> tuple[str, str | None]:
    """One of `STATES`, and why it is not ok."""
    if not destination.is_enabled:
        return "disabled", destination.disabled_reason
    if not is_usable(connection):
        return "blocked", connection.status if connection.status not in ASKED else "no_token"
    if destination.failing_since is not None:
        return "failing", destination.failing_reason
    return "ok", None


def is_usable(connection: Connection) -> bool:
    """Whether the connection's platform can be asked at all."""
    return connection.status in ASKED and connection.token != ""


def refuse_conflict(session: Session, destination: ExportDestination) -> None:
    """409 destination_conflict when another destination, on or off, holds the same place."""
    held = live(destination.profile_id).where(
        ExportDestination.kind == destination.kind,
        ExportDestination.connection_id == destination.connection_id,
        ExportDestination.target == destination.target,
        ExportDestination.id != destination.id,
    )
    with session.no_autoflush:
        other = session.scalars(held).first()
    if other is not None:
        raise errors.DESTINATION_CONFLICT(conflicting_destination_id=other.id)


def switch_on(session: Session, destination: ExportDestination) -> int:
    """Switch it on with a clean sheet, and queue again what failed in the last seven days; gives how much that was.

    What failed of a type that it no longer takes stays failed.
    """
    at = now()
    destination.is_enabled, destination.disabled_reason = True, None
    destination.consecutive_failures, destination.failing_since, destination.failing_reason = 0, None, None
    destination.matched_snapshot_id = None
    again = sa.update(ExportRow).where(
        ExportRow.destination_id == destination.id, ExportRow.status == "failed", ExportRow.failed_at > at - REQUEUED
    )
    again = again.where(ExportRow.conversion_type.in_(destination.conversion_types))
    again = again.values(status="queued", reason=None, attempts=0, next_attempt_at=at, failed_at=None)
    return _changed(session, again)


def switch_off(session: Session, destination: ExportDestination, reason: str) -> int:
    """Switch it off; what waits is skipped. Gives how many rows that were."""
    destination.is_enabled, destination.disabled_reason = False, reason
    waiting = sa.update(ExportRow).where(ExportRow.destination_id == destination.id, ExportRow.status == "queued")
    return _changed(session, waiting.values(status="skipped", reason="destination_disabled", next_attempt_at=None))


def switch_off_all(session: Session, profile_ids: Sequence[str], reason: str) -> int:
    """Switch off every destination of the profiles; gives how many were on."""
    chosen = sa.select(ExportDestination).where(
        ExportDestination.profile_id.in_(profile_ids),
        ExportDestination.is_enabled,
        ExportDestination.deleted_at.is_(None),
    )
    found = session.scalars(chosen).all()
    for destination in found:
        switch_off(session, destination, reason)
    session.flush()
    return len(found)


def switch_off_emptied(session: Session, profile_id: str, rules: Mapping[str, Rule]) -> int:
    """Switch off the destinations that no longer may send any of their types; gives how many."""
    emptied = 0
    for destination in session.scalars(live(profile_id).where(ExportDestination.is_enabled)).all():
        if not any(rules[name].enabled for name in destination.conversion_types):
            switch_off(session, destination, "privacy_mode")
            emptied += 1
    session.flush()
    return emptied


def retained(session: Session, profile_ids: Sequence[str] | sa.Select[str]) -> int:
    """Rows of the ledger that stay when the profiles go."""
    return session.scalar(sa.select(sa.func.count()).where(ExportRow.profile_id.in_(profile_ids))) or 0


def rows_about(session: Session, profile_id: str, conversion_ids: Sequence[str]) -> list[str]:
    """Ids of the profile's ledger rows that are about these conversions."""
    parts = (conversion_ids[start : start + 500] for start in range(0, len(conversion_ids), 500))
    about = sa.select(ExportRow.id).where(ExportRow.profile_id == profile_id)
    return [one for part in parts for one in session.scalars(about.where(ExportRow.conversion_id.in_(part)))]


def failed_since(session: Session, profile_ids: sa.Select[str], since: datetime) -> int:
    """Rows of these profiles that failed from an instant on."""
    failed = sa.select(sa.func.count()).where(
        ExportRow.profile_id.in_(profile_ids), ExportRow.status == "failed", ExportRow.failed_at >= since
    )
    return session.scalar(failed) or 0


def _changed(session: Session, statement: sa.Update) -> int:
    result = session.execute(statement, execution_options={"synchronize_session": False})
    return result.rowcount  # type: ignore[attr-defined,no-any-return]
