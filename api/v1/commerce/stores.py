"""Which connection a store is: the profile's own, or for a store that only files tell of an id that follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api.models import Connection
from api.reading import Source
from api.v1.commerce import queries
from api.warehouse_ids import uuid_v8

KIND = "store"


@dataclass(frozen=True)
class Stores:
    """The stores of a profile: ids of those that are connected, by handle."""

    profile_id: str
    connected: Mapping[str, str]

    def connection_id(self, ref: str) -> str:
        """The id under which answers name the store with this handle."""
        return self.connected.get(ref) or uuid_v8(self.profile_id, "connection", ref)

    def ref(self, source: Source, connection_id: str) -> str | None:
        """The handle of the store with this id; None when the profile has no such store."""
        known = {number: ref for ref, number in self.connected.items()}
        if connection_id in known:
            return known[connection_id]
        found = queries.stores(source.reader, source.profile)
        return next((ref for ref in found if self.connection_id(ref) == connection_id), None)


def stores_of(session: Session, profile_id: str) -> Stores:
    """The connected stores of a profile; one that was disconnected keeps its name."""
    chosen = (
        sa.select(Connection.external_account_id, Connection.id)
        .where(Connection.profile_id == profile_id, Connection.kind == KIND, Connection.external_account_id != "")
        .order_by(Connection.created_at, Connection.id)
    )
    return Stores(profile_id, {row.external_account_id: row.id for row in session.execute(chosen)})
