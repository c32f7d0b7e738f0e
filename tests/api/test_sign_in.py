"""Sessions that ended: kept for a month, and then no more."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import sqlalchemy as sa

from api import db, sign_in, worker
from api.models import UserSession
from tests.factories import people
from tests.factories.deployments import settings_of


def test_a_session_that_ended_a_month_ago_is_forgotten(home: Path, database_url: str) -> None:
    """Each stayed for good, with what its browser calls itself."""
    ada, at = people.user(database_url), db.now()
    day = timedelta(days=1)
    kept = {
        "in use": {"last_seen_at": at},
        "idle for a month": {"last_seen_at": at - 36 * day, "expires_at": at - 7 * day},
        "signed out a month ago": {"last_seen_at": at - 29 * day, "revoked_at": at - 29 * day},
    }
    gone = {
        "idle for long": {"last_seen_at": at - 38 * day},
        "over for long": {"expires_at": at - 31 * day},
        "signed out long ago": {"revoked_at": at - 31 * day},
    }
    with db.transaction(database_url) as session:
        for name, facts in {**kept, **gone}.items():
            made = UserSession(user_id=ada.id, digest=name, user_agent=name, last_seen_at=at, expires_at=at + day)
            for member, value in facts.items():
                setattr(made, member, value)
            session.add(made)
    settings = settings_of(home, database_url)
    (chore,) = [one for one in worker.chores(settings) if one.do is sign_in.forget_ended]
    chore.run(settings, 0.0)
    with db.transaction(database_url) as session:
        assert set(session.scalars(sa.select(UserSession.user_agent))) == set(kept)
