"""A person taken out of one profile: what is refused, redacted and remembered at once, and the receipt of it."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import db
from api.erased import Person, digest
from api.erased_records import erased_among, redact_records, remember
from api.exports import destinations
from api.models import Erasure
from api.served import profile_facts
from api.snapshot import snapshots
from api.v1.customers import selectors
from touchledger.settings import Settings

DUE = timedelta(days=30)
_OF_PERSON = """
select conversion_id from conversions
where profile_key = $profile_key and person_ref in (
    select person_ref from person_identifiers where profile_key = $profile_key and identifier_id = any($ids)
)
"""
NOTHING_YET = dict.fromkeys(
    (
        "identities_removed",
        "events_redacted",
        "touches_anonymised",
        "conversions_anonymised",
        "exports_retained",
        "tokens_voided",
    ),
    0,
)


def begin(session: Session, settings: Settings, *, profile_id: str, asked: Mapping[str, Any]) -> Erasure | None:
    """Erase the person whom `asked` ({selector, reason, reference}) means, as far as that goes at once.

    The next build does the rest. None when nobody is meant, or somebody already erased.
    """
    ids = selectors.identifiers_of(session, profile_id, asked["selector"])
    if ids is None:
        return None
    named = {"reason": asked["reason"], "reference": asked["reference"]}
    return erase(session, settings, profile_id=profile_id, ids=ids, **named)


def erase(
    session: Session, settings: Settings, *, profile_id: str, ids: frozenset[str], reason: str, reference: str | None
) -> Erasure | None:
    """Erase the person who has these identifiers (ids of `api.warehouse_ids`); None for somebody already erased."""
    key = settings.signing_key()
    if erased_among(session, profile_id, [digest(key, one) for one in ids]):
        return None
    try:
        with session.begin_nested():
            erasure = _received(session, profile_id, reason, reference)
            remember(session, key, profile_id=profile_id, erasure_id=erasure.id, ids=ids)
    except sa.exc.IntegrityError:
        # somebody asked for the same person at the same moment
        return None
    person = Person(profile_id, bytes.fromhex(erasure.secret or ""), ids)
    redacted = redact_records(session, person)
    # records redacted now land under their new names: the build that finishes the erasure must find those too
    remember(session, key, profile_id=profile_id, erasure_id=erasure.id, ids=person.renamed_ids())
    kept = len(destinations.rows_about(session, profile_id, _conversions(settings, profile_id, ids)))
    erasure.counts = {
        **erasure.counts,
        "identities_removed": len(ids),
        "events_redacted": redacted,
        "exports_retained": kept,
    }
    return erasure


def receipt(erasure: Erasure) -> dict[str, Any]:
    """What a caller sees of an erasure."""
    names = ("status", "requested_at", "completed_at", "due_at", "reference", "counts")
    return {"erasure_id": erasure.id, **{name: getattr(erasure, name) for name in names}}


def _conversions(settings: Settings, profile_id: str, ids: Collection[str]) -> list[str]:
    """Ids of the conversions that the published snapshot knows of whoever has these identifiers."""
    with snapshots(settings).reader() as reader:
        facts = profile_facts(reader, profile_id) if reader else None
        if reader is None or facts is None:
            return []
        found = reader.rows(_OF_PERSON, {"profile_key": facts.profile_key, "ids": list(ids)})
        return [conversion_id for (conversion_id,) in found]


def _received(session: Session, profile_id: str, reason: str, reference: str | None) -> Erasure:
    at = db.now()
    erasure = Erasure(
        profile_id=profile_id,
        status="received",
        reason=reason,
        reference=reference,
        secret=secrets.token_hex(32),
        counts=dict(NOTHING_YET),
        requested_at=at,
        due_at=at + DUE,
    )
    session.add(erasure)
    session.flush()
    return erasure
