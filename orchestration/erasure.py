"""Erasures: whoever asked to be forgotten is renamed at random wherever something was kept, then all is rebuilt.

The person's identifiers are those that the models find in all that has landed. Files are rewritten whole, the warehouse
is built from nothing, older snapshots are dropped, and the secret that made the random names is destroyed.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

import duckdb
import sqlalchemy as sa

from api.db import now, transaction
from api.erased import digest
from api.erased_records import redact_records, remember, rename_payers
from api.models import ErasedIdentifier, Erasure
from api.warehouse_ids import identifier_id
from api.webhooks.telling import customer_erased
from orchestration import database_files, durable, erased_person, spark, spark_run
from orchestration.app_sets import land_payers
from orchestration.dbt_manifest import run_dbt, words
from orchestration.erased_files import rewrite_inbox
from orchestration.erased_lake import rewrite_lake, told_beside
from orchestration.erased_person import Found
from orchestration.lake import Lake
from orchestration.publish import prune
from orchestration.raw_rows import spill_folder
from orchestration.written_anew import compact
from touchledger.settings import Settings

OPEN = ("received", "processing", "failed")
PEOPLE = [
    "build",
    "--quiet",
    "--no-write-json",
    "--resource-type",
    "model",
    "--resource-type",
    "seed",
    "--select",
    "+int_person_identifiers",
]
RESOLVED = """
select i.kind, i.value, i.person_key, i.is_shared
from intermediate.int_person_identifiers as i
join intermediate.int_profiles as p on i.profile_key = p.profile_key
where p.profile_id = ?
"""
ROWS_AT_ONCE = 20_000


class ErasureError(RuntimeError):
    """A person could not be taken out of everything; nothing is published before that is done."""


def waiting(url: str) -> list[Erasure]:
    """Erasures that are not completed, oldest first."""
    with transaction(url) as session:
        return list(session.scalars(sa.select(Erasure).where(Erasure.status.in_(OPEN)).order_by(Erasure.id)))


def erase_waiting(settings: Settings, lake: Lake) -> list[Erasure]:
    """Take everybody whose erasure waits out of the lake, the inbox and the database, and drop the warehouse.

    The caller holds the right to write the warehouse, has landed what was sent, and builds and publishes next;
    `complete_erasures` then ends them. Raises ErasureError; what was done stays done, and the next call does the rest.
    """
    open_ones = [erasure for erasure in waiting(settings.operational_url) if erasure.rewritten_at is None]
    if not open_ones:
        return []
    _mark(settings, open_ones, "processing")
    try:
        counts = _erase_all(settings, lake, open_ones)
    except Exception as error:
        _mark(settings, open_ones, "failed")
        raise ErasureError(
            f"an erasure did not end: {type(error).__name__}; it is tried again with the next build"
        ) from error
    finally:
        drop_warehouse(settings)
    # not before the warehouse is gone: killed in between, nobody would drop the one that knows them
    _end(settings, counts)
    return open_ones


def _erase_all(settings: Settings, lake: Lake, open_ones: Sequence[Erasure]) -> dict[str, Mapping[str, int]]:
    # those broken off first: in a lake that is half without them, others would be taken for who shares a device
    counts = {
        erasure.id: _erase(settings, lake, erasure, erased_person.again(erasure, erasure.found))
        for erasure in open_ones
        if erasure.found is not None
    }
    fresh = [erasure for erasure in open_ones if erasure.found is None]
    if fresh:
        _resolve(settings)
    for erasure in fresh:
        found = _found(settings, erasure)
        _take_rejected(settings, lake, found)
        counts[erasure.id] = _erase(settings, lake, erasure, found)
    return counts


def _end(settings: Settings, counts: Mapping[str, Mapping[str, int]]) -> None:
    with transaction(settings.operational_url) as session:
        for erasure in session.scalars(sa.select(Erasure).where(Erasure.id.in_(counts))):
            erasure.rewritten_at, erasure.found = now(), None
            erasure.counts = {**erasure.counts, **counts[erasure.id]}


def drop_warehouse(settings: Settings) -> None:
    """Remove the warehouse's file, whose pages keep what was deleted, and all that killed builds and checks left."""
    files = [path for name in (settings.warehouse, spark.building(settings)) for path in database_files.whole(name)]
    # not the folder: a database that has spilled into it once does not make it again
    spilled = spill_folder(settings).glob("*")
    durable.remove(settings.home / "warehouse.base", settings.home / "warehouse.built", *files, *spilled)
    # what another engine's run leaves is else cleared by the next one of that engine, if there ever is one
    spark_run.clear(settings)


