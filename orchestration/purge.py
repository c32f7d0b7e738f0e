"""Purges of archived profiles: their files go before the models read them, and the next snapshot is the only one kept.

Their rows in the operational database went with the archive (`api/purge.py`).
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import sqlalchemy as sa
import structlog

from api.db import now, transaction
from api.models import Profile, Purge
from api.purge import remove_rows
from data_contracts.contract import landed
from orchestration import durable
from orchestration.app_sets import land_app_sets
from orchestration.erasure import drop_warehouse
from orchestration.lake import Lake
from orchestration.publish import prune
from orchestration.written_anew import compact
from touchledger.settings import Settings

log = structlog.get_logger(__name__)


def waiting(url: str) -> list[Purge]:
    """Purges that are not completed, oldest first."""
    with transaction(url) as session:
        return list(session.scalars(sa.select(Purge).where(Purge.completed_at.is_(None)).order_by(Purge.requested_at)))


def purge_waiting(settings: Settings, lake: Lake) -> list[str]:
    """Remove the files of archived profiles; gives whose purge it was.

    The caller holds the right to write the warehouse, has landed what was sent, and builds and publishes next;
    `complete_purges` then ends them. What a pull landed after a purge opens it again, for a build may have read that.
    """
    url = settings.operational_url
    with transaction(url) as session:
        archived = session.scalars(sa.select(Profile.id).where(Profile.archived_at.is_not(None))).all()
        for profile_id in archived:
            if _has_landed(lake, profile_id):
                # before its files go: killed in between, the next build does the rest
                session.merge(Purge(profile_id=profile_id, files_removed_at=None, completed_at=None))
        session.flush()
        open_ones = session.scalars(sa.select(Purge.profile_id).where(Purge.files_removed_at.is_(None))).all()
    _remove_files(settings, lake, archived)
    if not open_ones:
        return []
    drop_warehouse(settings)
    with transaction(url) as session:
        # a request that was let in before the archive may have ended after it
        remove_rows(session, open_ones)
        session.execute(sa.update(Purge).where(Purge.profile_id.in_(open_ones)).values(files_removed_at=now()))
    land_app_sets(url, lake)
    log.info("archived profiles purged", profiles=len(open_ones))
    return list(open_ones)


def complete_purges(settings: Settings) -> list[str]:
    """After a publication: drop what older files still hold of the purges it was built without, and end them.

    What fails leaves them open, and the next publication does it all again.
    """
    gone = (Purge.files_removed_at.is_not(None), Purge.completed_at.is_(None))
    with transaction(settings.operational_url) as session:
        done = list(session.scalars(sa.select(Purge.profile_id).where(*gone)))
    if not done:
        return []
    prune(settings.published, keep=1)
    compact(settings.operational_url)
    with transaction(settings.operational_url) as session:
        session.execute(sa.update(Purge).where(Purge.profile_id.in_(done), *gone).values(completed_at=now()))
    return done


def _has_landed(lake: Lake, profile_id: str) -> bool:
    return any(True for dataset in landed() for _ in (lake.raw / dataset / profile_id).glob("*/*.parquet"))


def _remove_files(settings: Settings, lake: Lake, profile_ids: Sequence[str]) -> None:
    with durable.exclusive(lake.root / ".lock"):
        for profile_id in profile_ids:
            # quarantine first: a quarantine file without its raw file would be an orphan that nobody counts
            for root in (lake.quarantine, lake.raw):
                for dataset in landed():
                    _remove(root / dataset / profile_id)
            _remove(settings.inbox / profile_id)


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
