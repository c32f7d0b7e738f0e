"""Whether the lake and the operational database are of one deployment, before anything is built of both."""

from __future__ import annotations

import sqlalchemy as sa

from api.db import transaction
from api.models import Profile
from data_contracts.contract import landed
from orchestration.lake import Lake


class StrangeDatabaseError(RuntimeError):
    """The database knows none of the profiles whose rows the lake holds; the message says what to do."""


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


def _holders(lake: Lake) -> set[str]:
    files = (path for dataset in landed() for path in (lake.raw / dataset).glob("*/*/*.parquet"))
    return {path.parts[-3] for path in files} - {"_shared"}
