"""Whether the lake and the operational database are of one deployment, before anything is built of both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa

from api.db import transaction
from api.models import Connection, Import, Profile
from api.models.connection import ASKED
from data_contracts.contract import landed
from orchestration.ingested import SOURCE as APP
from orchestration.lake import Lake


class StrangeDatabaseError(RuntimeError):
    """The database knows none of the profiles whose rows the lake holds; the message says what to do."""


class LostLakeError(RuntimeError):
    """The lake holds nothing of what the database says was landed; the message says what to do."""


def require_its_database(url: str, lake: Lake) -> None:
    """Raise StrangeDatabaseError rather than have an empty snapshot published over the figures of another database.

    Archived profiles are known. A lake may hold some that are not: those of a database newer than a backup of it.
    """
    holders = _holders(lake)
    if not holders:
        return
    with transaction(url) as session:
        known = sa.select(sa.exists().where(Profile.id.in_(sorted(holders))))
        if session.scalar(known):
            return
    raise StrangeDatabaseError(
        f"the operational database knows none of the profiles whose rows {lake.root} holds: name the database that "
        "they were landed from in TOUCHLEDGER_DATABASE_URL, or put its backup in its place (docs/runbook.md); "
        "to begin anew, move that folder away"
    )


def require_its_lake(url: str, lake: Lake) -> None:
    """Raise LostLakeError rather than have a snapshot published without what files and accounts brought.

    A lake that holds anything of them is believed: which of its files are gone nobody knows who only builds. What this
    deployment was sent itself is in the database, and landed anew.
    """
    if any(path.parts[-2] != APP for path in _files(lake)):
        return
    living = sa.select(Profile.id).where(Profile.archived_at.is_(None))
    loaded = sa.and_(Import.status == "loaded", Import.profile_id.in_(living))
    pulled = sa.and_(
        Connection.synced_through.is_not(None), Connection.status.in_(ASKED), Connection.profile_id.in_(living)
    )
    with transaction(url) as session:
        files, accounts = (
            session.scalar(sa.select(sa.func.count()).select_from(table).where(chosen))
            for table, chosen in ((Import, loaded), (Connection, pulled))
        )
    if files or accounts:
        raise LostLakeError(
            f"{lake.root} holds nothing of {files} imported files and {accounts} pulled accounts that the operational "
            "database knows: put its backup in its place (docs/runbook.md)"
        )


def _files(lake: Lake) -> Iterator[Path]:
    return (path for dataset in landed() for path in (lake.raw / dataset).glob("*/*/*.parquet"))


def _holders(lake: Lake) -> set[str]:
    return {path.parts[-3] for path in _files(lake)} - {"_shared"}
