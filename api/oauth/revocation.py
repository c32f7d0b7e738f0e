"""Ending what was issued, by whoever holds it (RFC 7009)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from authlib.oauth2.rfc7009 import RevocationEndpoint

from api import credentials
from api.models import ApiKey, OAuthAuthorization, OAuthRefreshToken, UserToken
from api.oauth import families
from api.oauth.clients import METHODS, Client, Consumer
from api.writing import session


@dataclass(frozen=True, slots=True)
class Held:
    """A token or key somebody sent to be ended, and which authorization it was issued under, if any."""

    row: UserToken | OAuthRefreshToken | ApiKey
    consent: sa.ColumnElement[bool]

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
            return Held(token, OAuthAuthorization.id == token.family_id)
        refresh = session().scalars(sa.select(OAuthRefreshToken).where(OAuthRefreshToken.digest == sought))
        if (row := refresh.one_or_none()) is not None:
            return Held(row, OAuthAuthorization.id == row.authorization_id)
        key = session().scalars(sa.select(ApiKey).where(ApiKey.digest == sought)).one_or_none()
        return Held(key, families.consent_of_key(key)) if key is not None else None

    def revoke_token(self, token: Held, request: Any) -> None:
        """End it with its family; a key that no consent gave ends alone."""
        held = families.hold(session(), token.consent)
        for one in held:
            families.end(session(), one, why=families.GIVEN_BACK)
        if not held and isinstance(token.row, ApiKey):
            families.give_back(session(), token.row)
