"""Scopes: what each opens, which a new key gets, which expose people, and what a user token's grant maps to."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Scope(StrEnum):
    """Every scope of the interface, in its order."""

    ANALYTICS_READ = "analytics:read"
    CAMPAIGNS_READ = "campaigns:read"
    CONVERSIONS_READ = "conversions:read"
    REALTIME_READ = "realtime:read"
    CUSTOMERS_READ = "customers:read"
    VISITORS_READ = "visitors:read"
    COMMERCE_READ = "commerce:read"
    COMMERCE_LIVE = "commerce:live"
    EXPORTS_READ = "exports:read"
    EXPORTS_WRITE = "exports:write"
    WORKSPACES_WRITE = "workspaces:write"
    PROFILES_WRITE = "profiles:write"
    EVENTS_WRITE = "events:write"
    GOALS_WRITE = "goals:write"
    ATTRIBUTION_WRITE = "attribution:write"
    TRACKING_WRITE = "tracking:write"
    REPORTS_WRITE = "reports:write"
    CAMPAIGNS_APPLY = "campaigns:apply"
    CREATIVES_WRITE = "creatives:write"
    CONNECTIONS_READ = "connections:read"
    CONNECTIONS_WRITE = "connections:write"
    CALENDAR_READ = "calendar.read"
    CALENDAR = "calendar"
    CALENDAR_MANAGE = "calendar.manage"
    CHATAPP = "chatapp"
    CHATAPP_READ = "chatapp:read"
    SOCIAL = "social"
    PAGECHAT = "pagechat"
    SHORTVIDEO_MESSAGING = "shortvideo_messaging"
    EMAIL = "email"
    CONVERSATIONS_READ = "conversations:read"
    CONVERSATIONS_WRITE = "conversations:write"


DEFAULT_SCOPES = (Scope.ANALYTICS_READ, Scope.CAMPAIGNS_READ, Scope.CONVERSIONS_READ, Scope.REALTIME_READ)

PII = frozenset(
    {
        Scope.CUSTOMERS_READ,
        Scope.VISITORS_READ,
        Scope.COMMERCE_LIVE,
        Scope.CONVERSATIONS_READ,
        Scope.CONVERSATIONS_WRITE,
    }
)

# a scope of this list opens all that the other one does
INCLUDES = {Scope.CHATAPP: Scope.CHATAPP_READ}

GRANTS: dict[str, frozenset[Scope]] = {
    "mcp:read": frozenset(DEFAULT_SCOPES),
    "mcp:read_pii": frozenset({Scope.CUSTOMERS_READ}),
    "mcp:write": frozenset(
        {
            Scope.EXPORTS_READ,
            Scope.EXPORTS_WRITE,
            Scope.GOALS_WRITE,
            Scope.ATTRIBUTION_WRITE,
            Scope.TRACKING_WRITE,
            Scope.REPORTS_WRITE,
            Scope.WORKSPACES_WRITE,
            Scope.PROFILES_WRITE,
            Scope.CAMPAIGNS_APPLY,
        }
    ),
}

# what a consumer app may ask a person for, and the scopes that its key then has
CONNECT_SCOPES: dict[str, frozenset[Scope]] = {
    "analytics": frozenset(DEFAULT_SCOPES),
    "analytics_pii": frozenset({*DEFAULT_SCOPES, Scope.CUSTOMERS_READ, Scope.VISITORS_READ}),
    "commerce": frozenset({Scope.COMMERCE_READ, Scope.COMMERCE_LIVE}),
    "events": frozenset({Scope.EVENTS_WRITE}),
    "exports": frozenset({Scope.EXPORTS_READ, Scope.EXPORTS_WRITE}),
    "connections": frozenset({Scope.CONNECTIONS_READ, Scope.CONNECTIONS_WRITE}),
    "tracking": frozenset({Scope.TRACKING_WRITE}),
    "messaging": frozenset({Scope.CHATAPP}),
}

GRANTABLE = frozenset(scope for scopes in GRANTS.values() for scope in scopes)

# (method, route) that a user token never reaches, whatever its grant; a trailing /** stands for everything below
CLOSED_TO_USER_TOKENS = (
    ("*", "/api/v1/me/**"),
    ("POST", "/api/v1/workspaces/<workspace_id>/api-keys"),
    ("POST", "/api/v1/workspaces/<workspace_id>/api-keys/<key_id>/revoke"),
    ("POST", "/api/v1/workspaces/<workspace_id>/api-keys/<key_id>/rotate"),
    ("PATCH", "/api/v1/workspaces/<workspace_id>/api-keys"),
    ("DELETE", "/api/v1/workspaces/<workspace_id>/api-keys"),
    ("PUT", "/api/v1/workspaces/<workspace_id>/mcp-settings"),
)


def grants_with(missing: Iterable[str], held: frozenset[str]) -> list[str]:
    """The grants of a token that has the scopes `held`, and those with the `missing` ones; all in their own order."""
    wanted = frozenset(missing)
    return [name for name, scopes in GRANTS.items() if scopes <= held or not scopes.isdisjoint(wanted)]


def user_token_reaches(method: str, route: str, scope: Scope) -> bool:
    """Whether any grant could ever open `method route`, which needs `scope`, to a user token."""
    closed = any(
        verb in {"*", method} and (route == path or (path.endswith("/**") and route.startswith(path[:-2])))
        for verb, path in CLOSED_TO_USER_TOKENS
    )
    return scope in GRANTABLE and not closed
