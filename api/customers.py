"""Which people a profile knows: those of the published snapshot, by digests, and those only just sent."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import auth, context
from api.customer_keys import customer_key
from api.erased import digest
from api.erased_records import erased_among, is_anybody_erased
from api.models import ErasedIdentifier, IngestedRecord, Run
from api.served import ProfileFacts, Reader, profile_facts
from api.snapshot import snapshots
from api.warehouse_ids import identifier_id

# in the order in which a row's identifiers speak for its person (the macro identifier_kinds)
KINDS = ("person_key", "external_id", "payment_customer_id", "email", "phone", "anonymous_id")

_PEOPLE = """
select identifier_id, person_ref from person_identifiers
where profile_key = $profile_key and identifier_id = any($ids)
"""
# the identifier that gave the person its id comes last, and so is what a dict keeps: a person holds it longest
_KEPT_LONGEST = """
select person_ref, identifier_id from person_identifiers
where profile_key = $profile_key and person_ref = any($refs)
order by person_ref, alias_ref = person_ref, identifier_id desc
"""
_IDENTIFIERS = """
select person_key, identifier_id from person_identifiers
where profile_key = $profile_key and person_key = any($keys)
"""
_IDENTIFIERS_OF = """
select person_ref, identifier_id from person_identifiers
where profile_key = $profile_key and person_ref = any($refs)
"""
_ALIVE = """
select distinct person_ref from person_identifiers
where profile_key = $profile_key and person_ref = any($refs)
"""


class Directory:
    """The people of one profile in one snapshot; knows nobody before the first."""

    def __init__(self, reader: Reader | None, profile_id: str) -> None:
        facts = profile_facts(reader, profile_id) if reader else None
        self._reader, self._profile_id = (reader, profile_id) if facts else (None, profile_id)
        self._profile_key = facts.profile_key if facts else None

    def people(self, named: Collection[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Person ids of the (kind, value) pairs that somebody has; values in their normal form."""
        ids = {identifier_id(self._profile_id, kind, value): (kind, value) for kind, value in named}
        return {ids[one]: person for one, person in self._rows(_PEOPLE, ids=list(ids))}

    def references(self, references: Collection[str]) -> set[str]:
        """Which of these own references (external_ref) somebody of the snapshot has."""
        return {value for _, value in self.people([("external_id", one) for one in references])}

    def alive(self, person_ids: Collection[str]) -> set[str]:
        """Which of these people are in the snapshot, under this id."""
        return {person for (person,) in self._rows(_ALIVE, refs=list(person_ids))}

    def identifier_of(self, person_ids: Collection[str]) -> dict[str, str]:
        """Of each of these people that is in the snapshot the identifier id that is kept longest."""
        return dict(self._rows(_KEPT_LONGEST, refs=list(person_ids)))

    def erased(self, session: Session, person_ids: Collection[str]) -> set[str]:
        """Which of these people asked to be forgotten after the snapshot was built."""
        return _erased(session, self._profile_id, lambda: self._rows(_IDENTIFIERS_OF, refs=list(person_ids)))

    def _rows(self, sql: str, **bound: list[str]) -> list[tuple[Any, ...]]:
        if self._reader is None or not any(bound.values()):
            return []
        return self._reader.rows(sql, {"profile_key": self._profile_key, **bound})


@contextmanager
def directory() -> Iterator[Directory]:
    """The people of the caller's profile, as published now."""
    with snapshots(context.settings()).reader() as reader:
        yield Directory(reader, auth.current().profile.id)


def key_of(record: Mapping[str, Any], known: Directory) -> str | None:
    """The customer key of the person a row names; None for nobody, and for somebody not yet published."""
    named = [(kind, record[kind]) for kind in KINDS if record.get(kind)]
    people = known.people(named)
    person = next((people[one] for one in named if one in people), None)
    profile_id = auth.current().profile.id
    return person and customer_key(context.settings(), profile_id, person)


def erased_since(session: Session, reader: Reader, profile: ProfileFacts, person_keys: Collection[int]) -> set[int]:
    """Which of these people of the snapshot asked to be forgotten after it was built: they are told to nobody."""
    asked = {"profile_key": profile.profile_key, "keys": list(person_keys)}
    return _erased(session, auth.current().profile.id, lambda: reader.rows(_IDENTIFIERS, asked))


def erasures_told(session: Session) -> int:
    """Grows with every erasure: for the ETag of answers that leave out who was erased since their snapshot."""
    told = sa.select(sa.func.count()).where(ErasedIdentifier.profile_id == auth.current().profile.id)
    return session.scalar(told) or 0


def _erased(session: Session, profile_id: str, identifiers: Callable[[], Iterable[tuple[Any, str]]]) -> set[Any]:
    if not is_anybody_erased(session, profile_id):
        return set()
    key = context.settings().signing_key()
    named = [(person, digest(key, identifier)) for person, identifier in identifiers()]
    gone = erased_among(session, profile_id, {one for _, one in named})
    return {person for person, one in named if one in gone}


def erased_identifiers(session: Session, identifier_ids: Collection[str]) -> set[str]:
    """Which of these identifiers (`identifier_id`) of the caller's profile are of people who asked to be forgotten."""
    return _erased(session, auth.current().profile.id, lambda: [(one, one) for one in identifier_ids])


def names_erased(session: Session, record: Mapping[str, Any]) -> bool:
    """Whether a row names somebody of the caller's profile who asked to be forgotten."""
    profile_id = auth.current().profile.id
    named = [identifier_id(profile_id, kind, record[kind]) for kind in KINDS if record.get(kind)]
    return bool(erased_identifiers(session, named))


def just_sent(session: Session, profile_id: str, external_ids: Collection[str]) -> set[str]:
    """Which own references stand in a record that came after the last publication began."""
    if not external_ids:
        return set()
    reference = IngestedRecord.record["external_id"].as_string()
    named = sa.select(reference).where(reference.in_(list(external_ids)))
    return set(session.scalars(sa.union_all(*(named.where(*part) for part in _unpublished(session, profile_id)))))


def of_nobody(session: Session, references: Collection[str], *, published: Collection[str]) -> set[str]:
    """Which own references name no live customer of the caller's profile: unknown, or of somebody erased since.

    `published` are those of them that somebody of the snapshot has.
    """
    profile_id = auth.current().profile.id
    ids = {identifier_id(profile_id, "external_id", one): one for one in references}
    known = {*published, *just_sent(session, profile_id, set(references) - set(published))}
    return (set(references) - known) | {ids[one] for one in erased_identifiers(session, list(ids))}


def _unpublished(session: Session, profile_id: str) -> list[tuple[sa.ColumnElement[bool], ...]]:
    """What tells the profile's records that no snapshot holds yet, in parts that have none in common."""
    of_profile, batch = IngestedRecord.profile_id == profile_id, IngestedRecord.landed_batch
    published = sa.select(Run.started_at).where(Run.published_at.is_not(None)).order_by(Run.id.desc()).limit(1)
    begun = session.scalar(published)
    if begun is None:
        return [(of_profile,)]
    # batches are named by UUIDv7, which sort by the time they were made
    milliseconds = f"{int(begun.timestamp() * 1000):012x}"
    name = f"{milliseconds[:8]}-{milliseconds[8:]}"
    # as it stands, the profile would have SQLite read all its records of all time, within the sender's transaction
    later = batch >= name, IngestedRecord.profile_id.concat("") == profile_id
    return [(of_profile, batch.is_(None)), later]
