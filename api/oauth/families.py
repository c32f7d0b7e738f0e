"""What is issued under one authorization, and how all of it ends together.

Whoever issues or ends takes rows in one order: app, workspace, profile, authorizations (the newest consent first), and
then codes, tokens, keys, subscriptions. Of two at once the second thus finds what the first did, and none meets another
half way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import audit, context, credentials, errors
from api.db import now
from api.forgetting import forgetting
from api.models import (
    ApiKey,
    App,
    Delegation,
    Entitlement,
    OAuthAuthorization,
    OAuthCode,
    OAuthRefreshToken,
    Profile,
    UserToken,
    WebhookSubscription,
    Workspace,
)
from api.models.entitlement import PARTNER_AUDIENCES
from api.oauth.clients import TOKEN_LIFE
from api.scopes import CONNECT_SCOPES
from touchledger.settings import Settings

REFRESH_LIFE = timedelta(days=30)
# usage is asked of up to 366 days, and told with the name of the token
TOKENS_KEPT, REFRESH_KEPT = timedelta(days=400), 2 * REFRESH_LIFE
# why a consent ended that no person of the workspace took back
GIVEN_BACK, USED_TWICE, SUSPENDED = "given_back", "code_used_twice", "app_suspended"


def hold_app(session: Session, app_id: str) -> App:
    """The app as it is now, which nobody suspends until this unit of work is over; before any of its other rows."""
    # not so much that rows which name the app would wait
    return session.get_one(App, app_id, with_for_update={"key_share": True}, populate_existing=True)


def hold_active_app(session: Session, app_id: str) -> App:
    """The same; 403 app_suspended when that happened since the app was let in."""
    app = hold_app(session, app_id)
    if app.status != "active":
        raise errors.FORBIDDEN("This app is suspended.", reason="app_suspended")
    return app


def hold(session: Session, *which: sa.ColumnElement[bool]) -> Sequence[OAuthAuthorization]:
    """Authorizations as they are now, under which nobody else issues or ends anything until this unit is over.

    Before any code, token or key is looked at, and after app, workspace and profile.
    """
    newest_first = OAuthAuthorization.granted_at.desc().nulls_last(), OAuthAuthorization.id.desc()
    chosen = sa.select(OAuthAuthorization).where(*which).order_by(*newest_first).with_for_update()
    return session.scalars(chosen.execution_options(populate_existing=True)).all()


def consent_of_key(key: ApiKey) -> sa.ColumnElement[bool]:
    """Which authorization a key, or the one that it was rotated from, was issued under; none for most keys."""
    siblings = sa.select(ApiKey.id).where(ApiKey.lineage_id == key.lineage_id)
    issued = sa.select(OAuthCode.authorization_id).where(OAuthCode.api_key_id.in_(siblings))
    return OAuthAuthorization.id.in_(issued)


def hold_key(session: Session, key: ApiKey, workspace_id: str) -> None:
    """Read a key of the workspace again, which nobody ends, by whatever could end it, until this unit is over."""
    if key.app_id is not None:
        hold_app(session, key.app_id)
    session.scalar(sa.select(Workspace.id).where(Workspace.id == workspace_id).with_for_update(key_share=True))
    hold(session, consent_of_key(key))
    session.refresh(key, with_for_update=True)


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


def forgetting_old() -> Callable[[Settings], int]:
    """Drops what agents were given and works no more, a part in each round: an agent comes for a pair each day."""
    came_with = sa.exists().where(OAuthRefreshToken.user_token_id == UserToken.id)
    refreshes = forgetting(OAuthRefreshToken.created_at, REFRESH_KEPT)
    tokens = forgetting(UserToken.created_at, TOKENS_KEPT, UserToken.origin == "oauth", ~came_with)
    return lambda settings: refreshes(settings) + tokens(settings)


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
    earlier = (
        OAuthAuthorization.client_id == by.client_id,
        OAuthAuthorization.granted_at < by.granted_at,
        OAuthAuthorization.status == "granted",
        same,
    )
    for one in hold(session, *earlier):
        _revoke(session, one)


def end(session: Session, authorization: OAuthAuthorization, *, why: str | None = None) -> None:
    """Revoke a held authorization with every token and key issued under it; refresh tokens end with it.

    An app is no longer told of the profile, and what it adopted there ends with its last consent. One that had ended
    ends nothing of those: what its app is told now it is told under a newer consent, or by a key of another origin.
    `why` is for ends that no person of the workspace asked for: its trail tells them.
    """
    had_ended = authorization.status == "revoked"
    _revoke(session, authorization)
    if why is not None and not had_ended:
        tell_end(session, authorization, why)
    if authorization.app_id is not None and authorization.profile_id is not None and not had_ended:
        let_go(session, app_id=authorization.app_id, profile_id=authorization.profile_id)


def tell_end(session: Session, authorization: OAuthAuthorization, why: str) -> None:
    """Put the end of an app's consent into the trail of the workspace; agents have no workspace, and no row."""
    if authorization.workspace_id is None:
        return
    who = ("app", authorization.app_id) if why == GIVEN_BACK else ("system", None)
    actor = audit.Actor(*who, authorization.workspace_id, authorization.profile_id, context.request_id())
    target = audit.target("authorization", authorization.id, authorization.client_name)
    details = {"target": target, "after": {"reason": why}}
    audit.record(session, actor, audit.Attempt("app.disconnected", details, category="credentials"))


def give_back(session: Session, key: ApiKey) -> None:
    """End a key that no consent gave, as its app asks; one that had ended changes nothing, and the trail neither."""
    session.refresh(key, with_for_update=True)
    at = now()
    if key.revoked_at is not None or (key.expires_at is not None and key.expires_at <= at):
        return
    key.revoked_at = at
    workspace_id = session.get_one(Profile, key.profile_id).workspace_id
    actor = audit.Actor("app", key.app_id, workspace_id, key.profile_id, context.request_id())
    details = {"target": audit.target("api_key", key.id, key.name), "after": {"reason": GIVEN_BACK}}
    audit.record(session, actor, audit.Attempt("api_key.revoked", details, category="credentials"))


def let_go(session: Session, *, app_id: str, profile_id: str | None = None) -> None:
    """Pause what an app is told of a profile, or of all, and end adoptions that no consent carries any more.

    With its last app a profile loses what apps switched on: nobody is left who could switch it off.
    """
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
    left = sa.delete(Delegation).where(*adopted, ~carried).returning(Delegation.profile_id)
    for one in session.scalars(left).all():
        tied = sa.exists().where(Delegation.profile_id == Entitlement.profile_id)
        switched = Entitlement.profile_id == one, Entitlement.feature == PARTNER_AUDIENCES, Entitlement.is_enabled
        session.execute(sa.update(Entitlement).where(*switched, ~tied).values(is_enabled=False, updated_at=now()))


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
