"""Payers named by hand: kept here as the digest of an identifier, and read by every build from then on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session

from api import context, db, errors
from api.customer_keys import person_of
from api.erased import digest
from api.erased_records import erased_among
from api.models import PaymentPayer
from api.served import Reader
from api.v1.customers.selectors import KINDS
from api.warehouse_ids import identifier_id
from data_contracts.formats import FORMATS

# the identifier that gave the person its id comes first: it is the one the person keeps longest
_OF_PERSON = """
select identifier_id, person_ref from person_identifiers
where profile_key = $profile_key and person_ref = $wanted
order by alias_ref = person_ref desc, identifier_id
limit 1
"""
_WHOSE = """
select identifier_id, person_ref from person_identifiers
where profile_key = $profile_key and identifier_id = $wanted
"""


@dataclass(frozen=True, slots=True)
class Payer:
    """A person of the published snapshot, and the identifier the person is found by."""

    identifier_id: str
    person_ref: str


@dataclass(frozen=True, slots=True)
class People:
    """The people of one profile as one snapshot knows them."""

    reader: Reader
    profile_key: int
    profile_id: str

    def named(self, session: Session, selector: Mapping[str, str]) -> Payer:
        """The one person a selector means; unknown_customer_ref or customer_not_in_profile for nobody.

        Whoever was just erased is nobody, and so is who was never seen: nobody comes to be by paying.
        """
        name, value = next(iter(selector.items()))
        payer = self._by_key(value) if name == "customer_key" else self._by_identifier(KINDS[name], value.strip())
        if payer is None or self._is_erased(session, payer):
            unknown = errors.UNKNOWN_CUSTOMER_REF if name == "external_ref" else errors.CUSTOMER_NOT_IN_PROFILE
            raise unknown(f"{name}: no customer of this profile.")
        return payer

    def standing(self, session: Session, payment_ref: str) -> Payer | None:
        """Whom the payment is assigned to, if the snapshot knows the person."""
        kept = session.get(PaymentPayer, (self.profile_id, payment_ref))
        return self._found(_WHOSE, kept.identifier_id) if kept else None

    def _by_key(self, key: str) -> Payer | None:
        person = person_of(context.settings(), self.profile_id, key)
        return self._found(_OF_PERSON, person) if person else None

    def _by_identifier(self, kind: str, value: str) -> Payer | None:
        normal = FORMATS[kind](value) if kind in FORMATS else value
        return self._found(_WHOSE, identifier_id(self.profile_id, kind, normal))

    def _found(self, sql: str, wanted: str) -> Payer | None:
        rows = self.reader.rows(sql, {"profile_key": self.profile_key, "wanted": wanted})
        return Payer(*rows[0]) if rows else None

    def _is_erased(self, session: Session, payer: Payer) -> bool:
        named = digest(context.settings().signing_key(), payer.identifier_id)
        return bool(erased_among(session, self.profile_id, [named]))


def assign(session: Session, profile_id: str, payment_ref: str, payer: Payer) -> bool:
    """Keep the payer; gives whether that changed anything."""
    kept = session.get(PaymentPayer, (profile_id, payment_ref))
    if kept is None:
        session.add(PaymentPayer(profile_id=profile_id, payment_ref=payment_ref, identifier_id=payer.identifier_id))
    elif kept.identifier_id != payer.identifier_id:
        kept.identifier_id, kept.assigned_at = payer.identifier_id, db.now()
    else:
        return False
    session.flush()
    return True
