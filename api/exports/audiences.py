"""Customer lists of partners: who is meant, who must not be on one, and by which hashes a platform finds the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import errors
from api.customer_keys import person_of
from api.erased import digest as erased_digest
from api.erased_records import erased_digests
from api.models import AudienceExclusion
from api.served import Reader, profile_facts
from api.v1.profiles.excluded import digest as excluded_digest
from api.warehouse_ids import identifier_id
from connectors.meta_datasets import Person
from touchledger.settings import Settings

MEMBERS = ("customer_key", "external_ref", "email_sha256", "phone_sha256")

_BY_HASH = """
select m.email_sha256, m.phone_sha256, p.person_ref
from match_keys as m
inner join person_identifiers as p on p.profile_key = m.profile_key and p.person_key = m.person_key
where m.profile_key = $profile_key and (m.email_sha256 = any($emails) or m.phone_sha256 = any($phones))
"""
_BY_IDENTIFIER = """
select identifier_id, person_ref from person_identifiers where profile_key = $profile_key and identifier_id = any($ids)
"""
_OF_PEOPLE = """
select p.person_ref, p.identifier_id, m.email_sha256, m.phone_sha256, coalesce(m.is_refused, false) as is_refused
from person_identifiers as p
left join match_keys as m on m.profile_key = p.profile_key and m.person_key = p.person_key
where p.profile_key = $profile_key and p.person_ref = any($people)
"""


@dataclass
class _Known:
    """One person of the snapshot."""

    email: str | None
    phone: str | None
    is_refused: bool
    identifiers: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Whom to send, each once, and how many of the customers given are kept out or lead to nobody.

    `accepted` counts customers, of whom several may be one person.
    """

    people: tuple[Person, ...]
    accepted: int
    excluded: int
    unmatched: int


@dataclass(frozen=True, slots=True)
class Lists:
    """Those the profile keeps out of audiences and those it forgot, as keyed hashes."""

    key: bytes
    excluded: frozenset[str]
    erased: frozenset[str]

    def is_excluded(self, identifiers: Iterable[str]) -> bool:
        return any(excluded_digest(self.key, one) in self.excluded for one in identifiers)

    def is_erased(self, identifiers: Iterable[str]) -> bool:
        return any(erased_digest(self.key, one) in self.erased for one in identifiers)


def lists(session: Session, key: bytes, profile_id: str) -> Lists:
    """What the profile holds of both."""
    kept = sa.select(AudienceExclusion.digest).where(AudienceExclusion.profile_id == profile_id)
    return Lists(key, frozenset(session.scalars(kept)), frozenset(erased_digests(session, profile_id)))


def choose(
    settings: Settings,
    reader: Reader | None,
    profile_id: str,
    kept_out: Lists,
    customers: Sequence[Mapping[str, str]],
    *,
    removes: bool,
) -> Chosen:
    """Whom the customers {one of `MEMBERS`} mean. 422 customer_not_in_profile for a key of nobody here.

    Only people of the snapshot are sent: of a hash of nobody it cannot be told whether it is excluded. With `removes`
    nobody is excluded: who is kept out of a list may always be taken off it.
    """
    facts = profile_facts(reader, profile_id) if reader else None
    named = [next(iter(one.items())) for one in customers]
    if reader is None or facts is None:
        found: dict[tuple[str, str], str] = {}
        known: dict[str, _Known] = {}
    else:
        found = _found(settings, reader, facts.profile_key, profile_id, named)
        known = _known(reader, facts.profile_key, set(found.values()))
    counts, people = {"accepted": 0, "excluded": 0, "unmatched": 0}, dict[Person, None]()
    for place, (member, value) in enumerate(named):
        person = known.get(found.get((member, value), ""))
        if person is not None and kept_out.is_erased(person.identifiers):
            person = None
        if person is None and member == "customer_key":
            raise errors.CUSTOMER_NOT_IN_PROFILE(f"customers[{place}].customer_key: no customer of this profile.")
        word = _verdict(person, kept_out, removes)
        counts[word] += 1
        if person is not None and word == "accepted":
            people[person.email or "", person.phone or ""] = None
    return Chosen(tuple(people), **counts)


def _verdict(person: _Known | None, kept_out: Lists, removes: bool) -> str:
    if person is None or not (person.email or person.phone):
        return "unmatched"
    if removes:
        return "accepted"
    return "excluded" if person.is_refused or kept_out.is_excluded(person.identifiers) else "accepted"


def _found(
    settings: Settings, reader: Reader, profile_key: int, profile_id: str, named: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], str]:
    """The person of each (member, value) that means one."""
    of = {member: {value for name, value in named if name == member} for member in MEMBERS}
    keys = {value: person_of(settings, profile_id, value) for value in of["customer_key"]}
    found = {("customer_key", value): person for value, person in keys.items() if person}
    ids = {identifier_id(profile_id, "external_id", value): value for value in of["external_ref"]}
    for one, person in reader.rows(_BY_IDENTIFIER, {"profile_key": profile_key, "ids": list(ids)}):
        found["external_ref", ids[one]] = person
    hashes = {"emails": list(of["email_sha256"]), "phones": list(of["phone_sha256"])}
    for email, phone, person in reader.rows(_BY_HASH, {"profile_key": profile_key, **hashes}):
        found["email_sha256", email] = found["phone_sha256", phone] = person
    return found


def _known(reader: Reader, profile_key: int, people: set[str]) -> dict[str, _Known]:
    known: dict[str, _Known] = {}
    for row in reader.dicts(_OF_PEOPLE, {"profile_key": profile_key, "people": list(people)}):
        person = known.setdefault(
            row["person_ref"], _Known(row["email_sha256"], row["phone_sha256"], row["is_refused"])
        )
        person.identifiers.add(row["identifier_id"])
    return known
