"""OAuth authorizations: what a person lets a consumer app or an agent do."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now


class OAuthAuthorization(Base):
    """One consent of one person. Nothing is issued under it unless its `status` is granted.

    A consumer app's names the profile it opens; its keys carry the same `app_id` and `profile_id`. An agent's names
    neither workspace nor profile, and its tokens carry its id as their `family_id`.
    """

    __tablename__ = "oauth_authorizations"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    kind: Mapped[str] = mapped_column(sa.String(16))
    app_id: Mapped[str | None] = mapped_column(sa.ForeignKey("apps.id"), index=True)
    client_id: Mapped[str] = mapped_column(sa.String(64), index=True)
    client_name: Mapped[str] = mapped_column(sa.String(120))
    user_id: Mapped[str] = mapped_column(sa.ForeignKey("users.id"), index=True)
    workspace_id: Mapped[str | None] = mapped_column(sa.ForeignKey("workspaces.id"), index=True)
    profile_id: Mapped[str | None] = mapped_column(sa.ForeignKey("profiles.id"))
    scopes: Mapped[list[str]] = mapped_column(default=list)
    status: Mapped[str] = mapped_column(sa.String(16), default="requested")
    created_at: Mapped[datetime] = mapped_column(default=now)
    granted_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    keys_revoked: Mapped[int] = mapped_column(default=0)
    tokens_revoked: Mapped[int] = mapped_column(default=0)

    __table_args__ = (
        sa.CheckConstraint("kind in ('consumer_app', 'agent')", name="kind"),
        sa.CheckConstraint("status in ('requested', 'granted', 'denied', 'revoked')", name="status"),
    )


class DpaAcceptance(Base):
    """One signature under the data processing agreement of an app; the newest of an app counts."""

    __tablename__ = "dpa_acceptances"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    app_id: Mapped[str] = mapped_column(sa.ForeignKey("apps.id"), index=True)
    version: Mapped[str] = mapped_column(sa.String(16))
    text_hash: Mapped[str] = mapped_column(sa.String(64))
    signatory_name: Mapped[str] = mapped_column(sa.String(120))
    signatory_title: Mapped[str] = mapped_column(sa.String(120))
    accepted_by_kind: Mapped[str] = mapped_column(sa.String(16))
    accepted_by_id: Mapped[str] = mapped_column(sa.String(36))
    accepted_at: Mapped[datetime] = mapped_column(default=now)
    withdrawn_by_id: Mapped[str | None] = mapped_column(sa.String(36))
    withdrawn_at: Mapped[datetime | None]
    withdraw_reason: Mapped[str | None] = mapped_column(sa.String(500))
