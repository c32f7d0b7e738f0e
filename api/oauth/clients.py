"""The two kinds of clients as Authlib sees them: agents that registered themselves, and apps of a workspace."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

import sqlalchemy as sa
from authlib.oauth2.rfc6749 import ClientMixin
from sqlalchemy.orm import Session

from api import credentials
from api.db import now
from api.models import App, AppSecret, OAuthClient
from api.oauth import redirects
from api.scopes import CONNECT_SCOPES, GRANTS

BASIC, POST, NONE = "client_secret_basic", "client_secret_post", "none"
# an unknown client is refused by the first method that reads its id, so the ones with a secret come first
METHODS = [BASIC, POST, NONE]
DEFAULT_GRANT = "mcp:read"
TOKEN_LIFE = timedelta(hours=24)
_AGENT_ID = re.compile(r"[0-9a-f-]{36}")


class Client(ClientMixin):  # type: ignore[misc]
    """What both kinds share. `kind` is that of the authorizations it gets."""

    kind: str
    client_id: str
    name: str
    redirect_uris: list[str]
    scopes: list[str]
    access_prefix: str
    expires_in: int
    methods: frozenset[str]
    grant_types: frozenset[str]
    default_scopes: list[str]

    def get_client_id(self) -> str:
        """Its id."""
        return self.client_id

    def get_default_redirect_uri(self) -> str | None:
        """Where to when the request names nothing: the only registered address."""
        return self.redirect_uris[0] if len(self.redirect_uris) == 1 else None

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        """Whether a browser may be sent there."""
        return redirects.is_registered(redirect_uri, self.redirect_uris)

    def get_allowed_scope(self, scope: str | None) -> str | None:
        """What was asked for, each once and in our order; None when any of it is unknown or not this client's."""
        wanted = set((scope or "").split()) or set(self.default_scopes)
        if not wanted or not wanted <= set(self.scopes):
            return None
        return " ".join(one for one in self.scopes if one in wanted)

    def check_endpoint_auth_method(self, method: str, _endpoint: str) -> bool:
        """Whether this client proves itself so."""
        return method in self.methods

    def check_response_type(self, response_type: str) -> bool:
        """Codes only."""
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        """Whether this client may exchange such a thing for a token."""
        return grant_type in self.grant_types


@dataclass
class Agent(Client):
    """A public client: proves itself by PKCE alone, and gets user tokens for a day with refresh tokens."""

    row: OAuthClient

    kind = "agent"
    access_prefix = "tl_user"
    expires_in = int(TOKEN_LIFE.total_seconds())
    methods = frozenset({NONE})
    grant_types = frozenset({"authorization_code", "refresh_token"})
    default_scopes = [DEFAULT_GRANT]

    def __post_init__(self) -> None:
        self.client_id, self.name, self.redirect_uris = self.row.client_id, self.row.name, self.row.redirect_uris
        self.scopes = [one for one in GRANTS if not self.row.scopes or one in self.row.scopes]

    def check_client_secret(self, _secret: str) -> bool:
        """It has none."""
        return False


@dataclass
class Consumer(Client):
    """A consumer app: proves itself by its secret, and gets a partner key of one profile."""

    row: App
    digests: list[str]

    kind = "consumer_app"
    access_prefix = "tl_live"
    expires_in = 0
    methods = frozenset({BASIC, POST})
    grant_types = frozenset({"authorization_code"})

    def __post_init__(self) -> None:
        self.client_id, self.name, self.redirect_uris = self.row.client_id or "", self.row.name, self.row.redirect_uris
        self.scopes = [one for one in CONNECT_SCOPES if one in self.row.connect_scopes]
        self.default_scopes = self.scopes

    def check_client_secret(self, secret: str) -> bool:
        """Whether it is a secret of the app that still works."""
        return credentials.is_well_formed(secret, "tl_secret") and any(
            hmac.compare_digest(one, credentials.digest(secret)) for one in self.digests
        )


def find(session: Session, client_id: str) -> Client | None:
    """The client of an id; None when it is unknown, or an app that is not active."""
    if _AGENT_ID.fullmatch(client_id):
        agent = session.get(OAuthClient, client_id)
        return Agent(agent) if agent else None
    if not credentials.is_well_formed(client_id, "tl_app"):
        return None
    app = session.scalars(sa.select(App).where(App.client_id == client_id, App.status == "active")).one_or_none()
    if app is None:
        return None
    live = sa.or_(AppSecret.expires_at.is_(None), AppSecret.expires_at > now())
    return Consumer(app, list(session.scalars(sa.select(AppSecret.digest).where(AppSecret.app_id == app.id, live))))


EXPLAINED: Mapping[str, str] = {
    "mcp:read": "Read campaign figures, conversions and reports of the profiles you can open",
    "mcp:read_pii": "Read customers and their journeys, where you may see them",
    "mcp:write": (
        "Change what you may change: goals, attribution, tracking, exports, reports, campaigns, and workspaces with "
        "their profiles and members"
    ),
    "analytics": "Read campaign figures, conversions and visitors' counts",
    "analytics_pii": "Read campaign figures and conversions, and the customers and visitors behind them",
    "commerce": "Read products and orders, with the buyers' e-mail addresses and phone numbers",
    "events": "Send conversions and other outcomes",
    "exports": "Read and set up what is sent to ad platforms",
    "connections": "See, add and remove connections to ad accounts and stores",
    "tracking": "Set up tracking",
    "messaging": "Send and manage chat messages and templates",
}
