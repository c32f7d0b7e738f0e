"""What a client may exchange for a token: a code, or a refresh token. Both work once; a second use ends the family."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from authlib.oauth2.rfc6749 import AccessDeniedError, InvalidRequestError
from authlib.oauth2.rfc6749 import grants as authlib_grants

from api import credentials
from api.db import now
from api.models import OAuthAuthorization, OAuthCode, OAuthRefreshToken, User, UserToken
from api.oauth import families
from api.oauth.clients import METHODS, Client
from api.writing import session

CODE_LIFE = timedelta(seconds=60)
WITH_PEOPLE = "analytics_pii"


class CodeGrant(authlib_grants.AuthorizationCodeGrant):  # type: ignore[misc]
    """Authorization codes; `request.authorization` is the consent that a code is issued under."""

    TOKEN_ENDPOINT_AUTH_METHODS = METHODS

    @staticmethod
    def validate_authorization_redirect_uri(request: Any, client: Client) -> str:
        """The address to answer to; nobody is sent anywhere unless the client registered it."""
        wanted: str | None = request.payload.redirect_uri
        if wanted is None and (only := client.get_default_redirect_uri()):
            return only
        if wanted is None or not client.check_redirect_uri(wanted):
            # Authlib would repeat the address in its message, and fail where that is not plain ASCII
            raise InvalidRequestError("The redirect_uri is not registered for this client.")
        return wanted

    def save_authorization_code(self, code: str, request: Any) -> None:
        """Keep the digest."""
        authorization: OAuthAuthorization = request.authorization
        session().add(
            OAuthCode(
                digest=credentials.digest(code),
                authorization_id=authorization.id,
                client_id=authorization.client_id,
                redirect_uri=request.payload.redirect_uri,
                code_challenge=request.payload.data.get("code_challenge"),
                scopes=authorization.scopes,
                expires_at=now() + CODE_LIFE,
            )
        )

    def query_authorization_code(self, code: str, client: Client) -> OAuthCode | None:
        """The code if it still works; the second use of one ends what the first gave."""
        is_it = (OAuthCode.digest == credentials.digest(code), OAuthCode.client_id == client.client_id)
        authorization = _under(sa.select(OAuthCode.authorization_id).where(*is_it))
        row = session().scalars(sa.select(OAuthCode).where(*is_it)).one_or_none()
        if row is None or authorization is None:
            return None
        if row.used_at is not None:
            families.end(session(), authorization, why=families.USED_TWICE)
            return None
        return row if now() < row.expires_at and authorization.status == "granted" else None

    def delete_authorization_code(self, authorization_code: OAuthCode) -> None:
        """Mark it as used."""
        authorization_code.used_at = now()

    def authenticate_user(self, authorization_code: OAuthCode) -> User | None:
        """Whoever consented."""
        authorization = session().get_one(OAuthAuthorization, authorization_code.authorization_id)
        return session().get(User, authorization.user_id)


class RefreshGrant(authlib_grants.RefreshTokenGrant):  # type: ignore[misc]
    """Refresh tokens of agents."""

    TOKEN_ENDPOINT_AUTH_METHODS = METHODS
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token: str) -> OAuthRefreshToken | None:
        """The token if it still works; the second use of one ends the family."""
        is_it = OAuthRefreshToken.digest == credentials.digest(refresh_token)
        authorization = _under(sa.select(OAuthRefreshToken.authorization_id).where(is_it))
        row = session().scalars(sa.select(OAuthRefreshToken).where(is_it)).one_or_none()
        if row is None or authorization is None:
            return None
        if row.used_at is not None:
            families.end(session(), authorization)
            return None
        return row if now() < row.expires_at and authorization.status == "granted" else None

    def authenticate_user(self, refresh_token: OAuthRefreshToken) -> User | None:
        """Whoever consented."""
        authorization = session().get_one(OAuthAuthorization, refresh_token.authorization_id)
        return session().get(User, authorization.user_id)

    def revoke_old_credential(self, refresh_token: OAuthRefreshToken) -> None:
        """End the pair that this use replaces."""
        refresh_token.used_at = now()
        old = session().get_one(UserToken, refresh_token.user_token_id)
        old.revoked_at = old.revoked_at or now()


def _under(named: sa.Select[str]) -> OAuthAuthorization | None:
    # held before the code or token is read: who else sends it, or ends the consent, waits here
    return next(iter(families.hold(session(), OAuthAuthorization.id.in_(named))), None)


def healthcare_refusal(redirect_uri: str | None = None) -> AccessDeniedError:
    """The answer to a consumer app that asks for the people of a healthcare profile."""
    words = "healthcare_scope_forbidden: this profile is a healthcare business; ask for analytics instead."
    return AccessDeniedError(words, redirect_uri=redirect_uri)
