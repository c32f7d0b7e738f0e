"""Whether the state folder still has the key that its database was used with: a new one would open nothing of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sqlalchemy as sa

from api.db import engine_for
from api.models import AudienceExclusion, Connection, ErasedIdentifier, SenderDomain, WebhookSubscription
from api.sealing import opens
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
    # sealed under a key of its own, a token needs no other; one from before that key does, until the worker renews it
    if _unopened(connection, settings.own_token_keys()):
        yield "tokens of accounts"
    kinds = {
        "secrets of webhooks": sa.exists(sa.select(WebhookSubscription.id)),
        "keys of sender domains": sa.exists(sa.select(SenderDomain.id)),
        "names of erased people": sa.exists(sa.select(ErasedIdentifier.digest)),
        "names kept out of audiences": sa.exists(sa.select(AudienceExclusion.profile_id)),
    }
    yield from (kind for kind, found in kinds.items() if connection.scalar(sa.select(found)))


def lost_tokens(settings: Settings) -> int:
    """How many accounts' tokens none of the deployment's keys opens; makes no key. Raises SQLAlchemy's errors."""
    # to ask for the signing key would make one
    has_own = settings.secret_key is not None or own_key.file_of(settings.home).exists()
    with engine_for(settings.operational_url).connect() as connection:
        return _unopened(connection, settings.token_keys() if has_own else settings.own_token_keys())


def _unopened(connection: sa.Connection, keys: Sequence[bytes]) -> int:
    stored = connection.scalars(sa.select(sa.type_coerce(Connection.token, sa.Text)))
    return sum(not opens(keys, one) for one in stored)
