"""When what came in now will be seen: the pipeline looks for new input every minute, and a build takes its time."""

from __future__ import annotations

from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api.db import now
from api.models import Run
from touchledger.settings import LOOK_EVERY_SECONDS

LAST_BUILDS = 5
# before the first build, which is the longest, nothing has been measured
UNMEASURED = timedelta(minutes=5)
ABANDONED = timedelta(hours=4)


def expected_at(session: Session) -> datetime:
    """The latest instant, in whole seconds, at which the next build should be published.

    One look of the sensor, then the longest of the last five builds; twice that while a build runs, because what came
    in after it began waits for the one after it. It supposes that `touchledger up` or a Dagster daemon is running.
    """
    published = sa.select(Run).where(Run.published_at.is_not(None)).order_by(Run.id.desc()).limit(LAST_BUILDS)
    lasted = [run.published_at - run.started_at for run in session.scalars(published) if run.published_at]
    build = max(lasted, default=UNMEASURED)
    rounds = 2 if _is_building(session) else 1
    at = now() + timedelta(seconds=LOOK_EVERY_SECONDS + 1) + rounds * build
    return at.replace(microsecond=0)


def _is_building(session: Session) -> bool:
    newest = session.scalar(sa.select(Run).order_by(Run.id.desc()).limit(1))
    return newest is not None and newest.published_at is None and now() - newest.started_at < ABANDONED
