"""Ending what was issued, by whoever holds it (RFC 7009)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from authlib.oauth2.rfc7009 import RevocationEndpoint

from api import credentials
from api.db import now
from api.models import ApiKey, OAuthAuthorization, OAuthCode, OAuthRefreshToken, UserToken
from api.oauth import families
from api.oauth.clients import METHODS, Client, Consumer
from api.writing import session


@dataclass(frozen=True, slots=True)
class Held:
    """A token or key somebody sent to be ended, and the authorization it was issued under, if it was."""

    row: UserToken | OAuthRefreshToken | ApiKey
    authorization_id: str | None

    def check_client(self, client: Client) -> bool:
        """Whether it was issued to this client."""
        if isinstance(self.row, ApiKey):
            return isinstance(client, Consumer) and self.row.app_id == client.row.id
        return self.row.client_id == client.client_id


class Revocation(RevocationEndpoint):  # type: ignore[misc]
    """Any token of a family ends the family: whoever signs an agent out means all of it."""

    CLIENT_AUTH_METHODS = METHODS

    def query_token(self, token_string: str, token_type_hint: str | None) -> Held | None:
        """What the text is; the hint does not matter, since each kind has its prefix."""
        sought = credentials.digest(token_string)
        token = session().scalars(sa.select(UserToken).where(UserToken.digest == sought)).one_or_none()
        if token is not None:
            return Held(token, token.family_id)
        refresh = session().scalars(sa.select(OAuthRefreshToken).where(OAuthRefreshToken.digest == sought))
        if (row := refresh.one_or_none()) is not None:
            return Held(row, row.authorization_id)
        key = session().scalars(sa.select(ApiKey).where(ApiKey.digest == sought)).one_or_none()
        return Held(key, _consented(key)) if key is not None else None

    def revoke_token(self, token: Held, request: Any) -> None:
        """End it with its family; a key that no consent gave ends alone."""
        if token.authorization_id is not None:
            families.end(session(), session().get_one(OAuthAuthorization, token.authorization_id))
        elif isinstance(token.row, ApiKey):
            token.row.revoked_at = token.row.revoked_at or now()


def _consented(key: ApiKey) -> str | None:
    siblings = sa.select(ApiKey.id).where(ApiKey.lineage_id == key.lineage_id)
    issued = sa.select(OAuthCode.authorization_id).where(OAuthCode.api_key_id.in_(siblings))
    return session().scalars(issued).first()
