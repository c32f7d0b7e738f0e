"""People of a test deployment: users, their sessions and tokens, their places in workspaces, and apps."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from api import credentials, db
from api.models import App, AppSecret, Delegation, Membership, Profile, ProfileMembership, User, UserSession, UserToken
from api.roles import Role


def user(url: str, *, email: str | None = None, verified: bool = True, name: str = "Ada") -> User:
    """A person without a password."""
    with db.transaction(url) as session:
        made = User(email=email or f"{db.new_id()}@example.com", first_name=name)
        made.email_verified_at = db.now() if verified else None
        session.add(made)
    return made


def session_of(url: str, of: User) -> str:
    """The token of a new session."""
    token = credentials.mint("tl_sess")
    with db.transaction(url) as session:
        ends = db.now() + timedelta(days=30)
        session.add(UserSession(user_id=of.id, digest=credentials.digest(token), expires_at=ends))
    return token


def token_of(url: str, of: User, *, grants: Iterable[str] = ("mcp:read",), days: float = 90) -> str:
    """A new user token with these grants."""
    token = credentials.mint("tl_user")
    with db.transaction(url) as session:
        made = UserToken(user_id=of.id, name="test", prefix=credentials.shown(token), grants=list(grants))
        made.digest, made.expires_at = credentials.digest(token), db.now() + timedelta(days=days)
        session.add(made)
    return token


def member(
    url: str,
    of: User,
    workspace_id: str,
    role: Role = Role.OWNER,
    *,
    permissions: Sequence[str] = (),
    profiles: Iterable[Profile] = (),
    profile_role: Role = Role.GUEST,
) -> Membership:
    """A place in a workspace; for a guest also one on each of `profiles`."""
    with db.transaction(url) as session:
        made = Membership(workspace_id=workspace_id, user_id=of.id, role=role.word, permissions=list(permissions))
        session.add(made)
        session.flush()
        for profile in profiles:
            session.add(ProfileMembership(membership_id=made.id, profile_id=profile.id, role=profile_role.word))
    return made


@dataclass(frozen=True)
class AppCredential:
    """An app and the header it authenticates with."""

    app: App
    header: str


def app(url: str, *, workspace_id: str | None = None, connect_scopes: Sequence[str] = ("analytics",)) -> AppCredential:
    """A registered app."""
    client_id, secret = credentials.mint("tl_app"), credentials.mint("tl_secret")
    with db.transaction(url) as session:
        made = App(name=f"app {db.new_id()}", client_id=client_id, workspace_id=workspace_id)
        made.connect_scopes = list(connect_scopes)
        session.add(made)
        session.flush()
        session.add(AppSecret(app_id=made.id, digest=credentials.digest(secret)))
    return AppCredential(made, "Basic " + base64.b64encode(f"{client_id}:{secret}".encode()).decode())


def delegate(url: str, of: App, profile: Profile, *, external_ref: str = "ref", kind: str = "provisioned") -> None:
    """Tie a profile to an app."""
    with db.transaction(url) as session:
        session.add(Delegation(app_id=of.id, profile_id=profile.id, external_ref=external_ref, kind=kind))
