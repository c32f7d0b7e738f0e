"""A person taken out of the operational database, and the identifiers that must not come back."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Collection, Iterable, Mapping
from typing import Any, cast
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api.erased import Person, digest, identifiers, stripped
from api.models import (
    ApiKey,
    CollectedEvent,
    ErasedIdentifier,
    IdempotencyRecord,
    Import,
    IngestedRecord,
    ManualRefund,
    PaymentPayer,
)
from api.warehouse_ids import identifier_id
from data_contracts.contract import Contract, internal, landed
from data_contracts.records import as_json

AT_ONCE = 2_000
# letters, also as an address spells them
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+|(?:%[89A-F][0-9A-F])+")
# a random name may be longer than what it stands for: as much is kept as the column holds
LONGEST_NAME, LONGEST_TEXT = 255, 500
# a database takes conditions nested so deep only
TEXTS_AT_ONCE = 200
# asked with every event: built once, and without objects
_DIGEST = cast(sa.Table, ErasedIdentifier.__table__).c.digest
_DIGESTS = sa.select(_DIGEST).where(ErasedIdentifier.profile_id == sa.bindparam("profile_id"))
_AMONG = _DIGESTS.where(_DIGEST.in_(sa.bindparam("digests", expanding=True)))


def erased_digests(session: Session, profile_id: str) -> frozenset[str]:
    """Keyed hashes of all identifiers of people erased from the profile."""
    return frozenset(session.connection().scalars(_DIGESTS, {"profile_id": profile_id}))


def is_anybody_erased(session: Session, profile_id: str) -> bool:
    """Whether anybody at all was erased from the profile."""
    return session.connection().scalar(_DIGESTS.limit(1), {"profile_id": profile_id}) is not None


def erased_among(session: Session, profile_id: str, digests: Collection[str]) -> set[str]:
    """Those of the keyed hashes that are of people erased from the profile, of whom it may have very many."""
    given, connection = list(digests), session.connection()
    parts = (given[start : start + AT_ONCE] for start in range(0, len(given), AT_ONCE))
    return {one for part in parts for one in connection.scalars(_AMONG, {"profile_id": profile_id, "digests": part})}


def erased_in(session: Session, records: Iterable[Mapping[str, Any]], *, profile_id: str, key: bytes) -> set[str]:
    """Keyed hashes of what the records name of people erased from the profile."""
    if not is_anybody_erased(session, profile_id):
        return set()
    named = {(kind, value) for record in records for _, kind, value in identifiers(record)}
    return erased_among(session, profile_id, [digest(key, identifier_id(profile_id, *one)) for one in named])


def remember(session: Session, key: bytes, *, profile_id: str, erasure_id: str, ids: Iterable[str]) -> None:
    """Refuse these identifiers (`identifier_id`) from now on."""
    digests = {digest(key, identifier) for identifier in ids}
    for one in sorted(digests - erased_among(session, profile_id, digests)):
        session.add(ErasedIdentifier(profile_id=profile_id, digest=one, erasure_id=erasure_id))
    session.flush()


def refused(record: Mapping[str, Any], *, profile_id: str, key: bytes, erased: Collection[str]) -> list[str]:
    """The columns of a record that name somebody erased."""
    named = identifiers(record)
    return [column for column, kind, value in named if digest(key, identifier_id(profile_id, kind, value)) in erased]


def admitted(
    records: Iterable[Mapping[str, Any]], *, profile_id: str, key: bytes, erased: Collection[str]
) -> list[Mapping[str, Any]]:
    """The records as they may come in: identifiers of erased people are gone, with the free text beside them."""
    found = []
    for record in records:
        columns = refused(record, profile_id=profile_id, key=key, erased=erased)
        found.append(stripped(record, columns, key=key) if columns else record)
    return found


def redact_records(session: Session, person: Person) -> int:
    """Rename the person in every record kept for landing; gives how many were rewritten."""
    for record in _records(session, person):
        person.read(record.record)
    for event in _collected(session, person):
        person.read(event.body or {})
    changed = sum(_redact(record, person) for record in _records(session, person))
    changed += sum(_redact_event(event, person) for event in _collected(session, person))
    _rename_events(session, person)
    _forget_visits(session, person)
    _rename_payments(session, person)
    _forget_answers(session, person)
    for imported in session.scalars(sa.select(Import).where(Import.profile_id == person.profile_id)):
        imported.file_name = person.text(imported.file_name)[:LONGEST_NAME]
        imported.reason = imported.reason and person.text(imported.reason)[:LONGEST_TEXT]
    session.flush()
    return changed


def rename_payers(session: Session, person: Person, values: Mapping[str, Iterable[str]]) -> None:
    """Let payments assigned to the person follow the random names; `values` are the identifiers by kind."""
    names = {
        identifier_id(person.profile_id, kind, value): identifier_id(person.profile_id, kind, person.name(kind, value))
        for kind, found in values.items()
        for value in found
    }
    chosen = sa.select(PaymentPayer).where(PaymentPayer.profile_id == person.profile_id)
    for payer in session.scalars(chosen):
        payer.identifier_id = names.get(payer.identifier_id, payer.identifier_id)
    session.flush()


def _records(session: Session, person: Person) -> Iterable[IngestedRecord]:
    chosen = sa.select(IngestedRecord).where(IngestedRecord.profile_id == person.profile_id)
    return session.scalars(chosen.order_by(IngestedRecord.id).execution_options(yield_per=AT_ONCE))


def _collected(session: Session, person: Person) -> Iterable[CollectedEvent]:
    """Events that are not in the lake yet."""
    chosen = sa.select(CollectedEvent).where(
        CollectedEvent.profile_id == person.profile_id, CollectedEvent.body.is_not(None)
    )
    return session.scalars(chosen.order_by(CollectedEvent.id).execution_options(yield_per=AT_ONCE))


def _redact_event(event: CollectedEvent, person: Person) -> bool:
    after = person.renamed(event.body or {}, internal()["page_events"].column)
    if after == event.body:
        return False
    event.body = after
    return True


def _rename_events(session: Session, person: Person) -> None:
    """Give events whose id tells the person another one, landed long ago or not.

    Sent again, such an event is not known any more, as no record of such a key is.
    """
    texts = sorted({spelling for text in person.texts for spelling in (text, quote(text, safe=""))})
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        some = texts[start : start + TEXTS_AT_ONCE]
        told = sa.or_(*(CollectedEvent.event_id.ilike(_like(text), escape="/") for text in some))
        chosen = sa.select(CollectedEvent).where(CollectedEvent.profile_id == person.profile_id, told)
        for event in session.scalars(chosen.execution_options(yield_per=AT_ONCE)):
            if person.text(event.event_id, own=event.visitor in person.ids) != event.event_id:
                # in the lake it is renamed, which may make it longer than an id is here
                event.event_id = f"erased-{secrets.token_hex(16)}"


def _like(text: str) -> str:
    """A pattern of what may hold the text in any case: not all databases fold letters beyond ASCII."""
    plain = (re.sub(r"[/%_]", r"/\g<0>", part) for part in _BEYOND_ASCII.split(text))
    return f"%{'%'.join(plain)}%"


def _forget_visits(session: Session, person: Person) -> None:
    """Leave of the person's events, landed long ago or not, only that there was one."""
    ids = sorted(person.ids)
    for start in range(0, len(ids), AT_ONCE):
        theirs = CollectedEvent.visitor.in_(ids[start : start + AT_ONCE])
        change = sa.update(CollectedEvent).where(CollectedEvent.profile_id == person.profile_id, theirs)
        session.execute(change.values(visitor=None, visit=None), execution_options={"synchronize_session": False})


