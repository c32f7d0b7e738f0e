"""Customers kept out of audiences: who is meant, and the keyed hashes under which that is kept."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import context, errors
from api.customer_keys import person_of
from api.customers import Directory, just_sent
from api.erased import digest as erased_digest
from api.erased_records import erased_digests
from api.models import AudienceExclusion
from api.v1.customers.selectors import KINDS
from api.warehouse_ids import identifier_id
from data_contracts.formats import FORMATS

Selected = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Change:
    """How the list changed: `added` and `removed` count hashes."""

    excluded: int
    added: int
    removed: int


def digest(key: bytes, identifier: str) -> str:
    """The keyed hash of an identifier (`identifier_id`) in the list of exclusions."""
    return hmac.new(key, b"excluded\0" + identifier.encode(), hashlib.sha256).hexdigest()


def replace(session: Session, profile_id: str, digests: Iterable[str]) -> Change:
    """Make these hashes the profile's list; of a locked profile."""
    wanted = set(digests)
    held = set(session.scalars(sa.select(AudienceExclusion.digest).where(AudienceExclusion.profile_id == profile_id)))
    gone, new = sorted(held - wanted), sorted(wanted - held)
    for start in range(0, len(gone), 500):
        session.execute(
            sa.delete(AudienceExclusion).where(
                AudienceExclusion.profile_id == profile_id, AudienceExclusion.digest.in_(gone[start : start + 500])
            )
        )
    if new:
        session.execute(sa.insert(AudienceExclusion), [{"profile_id": profile_id, "digest": one} for one in new])
    return Change(len(wanted), len(new), len(gone))


def named(session: Session, known: Directory, profile_id: str, customers: Sequence[Selected]) -> set[str]:
    """The hash of each customer: of the identifier a person keeps longest, else of the one that was sent.

    422 customer_not_in_profile for a key of nobody here, unknown_customer_ref for a reference that nobody was sent
    with. Whoever was erased is nobody. E-mail addresses and phone numbers need no person.
    """
    people = _People(session, known, profile_id, customers)
    return {people.digest_of(place, selected) for place, selected in enumerate(customers)}


class _People:
    """Everybody the list names, looked up in a few questions whatever its length."""

    def __init__(self, session: Session, known: Directory, profile_id: str, customers: Sequence[Selected]) -> None:
        self._key, self._profile_id = context.settings().signing_key(), profile_id
        self._erased = erased_digests(session, profile_id)
        pairs = [_pair(one) for one in customers]
        self._by_identifier = known.people({pair for pair in pairs if pair[0] != "customer_key"})
        self._by_key = {value: person_of(context.settings(), profile_id, value) for _, value in _keys(pairs)}
        people = {*self._by_identifier.values(), *(one for one in self._by_key.values() if one)}
        self._kept = known.identifier_of(people)
        self._sent = just_sent(session, profile_id, {value for kind, value in pairs if kind == "external_id"})

    def digest_of(self, place: int, selected: Selected) -> str:
        kind, value = _pair(selected)
        if kind == "customer_key":
            found = self._kept.get(self._by_key[value] or "")
            if found is None or self._is_erased(found):
                raise errors.CUSTOMER_NOT_IN_PROFILE(f"customers[{place}].customer_key: no customer of this profile.")
            return digest(self._key, found)
        given = identifier_id(self._profile_id, kind, value)
        person = self._by_identifier.get((kind, value))
        is_known = person is not None or value in self._sent
        if kind == "external_id" and (not is_known or self._is_erased(given)):
            raise errors.UNKNOWN_CUSTOMER_REF(f"customers[{place}].external_ref: names no customer of this profile.")
        return digest(self._key, self._kept[person] if person else given)

    def _is_erased(self, identifier: str) -> bool:
        return erased_digest(self._key, identifier) in self._erased


def _pair(selected: Selected) -> tuple[str, str]:
    """(kind, normal value) of what a customer is named by; the kind of a key is `customer_key`."""
    name, value = next(iter(selected.items()))
    kind = KINDS.get(name, name)
    text = value.strip()
    return kind, FORMATS[kind](text) if kind in FORMATS else text


def _keys(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [pair for pair in pairs if pair[0] == "customer_key"]