def complete_erasures(settings: Settings) -> list[str]:
    """After a publication: drop what older files still hold of the erasures it was built without, and end them.

    What fails leaves them open, and the next publication does it all again.
    """
    url = settings.operational_url
    with transaction(url) as session:
        done = sa.select(Erasure).where(Erasure.status == "processing", Erasure.rewritten_at.is_not(None))
        ids = [erasure.id for erasure in session.scalars(done)]
        # before the database is written anew, so that no free page keeps a secret
        session.execute(sa.update(Erasure).where(Erasure.id.in_(ids)).values(secret=None))
    if not ids:
        return []
    prune(settings.published, keep=1)
    compact(url)
    with transaction(url) as session:
        for erasure in session.scalars(sa.select(Erasure).where(Erasure.id.in_(ids)).order_by(Erasure.id)):
            erasure.status, erasure.completed_at = "completed", now()
            customer_erased(session, erasure)
    return ids


def _mark(settings: Settings, erasures: Sequence[Erasure], status: str) -> None:
    ids = [erasure.id for erasure in erasures]
    unfinished = sa.update(Erasure).where(Erasure.id.in_(ids), Erasure.rewritten_at.is_(None))
    with transaction(settings.operational_url) as session:
        session.execute(unfinished.values(status=status))


def _resolve(settings: Settings) -> None:
    done = run_dbt(settings, PEOPLE)
    if done.returncode != 0:
        raise ErasureError(f"who is whom could not be found out: {words(done)[-2000:]}")


def _erase(settings: Settings, lake: Lake, erasure: Erasure, found: Found) -> Mapping[str, int]:
    """Take the person out; gives what the receipt is to count."""
    url = settings.operational_url
    with transaction(url) as session:
        ids = found.person.ids
        remember(session, settings.signing_key(), profile_id=erasure.profile_id, erasure_id=erasure.id, ids=ids)
    rewrite_lake(lake, found.person, found.values, learnt=partial(_keep, url, erasure.id, found))
    with transaction(url) as session:
        kept = session.get_one(Erasure, erasure.id)
        # beside what it counts: who does it again finds nothing to redact
        redacted = kept.counts["events_redacted"] + redact_records(session, found.person)
        kept.counts = {**kept.counts, "events_redacted": redacted}
        rename_payers(session, found.person, found.values)
    land_payers(url, lake)
    rewrite_inbox(url, lake, settings.inbox, found.person)
    rows = Counter(found.rows)
    return {
        "identities_removed": max(erasure.counts["identities_removed"], len(found.person.ids)),
        "touches_anonymised": rows["touches"] + rows["ad_referrals"],
        "conversions_anonymised": rows["conversions"] + rows["orders"],
    }


def _keep(url: str, erasure_id: str, found: Found, rows: Mapping[str, int]) -> None:
    """Before the first file is without the person: whoever is killed has the next one know whom it was about."""
    if found.rows is not None:
        return
    found.rows = dict(rows)
    with transaction(url) as session:
        session.get_one(Erasure, erasure_id).found = found.kept()


def _found(settings: Settings, erasure: Erasure) -> Found:
    sought, key = _digests(settings, erasure), settings.signing_key()
    with duckdb.connect(str(settings.warehouse), read_only=True) as connection:
        known = connection.execute(RESOLVED, [erasure.profile_id])
        # a profile may know of millions
        rows = itertools.chain.from_iterable(iter(lambda: known.fetchmany(ROWS_AT_ONCE), []))
        named = [row for row in rows if digest(key, identifier_id(erasure.profile_id, *row[:2])) in sought]
        surest = max((_is_sure(kind, is_shared) for kind, _, _, is_shared in named), default=0)
        people = {person for kind, _, person, is_shared in named if _is_sure(kind, is_shared) == surest}
        of_them = f"{RESOLVED} and list_contains(?, i.person_key)"
        theirs = connection.execute(of_them, [erasure.profile_id, sorted(people)]).fetchall()
    # what fell to somebody else since goes under another name as what others share does, and they stay
    fell = [(kind, value, True) for kind, value, person, _ in named if person not in people]
    return erased_person.of(erasure, [*((kind, value, is_shared) for kind, value, _, is_shared in theirs), *fell])


def _is_sure(kind: str, is_shared: bool) -> int:
    """How surely an identifier tells who was meant: with what is known since, a device may be another person's."""
    if is_shared:
        return 0
    return 1 if kind == "anonymous_id" else 2


def _take_rejected(settings: Settings, lake: Lake, found: Found) -> None:
    """Take for the person's what rejected records alone tell beside the person's own identifiers."""
    person, beside = found.person, told_beside(lake, found.person)
    with duckdb.connect(str(settings.warehouse), read_only=True) as connection:
        values = sorted({value for _, value in beside})
        told = connection.execute(f"{RESOLVED} and list_contains(?, i.value)", [person.profile_id, values]).fetchall()
    for kind, value in sorted(beside - {(kind, value) for kind, value, _, _ in told}):
        found.add(kind, value)


def _digests(settings: Settings, erasure: Erasure) -> frozenset[str]:
    chosen = sa.select(ErasedIdentifier.digest).where(ErasedIdentifier.erasure_id == erasure.id)
    with transaction(settings.operational_url) as session:
        return frozenset(session.scalars(chosen))
