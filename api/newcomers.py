"""Which ads lead and which studies are over, kept from snapshot to snapshot, so that people hear what is new."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import InstrumentedAttribute, Session

from api import db
from api.models import FinishedStudy, Leader, Profile
from api.snapshot import snapshots
from api.v1.top_performers import queries
from api.v1.workspaces import experiment_queries
from touchledger.settings import Settings

Kept = InstrumentedAttribute[str]


def noting() -> Callable[[Settings], int]:
    """The chore that looks at each snapshot once per process; a second look at the same one would change nothing."""
    looked_at: str | None = None

    def note_new(settings: Settings) -> int:
        nonlocal looked_at
        with snapshots(settings).reader() as reader:
            if reader is None or reader.snapshot_id == looked_at:
                return 0
            seen: dict[Kept, dict[str, set[str]]] = {
                Leader.ad_id: _by_profile(queries.leaders(reader)),
                FinishedStudy.experiment_id: _by_profile(experiment_queries.finished(reader)),
            }
            with db.transaction(settings.operational_url) as session:
                live = session.scalars(_live()).all()
                found = sum(note(session, kept, one, ids[one], db.now()) for kept, ids in seen.items() for one in live)
            looked_at = reader.snapshot_id
        return found

    return note_new


def note(session: Session, kept: Kept, profile_id: str, ids: set[str], at: datetime) -> int:
    """Bring what is kept of a profile up to these ids; gives how many are new."""
    of_profile = kept.class_.profile_id == profile_id
    known = set(session.scalars(sa.select(kept).where(of_profile)))
    for lost in known - ids:
        session.execute(sa.delete(kept.class_).where(of_profile, kept == lost))
    new = [{"profile_id": profile_id, kept.key: one, "since": at} for one in sorted(ids - known)]
    if new:
        insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
        # another worker may see the same snapshot at the same moment
        session.execute(insert(kept.class_).on_conflict_do_nothing(), new)
    return len(new)


def kept_since(session: Session, kept: Kept, profile_ids: sa.Select[str], since: datetime) -> int:
    """How many of these profiles were first seen after that, and have been ever since."""
    chosen = sa.select(sa.func.count()).select_from(kept.class_)
    return session.scalar(chosen.where(kept.class_.profile_id.in_(profile_ids), kept.class_.since > since)) or 0


def _by_profile(found: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    ids: dict[str, set[str]] = defaultdict(set)
    for profile_id, one in found:
        ids[profile_id].add(one)
    return ids


def _live() -> sa.Select[str]:
    return sa.select(Profile.id).where(Profile.archived_at.is_(None)).order_by(Profile.id)
