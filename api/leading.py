"""The way of a person to a provider's page and back: of one hand-off, in one browser, and once."""

from __future__ import annotations

import hashlib
import secrets

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import db, providers
from api.models import Connection, Handoff
from connectors.authorizing import address
from touchledger.settings import Settings


def open_hand_off(session: Session, handoff_id: str) -> tuple[Handoff, Connection] | None:
    """The connect hand-off of an id, held, and what it is for; None where nobody is waited for (any more)."""
    found = session.get(Handoff, handoff_id, with_for_update=True, populate_existing=True)
    if found is None or found.kind != "connect" or found.status != "pending" or found.expires_at <= db.now():
        return None
    return found, session.get_one(Connection, found.connection_id)


def lead_on(settings: Settings, handoff: Handoff, *, provider: str, visitor: str) -> str:
    """The provider's page, from which this browser alone comes back; whoever went on before no longer does.

    503 service_unavailable where the provider is not configured.
    """
    state = secrets.token_urlsafe(32)
    page = address(providers.client(settings, provider), state=state, back=providers.back_to(settings, provider))
    handoff.external_ref = _digest(state, visitor)
    return page


def claim(session: Session, *, provider: str, state: str, visitor: str) -> Handoff | None:
    """The open hand-off that a provider answers in this browser, whose state is then used up; None where none waits."""
    waiting = sa.select(Handoff).where(
        Handoff.kind == "connect", Handoff.status == "pending", Handoff.external_ref == _digest(state, visitor)
    )
    found = session.scalars(waiting.with_for_update()).one_or_none()
    if found is None or found.expires_at <= db.now():
        return None
    connection = session.get_one(Connection, found.connection_id)
    if provider not in providers.SPOKEN or providers.SPOKEN[provider].ours != connection.provider:
        return None
    found.external_ref = None
    return found


def _digest(state: str, visitor: str) -> str:
    return hashlib.sha256(f"{state} {visitor}".encode()).hexdigest()
