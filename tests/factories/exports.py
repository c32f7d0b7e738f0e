"""Export destinations and their ledger, as a test needs them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from api import db
from api.models import Connection, ExportDestination, ExportRow, Profile
from api.served import CONVERSION_TYPES


def connection(url: str, profile: Profile, **more: Any) -> Connection:
    """A connection to an ad account that nobody answers for."""
    columns = {"provider": "meta", "kind": "ad_platform", "display_name": "Ads", "token": "token"}
    columns |= {"external_account_id": f"{db.new_id()}", "base_url": "http://127.0.0.1:1/meta"}
    with db.transaction(url) as session:
        made = Connection(profile_id=profile.id, **{**columns, **more})
        session.add(made)
    return made


def destination(url: str, profile: Profile, via: Connection | None = None, **more: Any) -> ExportDestination:
    """A destination that takes every type, as old as a month."""
    via = via or connection(url, profile)
    columns: dict[str, Any] = {"kind": "meta_capi", "name": "Pixel", "target": "900100200300400"}
    columns |= {"conversion_types": list(CONVERSION_TYPES), "created_at": db.now() - timedelta(days=30)}
    with db.transaction(url) as session:
        made = ExportDestination(profile_id=profile.id, connection_id=via.id, **{**columns, **more})
        session.add(made)
    return made


def row(url: str, of: ExportDestination, **more: Any) -> ExportRow:
    """A row of its ledger, queued and due."""
    columns: dict[str, Any] = {"conversion_id": db.new_id(), "conversion_type": "payment_received", "status": "queued"}
    columns |= {"occurred_at": db.now(), "next_attempt_at": db.now()}
    with db.transaction(url) as session:
        made = ExportRow(profile_id=of.profile_id, destination_id=of.id, **{**columns, **more})
        session.add(made)
    return made


def rows(url: str) -> list[ExportRow]:
    """The whole ledger, oldest first."""
    with db.transaction(url) as session:
        return session.query(ExportRow).order_by(ExportRow.id).all()
