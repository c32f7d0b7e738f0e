"""What a profile's tracker may do: as it was set, or as it is by default, and less on healthcare profiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from api.models import Profile, TrackerSettings, Workspace
from api.reach import is_healthcare

IDLE_MINUTES = 30


@dataclass(frozen=True, slots=True)
class Tracker:
    """The settings a tracker goes by."""

    capture_typed_identity: bool = True
    session_idle_minutes: int = IDLE_MINUTES
    chat_token_enabled: bool = False
    respect_gpc: bool = True


def tracker_of(session: Session, profile: Profile) -> Tracker:
    """The settings of the profile's tracker; on healthcare profiles it never captures what people type."""
    home = session.get_one(Workspace, profile.workspace_id)
    return tracker_as(session.get(TrackerSettings, profile.id), is_healthcare=is_healthcare(home, profile))


def tracker_as(row: Any, *, is_healthcare: bool) -> Tracker:
    """The same for a profile that has this row of `tracker_settings`, or None."""
    if row is None:
        return Tracker(capture_typed_identity=not is_healthcare)
    return Tracker(
        capture_typed_identity=not is_healthcare and row.capture_typed_identity is not False,
        session_idle_minutes=row.session_idle_minutes,
        chat_token_enabled=row.chat_token_enabled,
        respect_gpc=row.respect_gpc,
    )
