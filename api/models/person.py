"""People: who signs in, with what, and which workspaces and profiles they belong to."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now

NAMELESS = "A member"


class User(Base):
    """One person. Without `password_hash` (Argon2id) nobody signs in as them; `email` is in lower case."""

    __tablename__ = "users"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    email: Mapped[str] = mapped_column(sa.String(254), unique=True)
    email_verified_at: Mapped[datetime | None]
    password_hash: Mapped[str | None] = mapped_column(sa.String(255))
    first_name: Mapped[str | None] = mapped_column(sa.String(80))
    last_name: Mapped[str | None] = mapped_column(sa.String(80))
    locale: Mapped[str] = mapped_column(sa.String(2), default="en", server_default="en")
    created_at: Mapped[datetime] = mapped_column(default=now)

    @property
    def display_name(self) -> str:
        """The person's name for others to read; never the address."""
        return " ".join(part for part in (self.first_name, self.last_name) if part) or NAMELESS

    def __repr__(self) -> str:
        return f"<User {self.id}>"


class UserSession(Base):
    """One signed-in session; only the digest of its token is kept. `expires_at` is the absolute end."""

    __tablename__ = "user_sessions"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    user_id: Mapped[str] = mapped_column(sa.ForeignKey("users.id"), index=True)
    digest: Mapped[str] = mapped_column(sa.String(64), unique=True)
    user_agent: Mapped[str | None] = mapped_column(sa.String(255))
    created_at: Mapped[datetime] = mapped_column(default=now)
    last_seen_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]


class UserToken(Base):
    """One user token: what an agent holds for a person. `grants` are keys of `api.scopes.GRANTS`.

    `origin` is session (minted by hand) or oauth; then `client_id` names the client and `family_id` the authorization.
    """

    __tablename__ = "user_tokens"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    user_id: Mapped[str] = mapped_column(sa.ForeignKey("users.id"), index=True)
    name: Mapped[str] = mapped_column(sa.String(80))
    prefix: Mapped[str] = mapped_column(sa.String(24))
    digest: Mapped[str] = mapped_column(sa.String(64), unique=True)
    grants: Mapped[list[str]]
    origin: Mapped[str] = mapped_column(sa.String(8), default="session")
    client_id: Mapped[str | None] = mapped_column(sa.String(64), index=True)
    family_id: Mapped[str | None] = mapped_column(sa.String(36), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]


class Membership(Base):
    """One person in one workspace. A guest sees only the profiles of their `ProfileMembership` rows."""

    __tablename__ = "memberships"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    workspace_id: Mapped[str] = mapped_column(sa.ForeignKey("workspaces.id"))
    user_id: Mapped[str] = mapped_column(sa.ForeignKey("users.id"), index=True)
    role: Mapped[str] = mapped_column(sa.String(8))
    permissions: Mapped[list[str]] = mapped_column(default=list)
    created_at: Mapped[datetime] = mapped_column(default=now)
    last_seen_at: Mapped[datetime | None]

    __table_args__ = (
        sa.UniqueConstraint("workspace_id", "user_id"),
        sa.CheckConstraint("role in ('owner', 'admin', 'editor', 'viewer', 'guest')", name="role"),
    )


class ProfileMembership(Base):
    """A guest's place on one profile; `permissions` count only there."""

    __tablename__ = "profile_memberships"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    membership_id: Mapped[str] = mapped_column(sa.ForeignKey("memberships.id"))
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), index=True)
    role: Mapped[str] = mapped_column(sa.String(8), default="guest")
    permissions: Mapped[list[str]] = mapped_column(default=list)
    created_at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (
        sa.UniqueConstraint("membership_id", "profile_id"),
        sa.CheckConstraint("role in ('editor', 'viewer', 'guest')", name="role"),
    )


class Invitation(Base):
    """One invitation to a workspace, or to one of its profiles; only the digest of its token is kept.

    `status` is pending, accepted or revoked; `revoke_reason` is person, expired or workspace_archived.
    """

    __tablename__ = "invitations"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    workspace_id: Mapped[str] = mapped_column(sa.ForeignKey("workspaces.id"), index=True)
    profile_id: Mapped[str | None] = mapped_column(sa.ForeignKey("profiles.id"))
    email: Mapped[str] = mapped_column(sa.String(254))
    role: Mapped[str] = mapped_column(sa.String(8))
    permissions: Mapped[list[str]] = mapped_column(default=list)
    profile_ids: Mapped[list[Any] | None] = mapped_column(sa.JSON(none_as_null=True))
    digest: Mapped[str] = mapped_column(sa.String(64), unique=True)
    message: Mapped[str | None] = mapped_column(sa.String(500))
    status: Mapped[str] = mapped_column(sa.String(8), default="pending")
    revoke_reason: Mapped[str | None] = mapped_column(sa.String(24))
    invited_by_kind: Mapped[str] = mapped_column(sa.String(16))
    invited_by_id: Mapped[str | None] = mapped_column(sa.String(36))
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime]
    accepted_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]

    def __repr__(self) -> str:
        return f"<Invitation {self.id} {self.status}>"
