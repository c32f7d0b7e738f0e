"""POST /events and DELETE /events/{idempotency_key}."""

from __future__ import annotations

from typing import Any

from flask import request

from api import audit, auth, errors
from api.auth import Kind
from api.customers import directory, key_of, names_erased, of_nobody
from api.guard import guarded
from api.http import Blueprint
from api.reading import timestamp
from api.scopes import Scope
from api.v1.events import ledger
from api.v1.events.schemas import ANSWERS, EventBody, IngestedEvent, RetractedEvent
from api.writing import actor, idempotent, session
from data_contracts.formats import Refused
from data_contracts.values import clean_text

bp = Blueprint("events", __name__, description="Outcomes that a server sends, as they happen.")

SENDERS = frozenset({Kind.API_KEY, Kind.SESSION})
MOST_BYTES = 256 * 1024


@bp.route("/events", methods=["POST"])
@guarded(scope=Scope.EVENTS_WRITE, kinds=SENDERS, max_body=MOST_BYTES)
@bp.arguments(EventBody)
@idempotent()
@bp.response(202, IngestedEvent)
def ingest_event(body: dict[str, Any]) -> dict[str, Any]:
    """Ingest one outcome event of a server

    Kept once per key, for ever: the same key and content again is `duplicate` with the same ids, other content is 409.
    Reads show the event from the next snapshot on.
    """
    key = _key(body["idempotency_key"])
    sent = body["sent"]
    _require_known_answer(body)
    named = _only_reference(body)
    # people are looked up first: the write holds SQLite's one lock from its first statement on
    with directory() as people:
        published = people.references(named)
        customer_key = key_of(sent.record, people)
    if customer_key is not None and names_erased(session(), sent.record):
        customer_key = None
    if named and of_nobody(session(), named, published=published):
        raise errors.UNKNOWN_CUSTOMER_REF()
    event, is_new = ledger.keep(session(), auth.current().profile.id, key, sent)
    visible, visible_by = ledger.visibility(session(), event, key)
    return {
        "event_id": event.id,
        "status": "accepted" if is_new else "duplicate",
        "conversion_type": event.conversion_type,
        "customer_key": customer_key,
        "idempotency_key": key,
        "visible": visible,
        "visible_by": visible_by and timestamp(visible_by),
    }


@bp.route("/events/<path:idempotency_key>", methods=["DELETE"])
@guarded(scope=Scope.EVENTS_WRITE, kinds=SENDERS)
@idempotent()
@bp.response(200, RetractedEvent)
def retract_event(idempotency_key: str) -> dict[str, Any]:
    """Take an event back

    Its conversion, its touch and the name it told leave with the next snapshot. Its key stays taken.
    """
    key = _as_sent(idempotency_key)
    event, was_before = ledger.retract(session(), auth.current().profile.id, key)
    if not was_before:
        details = {"target": audit.target("event", event.id)}
        audit.record(session(), actor(), audit.Attempt("event.retracted", details))
    return {
        "idempotency_key": key,
        "event_id": event.id,
        "status": "already_retracted" if was_before else "retracted",
        "retracted_at": event.retracted_at and timestamp(event.retracted_at),
    }


def _as_sent(key: str) -> str:
    """The key as POST /events keeps it."""
    try:
        return clean_text(key)
    except Refused:
        raise errors.EVENT_NOT_FOUND() from None


def _key(of_body: str | None) -> str | None:
    of_header = request.headers.get("Idempotency-Key")
    if of_body is not None and of_header is not None and of_body != of_header:
        raise errors.VALIDATION_ERROR("idempotency_key: differs from the header Idempotency-Key")
    return of_body if of_body is not None else of_header


def _require_known_answer(body: dict[str, Any]) -> None:
    declared = body["declared_source"]
    if declared and declared["answer_key"] not in ANSWERS:
        raise errors.UNKNOWN_ANSWER_KEY()


def _only_reference(body: dict[str, Any]) -> list[str]:
    """The external_ref that must name somebody, since neither e-mail nor phone came with it; none or one."""
    customer = body["customer"] or {}
    reference: str | None = customer.get("external_ref")
    return [] if reference is None or customer["email"] or customer["phone"] else [reference]
