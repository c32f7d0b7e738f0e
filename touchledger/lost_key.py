"""Whether the state folder still has the key that its database was used with: a new one would open nothing of it."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa

from api.db import engine_for
from api.models import AudienceExclusion, Connection, ErasedIdentifier, SenderDomain, WebhookSubscription
from api.sealing import PREFIX
from touchledger import own_key
from touchledger.own_key import LostKeyError
from touchledger.settings import Settings


def require_own_key(settings: Settings) -> None:
    """Raise LostKeyError rather than have a new key made beside a database that holds what only the old one opens.

    A key from the environment is taken for the right one.
    """
    if settings.secret_key is not None:
        return
    path = own_key.file_of(settings.home)
    if path.exists():
        own_key.read(path)
        return
    with engine_for(settings.operational_url).connect() as connection:
        held = list(_held(connection, settings))
    if held:
        raise LostKeyError(path, f"is gone, and the database holds {', '.join(held)} that only its key opens")


def _held(connection: sa.Connection, settings: Settings) -> Iterator[str]:
    # sealed under a key of its own, a token needs no other
    sealed = sa.type_coerce(Connection.token, sa.Text).startswith(PREFIX) & sa.literal(settings.token_key is None)
    kinds = {
        "tokens of accounts": sa.exists().where(sealed),
        "secrets of webhooks": sa.exists(sa.select(WebhookSubscription.id)),
        "keys of sender domains": sa.exists(sa.select(SenderDomain.id)),
        "names of erased people": sa.exists(sa.select(ErasedIdentifier.digest)),
        "names kept out of audiences": sa.exists(sa.select(AudienceExclusion.profile_id)),
    }
    yield from (kind for kind, found in kinds.items() if connection.scalar(sa.select(found)))
