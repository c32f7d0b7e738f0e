"""What trackers sent, landed in the lake; its content leaves the operational database once a file holds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from api.db import new_id, transaction
from api.models import CollectedEvent
from orchestration.gathered import held
from orchestration.lake import Lake, Landing

DATASET, SOURCE = "page_events", "app"
LARGEST_BATCH = 50_000

_WAITING = CollectedEvent.body.is_not(None)


@dataclass(frozen=True)
class Batch:
    """Events of one profile that land together."""

    profile_id: str
    name: str


def land_collected(url: str, lake: Lake) -> list[Landing]:
    """Land everything collected so far, and empty the bodies of what is landed.

    A batch gets its name and its events in the database first; its file is written from them after, and only then are
    they emptied. A batch that was cut short is finished from the same events.
    """
    _assign(url)
    return [landing for batch in _named(url) if (landing := _land(url, lake, batch)) is not None]


def _assign(url: str) -> None:
    groups = sa.select(CollectedEvent.profile_id).where(_WAITING, CollectedEvent.landed_batch.is_(None))
    with transaction(url) as session:
        open_groups = session.scalars(groups.distinct()).all()
    for profile_id in open_groups:
        while _assign_one(url, Batch(profile_id, new_id())) == LARGEST_BATCH:
            pass


def _assign_one(url: str, batch: Batch) -> int:
    ids = (
        sa.select(CollectedEvent.id)
        .where(_WAITING, CollectedEvent.landed_batch.is_(None), CollectedEvent.profile_id == batch.profile_id)
        .order_by(CollectedEvent.id)
        .limit(LARGEST_BATCH)
    )
    with transaction(url) as session:
        return _changed(session, CollectedEvent.id.in_(ids.scalar_subquery()), landed_batch=batch.name)


def _named(url: str) -> list[Batch]:
    columns = (CollectedEvent.profile_id, CollectedEvent.landed_batch)
    # the names are UUIDv7: in their order the batches land as they were made
    chosen = sa.select(*columns).where(_WAITING, CollectedEvent.landed_batch.is_not(None)).distinct()
    with transaction(url) as session:
        return [Batch(profile_id, name or "") for profile_id, name in session.execute(chosen.order_by(columns[1]))]


def _land(url: str, lake: Lake, batch: Batch) -> Landing | None:
    """The landing of a batch; None for one whose file was there already."""
    landing = None
    of_batch = CollectedEvent.landed_batch == batch.name
    if batch.name not in held(lake.raw / DATASET / batch.profile_id / SOURCE):
        with transaction(url) as session:
            records = session.scalars(sa.select(CollectedEvent.body).where(of_batch).order_by(CollectedEvent.id)).all()
        landing = lake.land(
            dataset=DATASET,
            profile_id=batch.profile_id,
            source=SOURCE,
            batch=batch.name,
            records=[record for record in records if record is not None],
        )
    with transaction(url) as session:
        _changed(session, of_batch, _WAITING, body=None)
    return landing


def _changed(session: Any, *where: Any, **to: Any) -> int:
    change = sa.update(CollectedEvent).where(*where).values(**to)
    result: sa.CursorResult[Any] = session.execute(change, execution_options={"synchronize_session": False})
    return result.rowcount
