"""Who may do what, written a second time from the interface and not from `api/guard.py`: the first refusal of a case.

Only the row of the guard table is shared with the code under test: which kinds, scopes and role a route asks for.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.factories.access import GRANTS, HOME_OF, Who

WRITES = {"POST", "PUT", "PATCH", "DELETE"}
RANKS = ("guest", "viewer", "editor", "admin", "owner")
READS = frozenset(
    {
        *("analytics:read", "campaigns:read", "conversions:read", "realtime:read"),
        *("commerce:read", "connections:read", "exports:read", "chatapp:read"),
    }
)
EDITS = READS | {
    *("events:write", "goals:write", "attribution:write", "tracking:write", "reports:write", "creatives:write"),
}
GIVEN = {"guest": READS, "viewer": READS, "editor": EDITS}
PEOPLE = frozenset({"customers:read", "visitors:read", "commerce:live"})
PERMITTED = {
    "pii.view": PEOPLE,
    "campaigns.apply": frozenset({"campaigns:apply"}),
    "exports.manage": frozenset({"exports:write"}),
    "connections.manage": frozenset({"connections:write"}),
    "goals.manage": frozenset({"goals:write"}),
    "tracking.manage": frozenset({"tracking:write"}),
    "reports.manage": frozenset({"reports:write"}),
    "creatives.analyze": frozenset({"creatives:write"}),
}
# what a permission adds to an editor's role, and to none below it
OF_EDITORS = frozenset({"campaigns:apply", "exports:write", "connections:write"})
# about no workspace by their path, but about the only one of the person, or the one that the query names
IN_OWN_WORKSPACE = {
    ("POST", "/profiles/demo"): "admin",
    ("DELETE", "/profiles/demo"): "admin",
    ("GET", "/webhooks/subscriptions"): "admin",
    ("POST", "/webhooks/subscriptions"): "admin",
    ("PATCH", "/webhooks/subscriptions/<subscription_id>"): "admin",
    ("DELETE", "/webhooks/subscriptions/<subscription_id>"): "admin",
    ("POST", "/webhooks/subscriptions/<subscription_id>/rotate-secret"): "admin",
    ("POST", "/webhooks/subscriptions/<subscription_id>/test"): "admin",
    ("GET", "/webhooks/deliveries"): "admin",
    ("POST", "/webhooks/deliveries/<delivery_id>/replay"): "admin",
}
# below this role one may do it to oneself, which the route has to look at
UNLESS_ONESELF = {("DELETE", "/workspaces/<workspace_id>/memberships/<membership_id>"): "admin"}
# they do nothing, and say so to whoever has any credential, whatever is asked about
RETIRED = {"/dashboard/chat", "/workspaces/<workspace>/top-performers/chat"}
SESSION_ONLY = ("/workspaces/<workspace_id>/api-keys", "/workspaces/<workspace_id>/mcp-settings")


@dataclass(frozen=True)
class Operation:
    """One row of the guard table. `grain` is profile, workspace or caller; `uuids` the path parts that are ids."""

    method: str
    rule: str
    kinds: frozenset[str]
    scopes: frozenset[str]
    grain: str
    role: str
    partner: bool
    key_scopes: frozenset[str] | None
    token_scopes: frozenset[str] | None
    by_place: bool
    uuids: tuple[str, ...]

    @property
    def path(self) -> str:
        """The rule as the interface writes it, without its prefix."""
        return self.rule.removeprefix("/api/v1")

    def takes(self, name: str) -> bool:
        """Whether the path has this part."""
        return f"<{name}>" in self.rule


@dataclass(frozen=True)
class Target:
    """What one request names, by the names of `tests/factories/access.py`: in the path, and in the query."""

    workspace: str | None = None
    profile: str | None = None
    asked_profile: str | None = None
    asked_workspace: str | None = None
    other_ids: str = "unknown"


Refusal = tuple[int, str]
REFUSED_UNAUTHORIZED: Refusal = (401, "unauthorized")
MALFORMED: Refusal = (400, "invalid_parameter")
NOT_FOUND: Refusal = (404, "not_found")
GONE: Refusal = (410, "feature_retired")


def closed_to_tokens(operation: Operation) -> bool:
    """Whether no grant could ever open this to a user token."""
    grantable = frozenset().union(*GRANTS.values())
    personal = operation.path.startswith("/me/")
    keys = operation.path.startswith(SESSION_ONLY) and operation.method in WRITES
    return personal or keys or not operation.scopes <= grantable


def of_credential(operation: Operation, who: Who) -> Refusal | None:
    """What is refused whatever the request names: a dead credential, or one of the wrong kind."""
    if who.kind in {"none", "dead"}:
        return REFUSED_UNAUTHORIZED
    if operation.kinds == {"api_key"} and who.kind != "api_key":
        return (403, "api_key_required")
    if operation.partner and not who.partner and not (who.kind == "session" and who.kind in operation.kinds):
        return (403, "forbidden") if who.kind == "app" else (403, "api_key_required")
    if who.kind not in operation.kinds:
        refused_by_scope = who.kind == "user_token" and operation.kinds != {"app"}
        return (403, "insufficient_scope") if refused_by_scope else (403, "forbidden")
    if who.kind == "user_token" and closed_to_tokens(operation):
        return (403, "insufficient_scope")
    return None


def refusal(operation: Operation, who: Who, target: Target) -> Refusal | None:
    """The first refusal that the interface foresees, or None where the request must get through to the route."""
    return (
        of_credential(operation, who)
        or (GONE if operation.path in RETIRED else None)
        or _of_ids(operation, who, target)
        or _of_reach(operation, who, target)
        or _of_scope(operation, who, target)
        or _of_role(operation, who, target)
        or _of_permission(operation, who, target)
    )


def _of_ids(operation: Operation, who: Who, target: Target) -> Refusal | None:
    if "malformed" in {target.workspace, target.profile, target.asked_profile, target.asked_workspace}:
        return MALFORMED
    if target.other_ids == "malformed" and set(operation.uuids) - {"workspace_id", "profile_id"}:
        return MALFORMED
    if target.profile and target.asked_profile not in {None, target.profile}:
        return MALFORMED
    if target.workspace and target.asked_workspace not in {None, target.workspace}:
        return MALFORMED
    needs_name = operation.grain == "profile" and who.kind in {"user_token", "session"}
    if needs_name and not (target.profile or target.asked_profile):
        return (400, "invalid_request")
    return None


def _of_reach(operation: Operation, who: Who, target: Target) -> Refusal | None:
    profile, workspace = _named(target)
    if profile == "unknown" or workspace == "unknown":
        return NOT_FOUND
    if profile and workspace not in {None, HOME_OF[profile]}:
        return NOT_FOUND
    if who.key_of:
        seen = profile in {None, who.key_of} and workspace in {None, HOME_OF[who.key_of]}
    elif who.kind == "app":
        seen = profile in {None, *who.delegated} and workspace in {None, *who.provisioned}
    else:
        seen = workspace in {None, *who.roles}
        if profile:
            role = who.roles.get(HOME_OF[profile])
            seen = role is not None and (role != "guest" or profile in who.places)
    return None if seen else NOT_FOUND


def _of_scope(operation: Operation, who: Who, target: Target) -> Refusal | None:
    if who.kind == "app":
        return None
    own = operation.key_scopes if who.key_of else operation.token_scopes if who.kind == "user_token" else None
    if own is not None:
        has_one = not own or who.carries is None or own & who.carries
        return None if has_one else (403, "insufficient_scope")
    lacks = who.carries is not None and not operation.scopes <= who.carries
    if not who.key_of and operation.grain == "profile":
        given = _given(who, _role(operation, who, target), target)
        lacks = lacks or (given is not None and not operation.scopes <= given)
    return (403, "insufficient_scope") if lacks else None


def _of_role(operation: Operation, who: Who, target: Target) -> Refusal | None:
    if who.kind == "app" or who.key_of:
        return None
    if operation.grain == "caller":
        return _of_own_workspace(operation, who, target)
    asked = UNLESS_ONESELF.get((operation.method, operation.path), operation.role)
    least = max(RANKS.index(asked), RANKS.index("editor") if operation.scopes & OF_EDITORS else 0)
    return None if RANKS.index(_role(operation, who, target)) >= least else (403, "forbidden")


def _of_permission(operation: Operation, who: Who, target: Target) -> Refusal | None:
    if who.kind == "app" or who.key_of or operation.grain != "workspace":
        return None
    given = _given(who, _role(operation, who, target), target)
    needed = operation.scopes & frozenset().union(*PERMITTED.values())
    return None if given is None or needed <= given else (403, "insufficient_scope")


def _given(who: Who, role: str, target: Target) -> frozenset[str] | None:
    """The scopes that the role and the permissions beside it give; None for all."""
    if role not in GIVEN:
        return None
    added = frozenset().union(*(PERMITTED.get(one, frozenset()) for one in who.permissions))
    taken = frozenset().union(*(PERMITTED.get(one[1:], frozenset()) for one in who.permissions if one[0] == "-"))
    profile, workspace = _named(target)
    is_guest = who.roles[workspace or HOME_OF[profile or ""]] == "guest"
    return (GIVEN[role] | added) - taken - (PEOPLE if is_guest else frozenset())


def _of_own_workspace(operation: Operation, who: Who, target: Target) -> Refusal | None:
    profile, workspace = _named(target)
    only = next(iter(who.roles)) if len(who.roles) == 1 else None
    meant = workspace or (HOME_OF[profile] if profile else only)
    asked = IN_OWN_WORKSPACE.get((operation.method, operation.path))
    if asked is None or meant is None:
        return None
    return None if RANKS.index(who.roles[meant]) >= RANKS.index(asked) else (403, "forbidden")


def _role(operation: Operation, who: Who, target: Target) -> str:
    profile, workspace = _named(target)
    role = who.roles[workspace or HOME_OF[profile or ""]]
    # a place on a profile is no place in the workspace's own affairs
    about_it = target.profile or operation.grain != "workspace" or operation.by_place
    return who.places[profile] if role == "guest" and profile and about_it else role


def _named(target: Target) -> tuple[str | None, str | None]:
    return target.profile or target.asked_profile, target.workspace or target.asked_workspace
