"""The door of every route: who (auth), how often (rate_limit), what they see (reach), may they (scopes, roles).

In the order of refusals.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import wraps
from typing import Any, TypeVar, cast

from flask import g, request
from sqlalchemy.orm import Session

from api import asked, auth, context, db, errors, rate_limit, reach, usage
from api.auth import Kind, Principal
from api.models import Workspace
from api.roles import Role
from api.scopes import Scope, user_token_reaches

View = TypeVar("View", bound=Callable[..., Any])

READERS = frozenset({Kind.API_KEY, Kind.USER_TOKEN, Kind.SESSION})
PEOPLE = frozenset({Kind.USER_TOKEN, Kind.SESSION})
MEBIBYTE = 1024 * 1024
WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class Grain(StrEnum):
    """What a route is about: one profile, one workspace of the path, or neither."""

    PROFILE = "profile"
    WORKSPACE = "workspace"
    CALLER = "caller"


@dataclass(frozen=True, slots=True)
class Guard:
    """What one route asks of its caller: the row of the guard table that OpenAPI and docs/routes.md are made from."""

    scope: Scope | None
    units: int
    kinds: frozenset[Kind]
    max_body: int = MEBIBYTE
    uuids: tuple[str, ...] = ()
    needs_entitlement: bool = True
    partner: bool = False
    also: tuple[Scope, ...] = ()
    grain: Grain = Grain.PROFILE
    role: Role = Role.GUEST
    archived_too: bool = False
    key_needs_scope: bool = True
    app_bucket: rate_limit.Bucket | None = None

    @property
    def scopes(self) -> list[Scope]:
        return [self.scope, *self.also] if self.scope else []

    @property
    def is_public(self) -> bool:
        return not self.kinds

    def kinds_for(self, method: str, route: str) -> list[Kind]:
        """The kinds that can ever pass, in the order of the enum; a user token only where a grant yields the scope."""
        closed = not all(user_token_reaches(method, route, scope) for scope in self.scopes)
        return [kind for kind in Kind if kind in self.kinds and not (closed and kind is Kind.USER_TOKEN)]


def guarded(
    *,
    scope: Scope,
    also: Collection[Scope] = (),
    units: int = 1,
    kinds: Collection[Kind] = READERS,
    max_body: int = MEBIBYTE,
    uuids: Collection[str] = (),
    needs_entitlement: bool = True,
    role: Role = Role.GUEST,
    key_needs_scope: bool = True,
) -> Callable[[View], View]:
    """Let a view of one profile be reached only by `kinds` of credential that hold `scope`, at `units` of allowance.

    The view finds its profile in `auth.current().profile`: the key's own, or the one a person names by `profile_id`
    (or the path's `profile_id`). `also` names scopes that are needed beside `scope`, `role` the least role of a person.
    Stands directly under `route` and above `arguments` and `response`. `max_body` is in bytes. `uuids` names the parts
    of the path that are UUIDs: in another form they are 400 invalid_parameter, and the view gets them in lower case.
    `needs_entitlement=False` lets a write through that a profile without attribution may still do;
    `key_needs_scope=False` lets every key of the profile in, whatever its scopes.
    """
    guard = Guard(scope, units, frozenset(kinds), max_body, tuple(uuids), needs_entitlement, also=tuple(also))
    return _attach(replace(guard, role=role, key_needs_scope=key_needs_scope))


def workspace_guarded(
    *,
    scope: Scope = Scope.ANALYTICS_READ,
    role: Role = Role.GUEST,
    units: int = 1,
    kinds: Collection[Kind] = PEOPLE,
    max_body: int = MEBIBYTE,
    uuids: Collection[str] = (),
    archived_too: bool = False,
) -> Callable[[View], View]:
    """Let a view of the path's `workspace_id` be reached only by its members of at least `role`; a stranger gets 404.

    `scope` is what a user token's grant must give (`workspaces:write` for writes that name none). The view finds the
    workspace in `auth.current().workspace`, and the membership in `.reach`; with a `profile_id` in path or query
    `.profile` is that profile, if the person can open it. `archived_too` also lets in the owners of an archived one.
    """
    ids = ("workspace_id", *uuids)
    guard = Guard(scope, units, frozenset(kinds), max_body, ids, needs_entitlement=False, grain=Grain.WORKSPACE)
    return _attach(replace(guard, role=role, archived_too=archived_too))


def caller_guarded(
    *,
    scope: Scope | None = None,
    units: int = 1,
    kinds: Collection[Kind] = PEOPLE,
    max_body: int = MEBIBYTE,
    uuids: Collection[str] = (),
    key_needs_scope: bool = True,
    app_bucket: rate_limit.Bucket | None = None,
) -> Callable[[View], View]:
    """Let a view that is about the caller alone be reached by `kinds`; a user token's grant must give `scope`.

    For `/me`, the lists of what the caller belongs to, creations, and everything an app does: the view finds what it
    works on through `api/reach.py`, never by a raw id. An app's calls count in `app_bucket` instead of `units`.
    """
    guard = Guard(scope, units, frozenset(kinds), max_body, tuple(uuids), needs_entitlement=False, grain=Grain.CALLER)
    return _attach(replace(guard, key_needs_scope=key_needs_scope, app_bucket=app_bucket))


def partner_only(
    *, units: int = 1, uuids: Collection[str] = (), needs_entitlement: bool = False
) -> Callable[[View], View]:
    """Let a view be reached only by partner keys, whatever their scopes; 403 api_key_required for everyone else."""
    guard = Guard(None, units, frozenset({Kind.API_KEY}), MEBIBYTE, tuple(uuids), needs_entitlement, partner=True)
    return _attach(guard)


def public(view: View) -> View:
    """Mark a view that needs no credential. Without `guarded` or `public` a route does not import.

    Under /api it refuses unknown query names and large bodies as every other route does.
    """
    return _attach(Guard(None, 0, frozenset()))(view)


def guard_of(view: Any) -> Guard | None:
    """The guard of a view function, or None."""
    return cast("Guard | None", getattr(view, "guard", None))


def _attach(guard: Guard) -> Callable[[View], View]:
    def decorator(view: View) -> View:
        known = asked.query_names(view) | (frozenset() if guard.is_public else asked.EVERYWHERE)

        @wraps(view)
        def entered(*args: Any, **kwargs: Any) -> Any:
            if not guard.is_public:
                kwargs |= _admit(guard, kwargs)
            # links to pages may carry whatever their senders count by
            if not guard.is_public or request.path.startswith("/api/"):
                asked.refuse_names(known)
                asked.refuse_size(guard.max_body, sized=request.method in WRITES)
            return view(*args, **kwargs)

        entered.guard = guard  # type: ignore[attr-defined]
        entered._apidoc = {**getattr(view, "_apidoc", {}), "guard": guard, "operation": view.__name__}  # type: ignore[attr-defined]
        return cast(View, entered)

    return decorator


def _admit(guard: Guard, path: Mapping[str, str]) -> dict[str, str]:
    given = auth.presented(request.headers.get("Authorization"))
    # one short transaction, over before the view runs: SQLite lets one writer in at a time
    with db.transaction(context.settings().operational_url, durable=False) as session:
        principal = auth.authenticate(session, given)
        _refuse_kind(principal, guard)
        auth.require_address(principal, request.remote_addr)
        own = guard.app_bucket if principal.kind is Kind.APP else None
        units = 0 if own else guard.units
        g.allowance = rate_limit.charge(session, principal.account, units=units, limit=principal.limit)
        # what was charged stays charged, whatever is refused from here on
        g.principal, refusal = principal, _spent(session, principal, own) if own else None
        refusal = refusal or _within(session, guard, path)
        usage.admit(session, g.principal, units=0 if g.allowance.retry_after else units, refusal=refusal)
    if refusal is not None:
        raise refusal
    return cast("dict[str, str]", g.ids)


def _spent(session: Session, principal: Principal, own: rate_limit.Bucket) -> errors.ApiError | None:
    name = f"{principal.account}:{own.reason}"
    found = rate_limit.charge(session, name, units=1, limit=own.limit, window=own.window)
    return None if found.retry_after is None else _rate_exceeded(own.reason, found.retry_after)


def _within(session: Session, guard: Guard, path: Mapping[str, str]) -> errors.ApiError | None:
    try:
        _refuse_rate(g.allowance)
        g.ids = {name: asked.as_uuid(name, path[name]) for name in guard.uuids}
        g.principal = replace(g.principal, reach=_reached(session, guard, g.principal, {**path, **g.ids}))
        _refuse_short_of(session, guard, g.principal)
    except errors.ApiError as refusal:
        return refusal
    return None


def _reached(session: Session, guard: Guard, principal: Principal, path: Mapping[str, str]) -> reach.Reach:
    profile_id, workspace_id = asked.one_of("profile_id", path), asked.one_of("workspace_id", path)
    if principal.own_profile is not None:
        context.meta(profile_id=principal.own_profile.id)
        return reach.of_key(principal.own_profile, workspace_id=workspace_id, profile_id=profile_id)
    if principal.app is not None and principal.user_id is None:
        context.meta(client_id=principal.app.client_id)
        found = reach.of_app(session, principal.app, workspace_id=workspace_id, profile_id=profile_id)
    else:
        if guard.grain is Grain.PROFILE and profile_id is None:
            raise errors.INVALID_REQUEST("profile_id says which profile is meant.", reason="profile_id_required")
        found = reach.of_person(
            session,
            principal.person,
            workspace_id=workspace_id,
            profile_id=profile_id,
            archived_too=guard.archived_too,
        )
    if guard.grain is Grain.WORKSPACE and found.workspace is not None:
        context.meta(workspace_id=found.workspace.id)
    if found.profile is not None and guard.grain is not Grain.CALLER:
        context.meta(profile_id=found.profile.id)
    return found


def _refuse_short_of(session: Session, guard: Guard, principal: Principal) -> None:
    if principal.kind is Kind.APP:
        return
    if principal.kind is not Kind.API_KEY or guard.key_needs_scope:
        # on a workspace the role decides for the person, and there is no membership yet where the caller is all
        auth.require_scope(principal, guard.scopes, membership=guard.grain is Grain.PROFILE)
    if principal.user_id is not None and guard.grain is not Grain.CALLER:
        _refuse_role(guard, principal)
    if guard.grain is Grain.PROFILE:
        if auth.WITHHELD & set(guard.scopes):
            workspace = session.get_one(Workspace, principal.profile.workspace_id)
            auth.require_healthcare(principal, workspace, guard.scopes)
        if request.method in WRITES and guard.needs_entitlement:
            auth.require_entitlement(principal)


def _refuse_role(guard: Guard, principal: Principal) -> None:
    held = principal.reach.role or Role.GUEST
    if held < guard.role:
        reason = "owner_required" if guard.role is Role.OWNER else "role_required"
        raise errors.FORBIDDEN(f"This needs the role {guard.role.word}; yours is {held.word}.", reason=reason)


def _refuse_kind(principal: Principal, guard: Guard) -> None:
    if guard.partner and not principal.is_partner:
        raise (
            errors.FORBIDDEN(reason="app_credential_not_allowed")
            if principal.kind is Kind.APP
            else (errors.API_KEY_REQUIRED())
        )
    if principal.kind in guard.kinds:
        if principal.kind is Kind.USER_TOKEN and principal.kind not in guard.kinds_for(request.method, _route()):
            raise errors.INSUFFICIENT_SCOPE(
                "A user token never reaches this route, whatever its grant.",
                required_scopes=[scope.value for scope in guard.scopes],
            )
        if principal.app is not None and principal.app.status != "active":
            raise errors.FORBIDDEN("This app is suspended.", reason="app_suspended")
        return
    if guard.kinds == {Kind.APP}:
        raise errors.FORBIDDEN("Only an app's own credential may use this route.", reason="app_credential_required")
    if principal.kind is Kind.APP:
        raise errors.FORBIDDEN("An app's credential cannot use this route.", reason="app_credential_not_allowed")
    if principal.kind is Kind.USER_TOKEN:
        raise errors.INSUFFICIENT_SCOPE("A user token never reaches this route, whatever its grant.")
    if guard.kinds == {Kind.SESSION} and guard.grain is Grain.CALLER:
        raise errors.FORBIDDEN("Only a signed-in person may use this route.", reason="session_required")
    raise errors.FORBIDDEN("An API key cannot use this route.", reason="api_key_not_allowed")


def _route() -> str:
    return request.url_rule.rule if request.url_rule else request.path


def _refuse_rate(allowance: rate_limit.Allowance) -> None:
    if allowance.retry_after is not None:
        raise _rate_exceeded("request_rate", allowance.retry_after)


def _rate_exceeded(reason: str, seconds: int) -> errors.ApiError:
    return errors.RATE_LIMIT_EXCEEDED(reason=reason, headers={"Retry-After": str(seconds)})
