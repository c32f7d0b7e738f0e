"""POST /customers/erasures and GET /customers/erasures/{erasureId}: the right to be forgotten."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from api import auth, context, db, errors
from api.audit import Attempt, record, target
from api.erased import Person, digest
from api.erased_records import erased_digests, redact_records, remember
from api.guard import partner_only
from api.http import Blueprint
from api.models import Erasure
from api.v1.customers import selectors
from api.v1.customers.erasure_schemas import ErasureBody, Receipt
from api.writing import actor, idempotent, session

bp = Blueprint("erasures", __name__, description="People taken out of everything that was kept of them.")

DUE = timedelta(days=30)
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


@bp.route("/customers/erasures", methods=["POST"])
@partner_only()
@bp.arguments(ErasureBody)
@idempotent()
@bp.response(202, Receipt)
def erase_customer(body: dict[str, Any]) -> dict[str, Any]:
    """Erase a customer

    Names, addresses, ids, click ids and free text go at once from what waits here, and with the next build from every
    file, snapshot and copy. Anonymous touches, conversions and amounts stay, so no figure moves. The identifiers are
    refused from now on, by keyed hash.
    """
    profile, key = auth.current().profile, context.settings().signing_key()
    ids = selectors.identifiers_of(session(), profile.id, body["selector"])
    if ids is None or any(digest(key, one) in erased_digests(session(), profile.id) for one in ids):
        raise errors.CUSTOMER_NOT_FOUND()
    erasure = _received(body, profile.id)
    remember(session(), key, profile_id=profile.id, erasure_id=erasure.id, ids=ids)
    person = Person(profile.id, bytes.fromhex(erasure.secret or ""), ids)
    redacted = redact_records(session(), person)
    # records redacted now land under their new names: the build that finishes the erasure must find those too
    remember(session(), key, profile_id=profile.id, erasure_id=erasure.id, ids=person.renamed_ids())
    erasure.counts = {**erasure.counts, "identities_removed": len(ids), "events_redacted": redacted}
    record(session(), actor(), Attempt("customer.erased", {"target": target("erasure", erasure.id)}, "privacy"))
    return receipt(erasure)


@bp.route("/customers/erasures/<erasure_id>")
@partner_only(uuids=["erasure_id"])
@bp.response(200, Receipt)
def erasure_receipt(erasure_id: str) -> dict[str, Any]:
    """How far an erasure is"""
    chosen = sa.select(Erasure).where(Erasure.id == erasure_id, Erasure.profile_id == auth.current().profile.id)
    with db.transaction(context.settings().operational_url, durable=False) as unit:
        erasure = unit.scalars(chosen).one_or_none()
    if erasure is None:
        raise errors.ERASURE_NOT_FOUND()
    return receipt(erasure)


def receipt(erasure: Erasure) -> dict[str, Any]:
    """What a caller sees of an erasure."""
    names = ("status", "requested_at", "completed_at", "due_at", "reference", "counts")
    return {"erasure_id": erasure.id, **{name: getattr(erasure, name) for name in names}}


def _received(body: dict[str, Any], profile_id: str) -> Erasure:
    at = db.now()
    erasure = Erasure(
        profile_id=profile_id,
        status="received",
        reason=body["reason"],
        reference=body["reference"],
        secret=secrets.token_hex(32),
        counts=dict(NOTHING_YET),
        requested_at=at,
        due_at=at + DUE,
    )
    session().add(erasure)
    session().flush()
    return erasure
