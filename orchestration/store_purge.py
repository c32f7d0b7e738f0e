"""Stores that have to be forgotten: what their connection brought leaves the lake before the models read it.

Orders of a store name people, and a store that took the app away may ask 48 hours later for all of it to go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

import sqlalchemy as sa
import structlog

from api.db import now, transaction
from api.models import Connection, IngestedRecord, StoreDelivery, StorePurge
from orchestration import durable, ingested
from orchestration.erasure import drop_warehouse
from orchestration.lake import Lake
from orchestration.publish import prune
from touchledger.settings import Settings

# one statement binds at most so many ids
IDS = 500
SETS = ("products", "variants", "orders", "order_lines")
# of what stores tell that it was deleted
DELETED = ("products", "orders")

log = structlog.get_logger(__name__)


def forget_stores(settings: Settings, lake: Lake) -> list[str]:
    """Remove the files of stores that wait for it; gives their connections.

    The caller holds the right to write the warehouse, and builds and publishes next; `complete_stores` then ends them.
    What a pull landed after a store was forgotten has that store wait again.
    """
    purged = sa.select(Connection, StorePurge).join(StorePurge, StorePurge.connection_id == Connection.id)
    with transaction(settings.operational_url) as session:
        known = session.execute(purged).all()
    waiting = [one for one, purge in known if purge.files_removed_at is None or any(_synced(lake, one))]
    if not waiting:
        return []
    ids = [connection.id for connection in waiting]
    _note(settings, ids, None)
    with durable.exclusive(lake.root / ".lock"):
        for connection in waiting:
            for path in _synced(lake, connection):
                path.unlink()
            _forget_deletions(settings, lake, connection)
    # batches that told of other stores too are written anew without these
    ingested.land_assigned(settings.operational_url, lake)
    drop_warehouse(settings)
    _note(settings, ids, now())
    log.info("stores forgotten", stores=len(ids))
    return ids


def complete_stores(settings: Settings) -> list[str]:
    """After a publication: drop the older snapshots, and end the removals that it was built without.

    What fails leaves them open, and the next publication does it all again.
    """
    gone = (StorePurge.files_removed_at.is_not(None), StorePurge.completed_at.is_(None))
    with transaction(settings.operational_url) as session:
        done = list(session.scalars(sa.select(StorePurge.connection_id).where(*gone)))
    if not done:
        return []
    prune(settings.published, keep=1)
    with transaction(settings.operational_url) as session:
        ended = sa.update(StorePurge).where(StorePurge.connection_id.in_(done), *gone)
        session.execute(ended.values(completed_at=now()))
    return done


def _note(settings: Settings, ids: Sequence[str], files_removed_at: datetime | None) -> None:
    chosen = sa.update(StorePurge).where(StorePurge.connection_id.in_(ids))
    with transaction(settings.operational_url) as session:
        session.execute(chosen.values(files_removed_at=files_removed_at, completed_at=None))


def _synced(lake: Lake, connection: Connection) -> Iterator[Path]:
    for dataset in SETS:
        yield from _files(lake, Path(dataset, connection.profile_id, connection.provider), connection.id)


def _forget_deletions(settings: Settings, lake: Lake, connection: Connection) -> None:
    """Drop what the store told of products and orders it deleted; that landed as records of our own, not of a sync."""
    told = sa.select(StoreDelivery).where(
        StoreDelivery.connection_id == connection.id, StoreDelivery.outcome == "deleted"
    )
    with transaction(settings.operational_url) as session:
        keys = [one.deletion_key for one in session.scalars(told)]
        of_store = (IngestedRecord.profile_id == connection.profile_id, IngestedRecord.dataset.in_(DELETED))
        for start in range(0, len(keys), IDS):
            mine = (*of_store, IngestedRecord.record_key.in_(keys[start : start + IDS]))
            chosen = sa.select(IngestedRecord.dataset, IngestedRecord.landed_batch).where(*mine).distinct()
            for dataset, batch in session.execute(chosen).all():
                # the file first: killed in between, it is written again from records that are still there
                if batch is not None:
                    for path in _files(lake, Path(dataset, connection.profile_id, ingested.SOURCE), batch):
                        path.unlink()
            session.execute(sa.delete(IngestedRecord).where(*mine))


def _files(lake: Lake, folder: Path, batch: str) -> Iterator[Path]:
    # quarantine first: a quarantine file without its raw file would be an orphan that nobody counts; what was put
    # together of a connection has its id behind the beginning
    for root in (lake.quarantine, lake.raw):
        yield from (root / folder).glob(f"*{batch}*")
