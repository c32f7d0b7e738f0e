"""What is issued under one authorization, and how all of it ends together."""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import credentials
from api.db import now
from api.models import (
    ApiKey,
    App,
    Delegation,
    OAuthAuthorization,
    OAuthCode,
    OAuthRefreshToken,
    UserToken,
    WebhookSubscription,
)
from api.oauth.clients import TOKEN_LIFE
from api.scopes import CONNECT_SCOPES

REFRESH_LIFE = timedelta(days=30)


def give_tokens(
    session: Session, *, under: OAuthAuthorization, access: str, refresh: str, grants: list[str]
) -> UserToken:
    """Store a pair for an agent: the user token with `grants`, and the refresh token with all that was consented to."""
    at = now()
    token = UserToken(
        user_id=under.user_id,
        name=under.client_name[:80],
        prefix=credentials.shown(access),
        digest=credentials.digest(access),
        grants=grants,
        origin="oauth",
        client_id=under.client_id,
        family_id=under.id,
        expires_at=at + TOKEN_LIFE,
    )
    session.add(token)
    session.flush()
    session.add(
        OAuthRefreshToken(
            digest=credentials.digest(refresh),
            authorization_id=under.id,
            client_id=under.client_id,
            user_token_id=token.id,
            scopes=under.scopes,
            expires_at=at + REFRESH_LIFE,
        )
    )
    under.last_used_at = at
    return token


def give_key(session: Session, *, under: OAuthAuthorization, app: App, profile_id: str, secret: str) -> ApiKey:
    """Store a partner key of the profile, with the scopes of what was consented to."""
    scopes = {scope.value for one in under.scopes for scope in CONNECT_SCOPES[one]}
    key, _ = credentials.mint_api_key(
        session, profile_id=profile_id, scopes=scopes, name=app.name, secret=secret, app_id=app.id
    )
    key.created_by_kind, key.created_by_id = "session", under.user_id
    under.last_used_at = now()
    return key


def supersede(session: Session, by: OAuthAuthorization) -> None:
    """End what the same client holds from earlier consents: of the same person, or to the same profile.

    An app's subscriptions and its adoption go on: it is let in still.
    """
    same = OAuthAuthorization.profile_id == by.profile_id if by.profile_id else OAuthAuthorization.user_id == by.user_id
    earlier = sa.select(OAuthAuthorization).where(
        OAuthAuthorization.client_id == by.client_id,
        OAuthAuthorization.granted_at < by.granted_at,
        OAuthAuthorization.status == "granted",
        same,
    )
    for one in session.scalars(earlier):
        _revoke(session, one)


def end(session: Session, authorization: OAuthAuthorization) -> None:
    """Revoke an authorization with every token and key issued under it; refresh tokens end with it.

    An app is no longer told of the profile, and what it adopted there ends with its last consent.
    """
    _revoke(session, authorization)
    if authorization.app_id is not None and authorization.profile_id is not None:
        let_go(session, app_id=authorization.app_id, profile_id=authorization.profile_id)


def let_go(session: Session, *, app_id: str, profile_id: str | None = None) -> None:
    """Pause what an app is told of a profile, or of all, and end adoptions that no consent carries any more."""
    told = [WebhookSubscription.app_id == app_id, WebhookSubscription.status == "active"]
    adopted = [Delegation.app_id == app_id, Delegation.kind == "adopted"]
    if profile_id is not None:
        told.append(WebhookSubscription.profile_id == profile_id)
        adopted.append(Delegation.profile_id == profile_id)
    carried = sa.exists().where(
        OAuthAuthorization.app_id == Delegation.app_id,
        OAuthAuthorization.profile_id == Delegation.profile_id,
        OAuthAuthorization.status == "granted",
    )
    session.flush()
    session.execute(sa.update(WebhookSubscription).where(*told).values(status="paused"))
    session.execute(sa.delete(Delegation).where(*adopted, ~carried))


def _revoke(session: Session, authorization: OAuthAuthorization) -> None:
    at = now()
    tokens = sa.update(UserToken).where(UserToken.family_id == authorization.id, UserToken.revoked_at.is_(None))
    authorization.tokens_revoked += _changed(session, tokens.values(revoked_at=at))
    issued = sa.select(OAuthCode.api_key_id).where(OAuthCode.authorization_id == authorization.id)
    lineages = sa.select(ApiKey.lineage_id).where(ApiKey.id.in_(issued))
    keys = sa.update(ApiKey).where(ApiKey.lineage_id.in_(lineages), ApiKey.revoked_at.is_(None))
    authorization.keys_revoked += _changed(session, keys.values(revoked_at=at))
    if authorization.status == "granted":
        authorization.status, authorization.revoked_at = "revoked", at


def _changed(session: Session, statement: sa.Update) -> int:
    result = session.connection().execute(statement)
    return int(result.rowcount)
