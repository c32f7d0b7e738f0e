"""A profile's business account at the chat app, asked while somebody waits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import connections, db, errors
from api.models import Connection
from connectors.chatapp import PROVIDER, ChatApp
from connectors.transport import Policy
from touchledger.settings import Settings

KIND = "messaging"
WITHIN_SECONDS = 20.0
# a sample of a hundred megabytes takes its time
UPLOAD_SECONDS = 120.0


def named(settings: Settings, *, profile_id: str, connection_id: str, needs_any: bool = False) -> Connection:
    """The profile's connection of this id, fit to be asked.

    404 not_found for any other, 409 chatapp_connection_required once it is disconnected, connection_not_ready and
    connection_revoked as `connections.usable`. With `needs_any` it is chatapp_connection_required instead of not_found
    where the profile has none.
    """
    with db.transaction(settings.operational_url, durable=False) as session:
        found = session.get(Connection, connection_id)
        if found is None or (found.profile_id, found.provider) != (profile_id, PROVIDER):
            if needs_any and not _any(session, profile_id):
                raise errors.CHATAPP_CONNECTION_REQUIRED()
            raise errors.NOT_FOUND()
    if found.status == "disconnected":
        raise errors.CHATAPP_CONNECTION_REQUIRED()
    return connections.usable(settings, [found])[0]


def _any(session: Session, profile_id: str) -> bool:
    live = (Connection.profile_id == profile_id, Connection.provider == PROVIDER, Connection.status != "disconnected")
    return bool(session.scalar(sa.select(sa.exists().where(*live))))


@contextmanager
def asking(settings: Settings, connection: Connection, *, within: float = WITHIN_SECONDS) -> Iterator[ChatApp]:
    """The business account, for at most `within` seconds; what goes wrong leaves as an ApiError."""
    patience: Policy = replace(connections.PATIENCE, whole_timeout=within)
    with connections.asking(settings, connection, within=within, policy=patience) as transport:
        secret = connections.app_secret(settings, connection)
        account = connection.external_account_id
        yield ChatApp(connection.base_url, connection.token, account, transport, app_secret=secret)


def require_known(session: Session, *, profile_id: str, connection_id: str) -> None:
    """404 not_found unless the profile has a connection of this id, in whatever state: what is kept may be read."""
    found = session.get(Connection, connection_id)
    if found is None or (found.profile_id, found.provider) != (profile_id, PROVIDER):
        raise errors.NOT_FOUND()
