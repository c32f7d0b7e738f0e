"""Forgetting what is old in pieces: one long deletion keeps everybody who writes waiting until it ends."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute

from api import db
from touchledger.settings import Settings

# rows that one transaction looks at, and transactions of one round
PIECE = 1_000
PIECES = 10


def forgetting(
    moment: InstrumentedAttribute[datetime], kept_for: timedelta, *over: sa.ColumnElement[bool]
) -> Callable[[Settings], int]:
    """Deletes rows of a table whose `moment`, when they were made, is that long ago and of which all of `over` is true.

    To be called again and again: each round looks at `PIECE * PIECES` rows, goes on where the one before it ended, and
    gives how many it deleted. The table's `id`s are UUIDv7, so that the oldest rows come first.
    """
    model = moment.class_
    rows = sa.select(model.id, moment).order_by(model.id).limit(PIECE)
    after = ""

    def round_(settings: Settings) -> int:
        nonlocal after
        deleted = 0
        for _ in range(PIECES):
            with db.transaction(settings.operational_url) as session:
                piece = session.execute(rows.where(model.id > after)).all()
                old = [id_ for id_, made in piece if made < db.now() - kept_for]
                gone = sa.delete(model).where(model.id.in_(old), *over).returning(model.id)
                deleted += len(session.scalars(gone, execution_options={"synchronize_session": False}).all())
            # behind a piece of which nothing is old there is nothing old either
            after = piece[-1].id if old else ""
            if not old:
                break
        return deleted

    return round_
