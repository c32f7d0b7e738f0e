"""What the authorization server keeps between two requests: registered agents, codes and refresh tokens."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now


class OAuthClient(Base):
    """One agent that registered itself: a public client without a secret. `name` is what it calls itself.

    `scopes` are the grants it may ask for; none means all. Deleted once it has not been used for a month.
    """

    __tablename__ = "oauth_clients"

    client_id: Mapped[str] = mapped_column(sa.String(64), primary_key=True, default=new_id)
    name: Mapped[str] = mapped_column(sa.String(80))
    redirect_uris: Mapped[list[str]]
    scopes: Mapped[list[str]] = mapped_column(default=list)
    created_at: Mapped[datetime] = mapped_column(default=now)
    last_used_at: Mapped[datetime | None]


class OAuthCode(Base):
    """One authorization code, as its digest. A used one is kept, so that its replay ends what it gave.

    `redirect_uri` is null when the request left it out. `api_key_id` is the key that an app got for it.
    """

    __tablename__ = "oauth_codes"

    digest: Mapped[str] = mapped_column(sa.String(64), primary_key=True)
    authorization_id: Mapped[str] = mapped_column(sa.ForeignKey("oauth_authorizations.id"), index=True)
    client_id: Mapped[str] = mapped_column(sa.String(64))
    redirect_uri: Mapped[str | None] = mapped_column(sa.String(2000))
    code_challenge: Mapped[str | None] = mapped_column(sa.String(128))
    scopes: Mapped[list[str]]
    api_key_id: Mapped[str | None] = mapped_column(sa.String(36), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]

    @property
    def code_challenge_method(self) -> str:
        """How the challenge was made; there is one way."""
        return "S256"

    def get_redirect_uri(self) -> str | None:
        """The address of the request, which the exchange must repeat."""
        return self.redirect_uri

    def get_scope(self) -> str:
        """What was granted, as OAuth writes it."""
        return " ".join(self.scopes)


class OAuthRefreshToken(Base):
    """One refresh token, as its digest; it works once. `user_token_id` is the access token that came with it."""

    __tablename__ = "oauth_refresh_tokens"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    digest: Mapped[str] = mapped_column(sa.String(64), unique=True)
    authorization_id: Mapped[str] = mapped_column(sa.ForeignKey("oauth_authorizations.id"), index=True)
    client_id: Mapped[str] = mapped_column(sa.String(64))
    user_token_id: Mapped[str] = mapped_column(sa.ForeignKey("user_tokens.id"))
    scopes: Mapped[list[str]]
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]

    def check_client(self, client: Any) -> bool:
        """Whether it was issued to this client."""
        return bool(self.client_id == client.client_id)

    def get_scope(self) -> str:
        """What was granted, as OAuth writes it."""
        return " ".join(self.scopes)
