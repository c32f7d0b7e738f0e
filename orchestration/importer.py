"""The importer: one file into the lake, once; what became of it is an `imports` row."""

from __future__ import annotations

import difflib
import hashlib
import traceback
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pyarrow.parquet as pq
import sqlalchemy as sa
import structlog
from sqlalchemy.orm import Session

from api.db import transaction
from api.models import Import, Profile
from api.webhooks.telling import import_finished
from data_contracts.contract import Contract, inbound
from orchestration.app_sets import land_calendar
from orchestration.door import admitted
from orchestration.lake import Lake, Landing
from orchestration.lake_owners import require_its_lake
from orchestration.readers import Record, legible, read_records, reader_of
from orchestration.text_lines import FileRejectedError

log = structlog.get_logger(__name__)

SOURCE = "file"
SHARED = "_shared"
MOST_ERRORS = 100
# sets of the whole deployment: they belong to no profile
SHARED_SETS = frozenset({"fx_rates"})


class CannotImportError(ValueError):
    """The file was not looked at: no such set, no such profile, or the set is not one of a profile."""


def import_file(url: str, lake: Lake, *, dataset: str, path: Path, profile_id: str | None) -> Import:
    """Land one file and record it; `profile_id` is None for deployment-wide sets.

    The same bytes for the same set and profile are the earlier import, unless that was rejected: then the file is
    tried again. What was judged by another contract than that of today is judged anew, at its place among the files,
    and what the lake has lost is landed again, as the newest of them. A rejected file lands nothing and has its reason,
    also where reading it failed in a way of its own. Raises CannotImportError, OSError, and LostLakeError for a file
    that was not loaded before.
    """
    scope, digest = profile_id or SHARED, digest_of(path)
    with transaction(url) as session:
        contract = placed(session, dataset, profile_id)
        earlier = import_of(session, scope, dataset, digest)
        if earlier is not None and earlier.status == "queued":
            earlier.status = "loading"
    if earlier is not None and earlier.status == "loaded":
        judge = lake.judged_by(dataset=dataset, profile_id=profile_id, source=SOURCE, batch=digest)
        if judge == contract.fingerprint:
            return earlier
    else:
        # beside the first new file, no build would see that the others are gone
        require_its_lake(url, lake)
    # landed before it is recorded: a crash in between lands the same batch again, which changes nothing
    outcome = Import(
        profile_id=profile_id, scope=scope, dataset=dataset, file_name=legible(path.name)[:255], sha256=digest
    )
    _load(url, lake, contract, path, outcome)
    with transaction(url) as session:
        recorded = _record(session, outcome)
        import_finished(session, recorded)
        return recorded


def lost_imports(url: str, lake: Lake) -> list[Import]:
    """What was loaded and is in the lake no more, oldest first; of profiles that live, for a purge takes the rest."""
    lives = sa.or_(
        Import.profile_id.is_(None), Import.profile_id.in_(sa.select(Profile.id).filter_by(archived_at=None))
    )
    with transaction(url) as session:
        loaded = session.scalars(sa.select(Import).where(Import.status == "loaded", lives).order_by(Import.created_at))
        return [one for one in loaded if not _is_landed(lake, one)]


def _is_landed(lake: Lake, one: Import) -> bool:
    return lake.holds(dataset=one.dataset, profile_id=one.profile_id, source=SOURCE, batch=one.sha256)


def replay_quarantine(url: str, lake: Lake) -> list[Landing]:
    """Judge every quarantined record again; gives the batches that changed, and keeps their imports' counts right.

    Those of a replay that was killed before it had counted come right too.
    """
    replayed = lake.replay()
    with transaction(url) as session:
        told = sa.select(Import.dataset).where(Import.rows_quarantined > 0).distinct()
        batches = [one for dataset in session.scalars(told) for one in lake.batches(dataset) if one.source == SOURCE]
        for landing in batches:
            imported = import_of(session, landing.profile_id or SHARED, landing.dataset, landing.batch)
            if imported is not None and imported.rows_quarantined != landing.rows_quarantined:
                _count(imported, landing)
    return replayed


def land_calendars(lake: Lake) -> list[Landing]:
    """Land the calendars of the zones that ad accounts in files have their days in; a pull lands that of its own."""
    told = [one.path for one in lake.batches("ad_accounts") if one.source == SOURCE]
    zones = {zone for path in told for zone in pq.read_table(path, columns=["timezone"])["timezone"].to_pylist()}
    # a row that is withdrawn tells none
    return [land_calendar(lake, zone) for zone in sorted(zones - {None})]