def _rename_payments(session: Session, person: Person) -> None:
    """Let what people entered about payments follow the names that the payments have now."""
    for payer in session.scalars(sa.select(PaymentPayer).where(PaymentPayer.profile_id == person.profile_id)):
        payer.payment_ref = person.text(payer.payment_ref)
    for refund in session.scalars(sa.select(ManualRefund).where(ManualRefund.profile_id == person.profile_id)):
        is_theirs = refund.payment_ref in person.payments
        refund.note = refund.note and (None if is_theirs else person.text(refund.note)[:LONGEST_TEXT])
        refund.payment_ref = person.text(refund.payment_ref)


def _forget_answers(session: Session, person: Person) -> None:
    """Rename the person in answers kept for replay; a key that tells the person goes with its answer."""
    keys = session.scalars(sa.select(ApiKey.lineage_id).where(ApiKey.profile_id == person.profile_id))
    of_profile = sa.or_(
        IdempotencyRecord.principal.in_({f"key:{lineage}" for lineage in keys}),
        IdempotencyRecord.body.contains(person.profile_id),
    )
    # what still runs, the erasure itself among it, needs its claim, and is forgotten in a day
    chosen = sa.select(IdempotencyRecord).where(of_profile, IdempotencyRecord.finished_at.is_not(None))
    for kept in session.scalars(chosen.execution_options(yield_per=AT_ONCE)):
        if person.pattern.search(kept.key):
            session.delete(kept)
        elif kept.body:
            kept.body = person.text(kept.body)


def _redact(kept: IngestedRecord, person: Person) -> bool:
    contract = landed()[kept.dataset]
    after = person.renamed(kept.record, contract.column)
    if after == kept.record:
        return False
    kept.record_key = _key(contract, kept, after, person)
    kept.record = after
    kept.fingerprint = hashlib.sha256(as_json(after).encode()).hexdigest()
    return True


def _key(contract: Contract, kept: IngestedRecord, after: Mapping[str, Any], person: Person) -> str:
    moved = [name for name in contract.keys if after.get(name) != kept.record.get(name)]
    if not moved:
        return person.text(kept.record_key)
    parts = [str(after[name]) for name in contract.keys]
    # nobody sends random names again, so a key of several need only be no other record's
    key = parts[0] if len(parts) == 1 else json.dumps([*parts, kept.id])
    return key if len(key) <= 255 else hashlib.sha256(key.encode()).hexdigest()
