"""Whose site a tracking key is of, and the rules that its profile set."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

import sqlalchemy as sa

from api import errors
from api.goals import BUILT_IN, Goal, goal_of_browser_event, with_rows
from api.models import GoalRow, Profile, TrackerSettings, TrackingKey, Workspace
from api.tracker_settings import IDLE_MINUTES, tracker_as

# how exactly a key tells when it was last seen
SEEN_STEP = timedelta(minutes=1)

_SOUGHT = (
    sa.select(
        TrackingKey.key,
        TrackingKey.id.label("key_id"),
        TrackingKey.allowed_hosts,
        TrackingKey.last_seen_at,
        Profile.id.label("profile_id"),
        sa.or_(TrackingKey.revoked_at.is_not(None), Profile.archived_at.is_not(None)).label("is_closed"),
        sa.or_(Workspace.is_healthcare_agency, Profile.privacy_mode != "standard").label("is_healthcare"),
        TrackerSettings.capture_typed_identity,
        TrackerSettings.session_idle_minutes,
        TrackerSettings.chat_token_enabled,
        TrackerSettings.respect_gpc,
    )
    .join(Profile, Profile.id == TrackingKey.profile_id)
    .join(Workspace, Workspace.id == Profile.workspace_id)
    .outerjoin(TrackerSettings, TrackerSettings.profile_id == Profile.id)
    .where(TrackingKey.key.in_(sa.bindparam("keys", expanding=True)))
)
_GOALS = sa.select(*GoalRow.__table__.columns).where(
    GoalRow.profile_id.in_(sa.bindparam("profile_ids", expanding=True))
)
_TABLE = cast(sa.Table, TrackingKey.__table__)
_MARK = sa.update(_TABLE).where(_TABLE.c.id == sa.bindparam("key_id")).values(last_seen_at=sa.bindparam("at"))


@dataclass(frozen=True, slots=True)
class Site:
    """What a key collects for, and how."""

    key_id: str
    profile_id: str
    hosts: tuple[str, ...]
    is_closed: bool
    last_seen_at: datetime | None
    captures_typed: bool = True
    respects_gpc: bool = True
    idle: timedelta = timedelta(minutes=IDLE_MINUTES)
    goals: tuple[Goal, ...] = BUILT_IN

    def require(self, *hosts: str | None) -> None:
        """410 for a revoked key or an archived profile; 403 for a host it does not collect from."""
        if self.is_closed:
            raise errors.FEATURE_RETIRED("This tracking key was revoked, or its profile archived: stop sending.")
        if self.hosts and not all(host is None or self._allows(host) for host in hosts):
            raise errors.FORBIDDEN("This key does not collect from this host.", reason="host_not_allowed")

    def goal_of(self, event_name: str) -> Goal | None:
        """The goal that a browser's event counts for, which is never one of cash."""
        return goal_of_browser_event(event_name, self.goals)

    def _allows(self, host: str) -> bool:
        return any(host == one or host.endswith(f".{one}") for one in self.hosts)


def sites_of(connection: sa.Connection, keys: Collection[str]) -> dict[str, Site]:
    """The sites of these keys; a key that nobody has is not in it."""
    found = connection.execute(_SOUGHT, {"keys": sorted(keys)}).all()
    rows: dict[str, list[GoalRow]] = {}
    for one in connection.execute(_GOALS, {"profile_ids": sorted({row.profile_id for row in found})}):
        rows.setdefault(one.profile_id, []).append(GoalRow(**one._mapping))
    return {row.key: _site(row, rows.get(row.profile_id, [])) for row in found}


def mark_seen(connection: sa.Connection, used: Mapping[Site, datetime]) -> None:
    """Note when keys were used, at most once a minute each."""
    due = {
        site.key_id: at for site, at in used.items() if site.last_seen_at is None or at - site.last_seen_at >= SEEN_STEP
    }
    for key_id in sorted(due):
        connection.execute(_MARK, {"key_id": key_id, "at": due[key_id]})


def _site(row: Any, goals: Collection[GoalRow]) -> Site:
    is_set = row.session_idle_minutes is not None
    tracker = tracker_as(row if is_set else None, is_healthcare=bool(row.is_healthcare))
    return Site(
        key_id=row.key_id,
        profile_id=row.profile_id,
        hosts=tuple(host.lower().removeprefix("*.") for host in row.allowed_hosts),
        is_closed=bool(row.is_closed),
        last_seen_at=row.last_seen_at,
        captures_typed=tracker.capture_typed_identity,
        respects_gpc=tracker.respect_gpc,
        idle=timedelta(minutes=tracker.session_idle_minutes),
        goals=with_rows(goals),
    )
