"""Connections: one account at one provider, whose data a profile syncs."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now
from api.sealing import SealedText
from connectors.ad_platform import Access
from connectors.errors import ConnectorError, Refused, Revoked

ASKED = ("active", "needs_action")
UNFINISHED = ("pending", "pending_selection")
OWNERS_CALL = {"permission_missing", "policy_block"}
# the whole store is closed to everybody, which is no right that this connection lacks
SUSPENDED = {"shop_frozen", "shop_locked", "shop_not_found"}
# how the interface calls what our tables name otherwise
PROVIDER_WORDS = {"stripe": "payments"}
KIND_WORDS = {"ad_platform": "ads"}
HOLDING = ("active", "needs_action", "reconnect_required")
_HOLDS_ACCOUNT = "status in ('active', 'needs_action', 'reconnect_required')"


class Connection(Base):
    """One connection. `base_url` points at the provider, or at the bundled sandbox when `is_sandbox`.

    `status`: pending, pending_selection, active, needs_action, reconnect_required or disconnected; those of `ASKED` are
    asked. `status_reason` is a slug: why it needs somebody, or why the newest call failed or was left.

    `token` is sealed in the database; "" where there is none. `external_account_id` is "" until an account was chosen
    from `candidates`.
    `synced_through` is the last account day that was landed whole, with no gap before it. `login_kind` of a social
    account is page_linked or direct. `reached_through` is the account above it that providers who want it are told with
    each call.
    """

    __tablename__ = "connections"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), index=True)
    provider: Mapped[str] = mapped_column(sa.String(16))
    kind: Mapped[str] = mapped_column(sa.String(16))
    display_name: Mapped[str] = mapped_column(sa.String(120))
    external_account_id: Mapped[str] = mapped_column(sa.String(128))
    status: Mapped[str] = mapped_column(sa.String(24), default="active")
    status_reason: Mapped[str | None] = mapped_column(sa.String(255))
    base_url: Mapped[str] = mapped_column(sa.String(255))
    token: Mapped[str] = mapped_column(SealedText())
    scopes_granted: Mapped[list[str]] = mapped_column(default=list)
    is_sandbox: Mapped[bool] = mapped_column(default=False)
    currency: Mapped[str | None] = mapped_column(sa.String(3))
    timezone: Mapped[str | None] = mapped_column(sa.String(64))
    candidates: Mapped[list[Any]] = mapped_column(default=list)
    login_kind: Mapped[str | None] = mapped_column(sa.String(16))
    reached_through: Mapped[str | None] = mapped_column(sa.String(128))
    synced_through: Mapped[date | None]
    synced_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (
        # an account that was disconnected may be connected again, as another row
        sa.Index(
            "uq_connections_account",
            *("profile_id", "provider", "external_account_id"),
            unique=True,
            sqlite_where=sa.text(_HOLDS_ACCOUNT),
            postgresql_where=sa.text(_HOLDS_ACCOUNT),
        ),
    )

    @property
    def provider_word(self) -> str:
        """The provider as the interface calls it."""
        return PROVIDER_WORDS.get(self.provider, self.provider)

    @property
    def kind_word(self) -> str:
        """The kind as the interface calls it: ads, store, payments or messaging."""
        return KIND_WORDS.get(self.kind, self.kind)

    @property
    def access(self) -> Access:
        """What opens it, at an ad platform."""
        return Access(
            self.base_url,
            self.token,
            self.external_account_id,
            currency=self.currency,
            is_sandbox=self.is_sandbox,
            reached_through=self.reached_through,
        )

    def heard(self, failure: ConnectorError | None) -> bool:
        """Note how a read of the provider ended, None for well; True when this told that the token is dead and took it.

        Whoever disconnected or connected it anew meanwhile has the last word: call it on the row as it is now.
        """
        if self.status not in ASKED:
            return False
        self.status_reason = failure.reason if failure else None
        if isinstance(failure, Revoked):
            self.status, self.token = "reconnect_required", ""
            return True
        if failure is None:
            self.status = "active"
        elif isinstance(failure, Refused) and failure.reason in OWNERS_CALL | SUSPENDED:
            self.status = "needs_action"
        return False

    def __repr__(self) -> str:
        return f"<Connection {self.id} {self.provider} {self.status}>"
