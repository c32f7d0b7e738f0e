"""Records accepted by the API, landed in the lake: none is lost and none lands twice, wherever a run is killed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from api.db import new_id, transaction
from api.models import IngestedRecord
from orchestration.gathered import held
from orchestration.lake import Lake, Landing

SOURCE = "app"
LARGEST_BATCH = 50_000


@dataclass(frozen=True)
class Batch:
    """Records of one profile and set that land together."""

    profile_id: str
    dataset: str
    name: str


def land_ingested(url: str, lake: Lake) -> list[Landing]:
    """Land everything accepted so far.

    A batch gets its name and its records in the database first; its file is written from them after. A batch whose
    file is missing was cut short, and is written now from the same records.
    """
    _assign(url)
    return land_assigned(url, lake)


def land_assigned(url: str, lake: Lake) -> list[Landing]:
    """Land the batches that have a name and that no file holds."""
    folders: dict[tuple[str, str], set[str]] = {}
    landings = []
    for batch in _named(url):
        place = batch.dataset, batch.profile_id
        if place not in folders:
            folders[place] = held(lake.raw / batch.dataset / batch.profile_id / SOURCE)
        if batch.name not in folders[place]:
            landings.append(_land(url, lake, batch))
    return landings


def waiting(url: str) -> int:
    """How many accepted records have no batch yet."""
    with transaction(url) as session:
        count = sa.select(sa.func.count()).where(IngestedRecord.landed_batch.is_(None))
        return session.scalar(count) or 0


def _assign(url: str) -> None:
    groups = sa.select(IngestedRecord.profile_id, IngestedRecord.dataset).where(IngestedRecord.landed_batch.is_(None))
    with transaction(url) as session:
        open_groups = session.execute(groups.distinct()).all()
    for profile_id, dataset in open_groups:
        while _assign_one(url, Batch(profile_id, dataset, new_id())) == LARGEST_BATCH:
            pass


def _assign_one(url: str, batch: Batch) -> int:
    ids = (
        sa.select(IngestedRecord.id)
        .where(
            IngestedRecord.landed_batch.is_(None),
            IngestedRecord.profile_id == batch.profile_id,
            IngestedRecord.dataset == batch.dataset,
        )
        .order_by(IngestedRecord.id)
        .limit(LARGEST_BATCH)
    )
    name = sa.update(IngestedRecord).where(IngestedRecord.id.in_(ids.scalar_subquery())).values(landed_batch=batch.name)
    with transaction(url) as session:
        result: sa.CursorResult[Any] = session.execute(name, execution_options={"synchronize_session": False})  # type: ignore[assignment]
        return result.rowcount


def _named(url: str) -> list[Batch]:
    columns = (IngestedRecord.profile_id, IngestedRecord.dataset, IngestedRecord.landed_batch)
    # the names are UUIDv7: in their order the batches land as they were made
    chosen = sa.select(*columns).where(IngestedRecord.landed_batch.is_not(None)).distinct().order_by(columns[2])
    with transaction(url) as session:
        return [Batch(profile_id, dataset, name or "") for profile_id, dataset, name in session.execute(chosen)]


def _land(url: str, lake: Lake, batch: Batch) -> Landing:
    chosen = (
        sa.select(IngestedRecord.record).where(IngestedRecord.landed_batch == batch.name).order_by(IngestedRecord.id)
    )
    with transaction(url) as session:
        records = session.scalars(chosen).all()
    return lake.land(
        dataset=batch.dataset, profile_id=batch.profile_id, source=SOURCE, batch=batch.name, records=records
    )
