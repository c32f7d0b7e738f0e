"""What a person may do: roles from guest to owner, the scopes each gives, and permissions that add or take some."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from api.scopes import DEFAULT_SCOPES, Scope


class Role(IntEnum):
    """Roles from the least to the most; compare them with `>=`."""

    GUEST = 1
    VIEWER = 2
    EDITOR = 3
    ADMIN = 4
    OWNER = 5

    @property
    def word(self) -> str:
        """The role as the interface writes it."""
        return self.name.lower()


ROLES = {role.word: role for role in Role}

_READS = frozenset(
    {*DEFAULT_SCOPES, Scope.COMMERCE_READ, Scope.CONNECTIONS_READ, Scope.EXPORTS_READ, Scope.CHATAPP_READ}
)
_EDITS = _READS | {
    Scope.EVENTS_WRITE,
    Scope.GOALS_WRITE,
    Scope.ATTRIBUTION_WRITE,
    Scope.TRACKING_WRITE,
    Scope.REPORTS_WRITE,
    Scope.CREATIVES_WRITE,
}
_OF_ROLE = {
    Role.GUEST: _READS,
    Role.VIEWER: _READS,
    Role.EDITOR: _EDITS,
    Role.ADMIN: frozenset(Scope),
    Role.OWNER: frozenset(Scope),
}
PERMISSIONS: dict[str, frozenset[Scope]] = {
    "pii.view": frozenset({Scope.CUSTOMERS_READ, Scope.VISITORS_READ, Scope.COMMERCE_LIVE}),
    "campaigns.apply": frozenset({Scope.CAMPAIGNS_APPLY}),
    "exports.manage": frozenset({Scope.EXPORTS_WRITE}),
    "connections.manage": frozenset({Scope.CONNECTIONS_WRITE}),
    "goals.manage": frozenset({Scope.GOALS_WRITE}),
    "tracking.manage": frozenset({Scope.TRACKING_WRITE}),
    "reports.manage": frozenset({Scope.REPORTS_WRITE}),
    "creatives.analyze": frozenset({Scope.CREATIVES_WRITE}),
}
# a role alone does not tell whether a person has one of these
BY_PERMISSION = frozenset[Scope]().union(*PERMISSIONS.values())


def scopes_of(role: Role, permissions: Iterable[str] = ()) -> frozenset[Scope]:
    """The scopes of a person: the role's, with each permission's added, or taken away where it begins with `-`.

    Taking wins over adding. Owners and admins keep every scope.
    """
    if role >= Role.ADMIN:
        return _OF_ROLE[role]
    words = set(permissions)
    added = {scope for word in words for scope in PERMISSIONS.get(word, ())}
    taken = {scope for word in words if word.startswith("-") for scope in PERMISSIONS.get(word[1:], ())}
    return (_OF_ROLE[role] | added) - taken