def placed(session: Session, dataset: str, profile_id: str | None) -> Contract:
    """The contract of the files of that set and profile. Raises CannotImportError where there can be none."""
    contract = contract_of(dataset)
    if (profile_id is None) != (dataset in SHARED_SETS):
        raise CannotImportError(f"{dataset} belongs to {'no' if profile_id else 'a'} profile")
    profile = session.get(Profile, profile_id) if profile_id is not None else None
    if profile_id is not None and (profile is None or profile.archived_at is not None):
        raise CannotImportError(f"there is no profile {profile_id}; `touchledger profile list` tells which there are")
    return contract


def contract_of(dataset: str) -> Contract:
    """The inbound contract of that name. Raises CannotImportError, naming the nearest one."""
    if dataset in inbound():
        return inbound()[dataset]
    near = difflib.get_close_matches(dataset[:100], inbound(), n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(inbound())}"
    raise CannotImportError(f"there is no data set {dataset[:100]!r}; {hint}")


def digest_of(path: Path) -> str:
    """SHA-256 of the file's bytes, remembered while its size and time stay the same."""
    stat = path.stat()
    return _digest(path, stat.st_size, stat.st_mtime_ns)


# who looks at an inbox goes through its files in order: of one more than are remembered, none would be
@lru_cache(maxsize=200_000)
def _digest(path: Path, _size: int, _modified: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def import_of(session: Session, scope: str, dataset: str, digest: str) -> Import | None:
    chosen = sa.select(Import).where(Import.scope == scope, Import.dataset == dataset, Import.sha256 == digest)
    return session.scalars(chosen).one_or_none()


def _load(url: str, lake: Lake, contract: Contract, path: Path, outcome: Import) -> None:
    try:
        landing = _land(url, lake, contract, path, outcome)
    except FileRejectedError as error:
        _reject(outcome, str(error))
        return
    except (OSError, sa.exc.SQLAlchemyError):
        # the disk's fault or the database's: the file is tried again
        raise
    except Exception as error:
        # a fault of ours over this content, which no later build would fare better with, nor the files behind it
        # told without the error's text and without values, which are of the file
        where = traceback.format_tb(error.__traceback__)[-1]
        log.error("file could not be read", dataset=contract.name, error=type(error).__name__, where=where)
        _reject(outcome, f"{outcome.file_name}: could not be read")
        return
    outcome.status = "loaded"
    _count(outcome, landing)


def _reject(outcome: Import, reason: str) -> None:
    outcome.status, outcome.reason = "rejected", reason[:500]
    outcome.rows_in = outcome.rows_loaded = outcome.rows_quarantined = 0


def _count(outcome: Import, landing: Landing) -> None:
    outcome.rows_in, outcome.rows_loaded = landing.rows_in, landing.rows_loaded
    outcome.rows_quarantined = landing.rows_quarantined
    outcome.errors = landing.bad_rows(MOST_ERRORS)


def _land(url: str, lake: Lake, contract: Contract, path: Path, outcome: Import) -> Landing:
    return lake.land(
        dataset=contract.name,
        profile_id=outcome.profile_id,
        source=SOURCE,
        batch=outcome.sha256,
        records=admitted(url, lake, contract, outcome.profile_id, _unmoved(contract, path, outcome.sha256)),
        keeps_place=True,
    )


def _unmoved(contract: Contract, path: Path, digest: str) -> Iterator[Record]:
    """The records, provided that the file is still the one whose bytes were hashed when the last was read."""
    yield from read_records(contract, path)
    if digest_of(path) != digest:
        raise FileRejectedError(f"{legible(path.name)}: the file changed while it was read")


def _record(session: Session, outcome: Import) -> Import:
    earlier = import_of(session, outcome.scope, outcome.dataset, outcome.sha256)
    if earlier is None:
        session.add(outcome)
        return outcome
    if reader_of(earlier.file_name) is None:
        # it has been given a name that says how to read it
        earlier.file_name = outcome.file_name
    for name in ("status", "reason", "rows_in", "rows_loaded", "rows_quarantined"):
        setattr(earlier, name, getattr(outcome, name))
    if outcome.reason is not None and outcome.reason.startswith(f"{outcome.file_name}: "):
        # an upload lies under the hash of its bytes, and is known by the name that it was given
        said = outcome.reason.removeprefix(f"{outcome.file_name}: ")
        earlier.reason = f"{earlier.file_name}: {said}"[:500]
    earlier.errors = outcome.errors or []
    return earlier
