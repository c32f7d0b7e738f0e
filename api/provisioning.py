"""What an app makes for its own people: workspaces, and the person who owns one."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api.db import now
from api.models import App, Membership, OAuthAuthorization, User, UserSession, UserToken, Workspace
from api.roles import Role

SOURCE = "oauth"


def person(session: Session, *, email: str, first_name: str | None = None, last_name: str | None = None) -> User:
    """The person whose address was verified, or one without a password.

    An account that never proved the address may be somebody else's: it loses its password, and all that its password
    opened.
    """
    user = _with(session, email)
    if user is None:
        try:
            with session.begin_nested():
                user = User(email=email, first_name=first_name, last_name=last_name)
                session.add(user)
        except sa.exc.IntegrityError:
            # made by somebody else meanwhile
            user = session.scalars(sa.select(User).where(User.email == email)).one()
    if user.email_verified_at is None:
        _reclaim(session, user)
    return user


def workspace(session: Session, app: App, *, name: str, timezone: str, currency: str, owner: User) -> Workspace:
    """A workspace on the starter plan that the app provisioned; nobody of it is ever sent mail."""
    made = Workspace(name=name, timezone=timezone, reporting_currency=currency)
    made.acquisition_source, made.provisioned_by_app_id = SOURCE, app.id
    session.add(made)
    session.flush()
    session.add(Membership(workspace_id=made.id, user_id=owner.id, role=Role.OWNER.word))
    session.flush()
    return made


def _with(session: Session, email: str) -> User | None:
    return session.scalars(sa.select(User).where(User.email == email).with_for_update()).one_or_none()


def _reclaim(session: Session, user: User) -> None:
    if user.password_hash is None:
        return
    user.password_hash = None
    for held in (UserSession, UserToken):
        live = sa.update(held).where(held.user_id == user.id, held.revoked_at.is_(None))
        session.execute(live.values(revoked_at=now()))
    given = sa.update(OAuthAuthorization).where(
        OAuthAuthorization.user_id == user.id, OAuthAuthorization.status.in_(("requested", "granted"))
    )
    session.execute(given.values(status="revoked", revoked_at=now()))
