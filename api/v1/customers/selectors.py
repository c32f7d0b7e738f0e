"""Who a caller means: one of a pseudonymous key, an own reference, an e-mail address or a phone number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from marshmallow import ValidationError, fields, validate, validates_schema
from sqlalchemy.orm import Session

from api import context
from api.bodies import NamesOne, Text
from api.customer_keys import person_of
from api.erased import identifiers
from api.models import IngestedRecord
from api.served import profile_facts
from api.snapshot import snapshots
from api.warehouse_ids import identifier_id
from data_contracts.formats import FORMATS, Refused
from touchledger.settings import Settings

KINDS = {"external_ref": "external_id", "email": "email", "phone": "phone"}

_OF_PERSON = "select identifier_id from person_identifiers where profile_key = $profile_key and person_ref = $person"
_WHOSE = "select person_ref from person_identifiers where profile_key = $profile_key and identifier_id = $identifier"


class Selector(NamesOne):
    """One person, named in one of four ways."""

    customer_key = fields.String(metadata={"description": "`ck_…`, as other routes hand it out."})
    external_ref = Text(128, metadata={"description": "The caller's own id (user_traits.external_id)."})
    email = fields.String(validate=validate.Length(1, 254), metadata={"description": "An e-mail address."})
    phone = fields.String(validate=validate.Length(1, 32), metadata={"description": "E.164, as +14155550100."})

    @validates_schema
    def _well_formed(self, data: Mapping[str, Any], **_: Any) -> None:
        # of several none is meant
        for kind in data.keys() & FORMATS.keys() if len(data) == 1 else ():
            try:
                FORMATS[kind](data[kind].strip())
            except Refused as refused:
                raise ValidationError(str(refused), kind) from None


def identifiers_of(session: Session, profile_id: str, selector: Mapping[str, str]) -> frozenset[str] | None:
    """Ids of all identifiers of the person meant, of the served snapshot; None when nobody is.

    A person who was only just sent, and is in no snapshot yet, is the one identifier that was asked for.
    """
    name, value = next(iter(selector.items()))
    with snapshots(context.settings()).reader(None) as reader:
        facts = profile_facts(reader, profile_id) if reader else None
        if reader and facts and (person := _person(reader, facts.profile_key, profile_id, name, value)):
            found = reader.rows(_OF_PERSON, {"profile_key": facts.profile_key, "person": person})
            if found:
                return frozenset(row[0] for row in found)
    if name == "customer_key":
        return None
    wanted = _identifier(profile_id, name, value)
    return frozenset({wanted}) if _was_sent(session, profile_id, wanted) else None


def whole_person(settings: Settings, profile_id: str, identifier: str) -> frozenset[str]:
    """Ids of all identifiers of whoever has this one in the served snapshot, and the id itself."""
    with snapshots(settings).reader(None) as reader:
        facts = profile_facts(reader, profile_id) if reader else None
        if reader is None or facts is None:
            return frozenset({identifier})
        asked = {"profile_key": facts.profile_key, "identifier": identifier}
        people = [row[0] for row in reader.rows(_WHOSE, asked)]
        found = [reader.rows(_OF_PERSON, {"profile_key": facts.profile_key, "person": one}) for one in people]
        return frozenset({identifier, *(row[0] for rows in found for row in rows)})


def _person(reader: Any, profile_key: int, profile_id: str, name: str, value: str) -> str | None:
    if name == "customer_key":
        return person_of(context.settings(), profile_id, value)
    found = reader.rows(_WHOSE, {"profile_key": profile_key, "identifier": _identifier(profile_id, name, value)})
    return found[0][0] if found else None


def _identifier(profile_id: str, name: str, value: str) -> str:
    kind = KINDS[name]
    return identifier_id(profile_id, kind, FORMATS[kind](value.strip()) if kind in FORMATS else value.strip())


def _was_sent(session: Session, profile_id: str, wanted: str) -> bool:
    chosen = sa.select(IngestedRecord.record).where(IngestedRecord.profile_id == profile_id)
    records = session.scalars(chosen.execution_options(yield_per=2_000))
    return any(
        identifier_id(profile_id, kind, value) == wanted for record in records for _, kind, value in identifiers(record)
    )
