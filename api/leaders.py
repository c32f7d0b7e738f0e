"""Which ads lead, kept from snapshot to snapshot, so that somebody can be told which are new."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from api import db
from api.models import Leader, Profile
from api.snapshot import snapshots
from api.v1.top_performers import queries
from touchledger.settings import Settings


def noting() -> Callable[[Settings], int]:
    """The chore that looks at each snapshot once per process; a second look at the same one would change nothing."""
    looked_at: str | None = None

    def note_new(settings: Settings) -> int:
        nonlocal looked_at
        with snapshots(settings).reader() as reader:
            if reader is None or reader.snapshot_id == looked_at:
                return 0
            leading: dict[str, set[str]] = defaultdict(set)
            for profile_id, ad_id in queries.leaders(reader):
                leading[profile_id].add(ad_id)
            with db.transaction(settings.operational_url) as session:
                found = sum(note(session, one, leading[one], db.now()) for one in session.scalars(_live()).all())
            looked_at = reader.snapshot_id
        return found

    return note_new


def note(session: Session, profile_id: str, leading: set[str], at: datetime) -> int:
    """Bring a profile's leaders up to these ads; gives how many are new."""
    of_profile = Leader.profile_id == profile_id
    known = set(session.scalars(sa.select(Leader.ad_id).where(of_profile)))
    for lost in known - leading:
        session.execute(sa.delete(Leader).where(of_profile, Leader.ad_id == lost))
    new = [{"profile_id": profile_id, "ad_id": one, "since": at} for one in sorted(leading - known)]
    if new:
        insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
        # another worker may see the same snapshot at the same moment
        session.execute(insert(Leader).on_conflict_do_nothing(), new)
    return len(new)


def led_since(session: Session, profile_ids: sa.Select[str], since: datetime) -> int:
    """How many ads of these profiles have come to lead since then, and still do."""
    chosen = sa.select(sa.func.count()).select_from(Leader)
    return session.scalar(chosen.where(Leader.profile_id.in_(profile_ids), Leader.since > since)) or 0


def _live() -> sa.Select[str]:
    return sa.select(Profile.id).where(Profile.archived_at.is_(None)).order_by(Profile.id)
