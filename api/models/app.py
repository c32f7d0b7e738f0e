"""Consumer apps: whoever provisions profiles and holds partner keys."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, validates

from api.app_names import LONGEST, key_of
from api.db import Base, new_id, now


class App(Base):
    """One consumer app. Keys minted for it are partner keys; `client_id` and a secret are its own credential.

    `workspace_id` is the workspace that administers it; an app without one exists only for partner keys of the
    command line. A suspended app's keys are revoked and its credential opens nothing. `name_key` follows `name`: no two
    apps have names that read the same.
    """

    __tablename__ = "apps"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    name: Mapped[str] = mapped_column(sa.String(LONGEST), unique=True)
    name_key: Mapped[str] = mapped_column(sa.String(64), unique=True)
    client_id: Mapped[str | None] = mapped_column(sa.String(64), unique=True)
    workspace_id: Mapped[str | None] = mapped_column(sa.ForeignKey("workspaces.id"), index=True)
    description: Mapped[str | None] = mapped_column(sa.String(500))
    logo_url: Mapped[str | None] = mapped_column(sa.String(2000))
    redirect_uris: Mapped[list[str]] = mapped_column(default=list, server_default="[]")
    connect_scopes: Mapped[list[str]] = mapped_column(default=list, server_default="[]")
    status: Mapped[str] = mapped_column(sa.String(16), default="active", server_default="active")
    created_at: Mapped[datetime] = mapped_column(default=now)

    @validates("name")
    def _named(self, _: str, name: str) -> str:
        # who had a twin before names were compared like this keeps both
        if name != self.name:
            self.name_key = key_of(name)
        return name


class AppSecret(Base):
    """One secret of an app, as its digest; an old one works until `expires_at`."""

    __tablename__ = "app_secrets"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    app_id: Mapped[str] = mapped_column(sa.ForeignKey("apps.id"), index=True)
    digest: Mapped[str] = mapped_column(sa.String(64), unique=True)
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime | None]


class Delegation(Base):
    """What ties an app to a profile: provisioned by it, or adopted. `external_ref` is the app's own name for it."""

    __tablename__ = "delegations"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    app_id: Mapped[str] = mapped_column(sa.ForeignKey("apps.id"))
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), index=True)
    external_ref: Mapped[str] = mapped_column(sa.String(128))
    kind: Mapped[str] = mapped_column(sa.String(16))
    created_at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (
        sa.UniqueConstraint("app_id", "external_ref"),
        sa.UniqueConstraint("app_id", "profile_id"),
        sa.CheckConstraint("kind in ('provisioned', 'adopted')", name="kind"),
    )
