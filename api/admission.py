"""What a route asks of its caller, and the refusals in their order.

Who (auth), how often (rate_limit), what they see (reach), may they (scopes, roles).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, cast

from flask import g, request
from sqlalchemy.orm import Session

from api import asked, auth, context, db, errors, rate_limit, reach, under_way, usage
from api.auth import Kind, Principal
from api.models import Workspace
from api.roles import BY_PERMISSION, Role
from api.scopes import GRANTABLE, Scope, user_token_reaches

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
    key_scopes: tuple[Scope, ...] | None = None
    token_scopes: tuple[Scope, ...] | None = None
    by_place: bool = False
    app_bucket: rate_limit.Bucket | None = None
    gone: Callable[[], errors.ApiError] | None = None

    @property
    def scopes(self) -> list[Scope]:
        return [self.scope, *self.also] if self.scope else []

    def asked_of(self, kind: Kind) -> list[list[Scope]]:
        """What a credential of this kind must hold: all scopes of one of these lists; nothing where one is empty."""
        if kind is Kind.APP:
            return [[]]
        own = {Kind.API_KEY: self.key_scopes, Kind.USER_TOKEN: self.token_scopes}.get(kind)
        return [self.scopes] if own is None else [[scope] for scope in own] or [[]]

    @property
    def is_public(self) -> bool:
        return not self.kinds

    @property
    def is_dear(self) -> bool:
        """Whether only so many of a credential may be under way at once."""
        return self.units >= under_way.DEAR

    @property
    def is_placed(self) -> bool:
        """Whether a route about the caller is about one workspace of theirs, in which they need a role."""
        return self.grain is Grain.CALLER and self.role > Role.GUEST

    def kinds_for(self, method: str, route: str) -> list[Kind]:
        """The kinds that can ever pass, in the order of the enum; a user token only where a grant yields the scope."""
        closed = not all(user_token_reaches(method, route, scope) for scope in self.scopes)
        return [kind for kind in Kind if kind in self.kinds and not (closed and kind is Kind.USER_TOKEN)]


def admit(guard: Guard, path: Mapping[str, str]) -> dict[str, str]:
    """Let the caller of this request in, and give the UUIDs of its path in lower case; raises the first refusal."""
    given = auth.presented(request.headers.get("Authorization"))
    # one short transaction, over before the view runs: SQLite lets one writer in at a time
    with db.admission(context.settings().operational_url) as session:
        principal = auth.authenticate(session, given)
        try:
            _refuse_kind(principal, guard)
            auth.require_address(principal, request.remote_addr)
        except errors.ApiError:
            # for the headers of the answer; it costs nothing
            g.allowance = rate_limit.charge(session, principal.account, units=0, limit=principal.limit)
            raise
        own = guard.app_bucket if principal.kind is Kind.APP else None
        place = under_way.take(session, principal.account) if guard.is_dear else None
        crowded = under_way.refusal() if guard.is_dear and place is None else None
        # a refusal for want of a place costs nothing
        units = 0 if own or crowded else guard.units
        g.allowance = rate_limit.charge(session, principal.account, units=units, limit=principal.limit)
        # what was charged stays charged, whatever is refused from here on
        g.principal, refusal = principal, _spent(session, principal, own) if own else crowded
        refusal = refusal or _within(session, guard, path)
        usage.admit(session, g.principal, units=0 if g.allowance.retry_after else units, refusal=refusal)
        if place is not None:
            _hold(session, (principal.account, place), refusal)
    if refusal is not None:
        raise refusal
    return cast("dict[str, str]", g.ids)


def _hold(session: Session, place: tuple[str, int], refusal: errors.ApiError | None) -> None:
    if refusal is None:
        g.place = place
    else:
        under_way.give_back(session, *place)


def _spent(session: Session, principal: Principal, own: rate_limit.Bucket) -> errors.ApiError | None:
    name = f"{principal.account}:{own.reason}"
    found = rate_limit.charge(session, name, units=1, limit=own.limit, window=own.window)
    return None if found.retry_after is None else _rate_exceeded(own.reason, found.retry_after)


def _within(session: Session, guard: Guard, path: Mapping[str, str]) -> errors.ApiError | None:
    try:
        _refuse_rate(g.allowance)
        if guard.gone is not None:
            raise guard.gone()
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
        if guard.is_placed and profile_id is None and workspace_id is None:
            workspace_id = _only_workspace(session, principal.person)
        found = reach.of_person(
            session,
            principal.person,
            workspace_id=workspace_id,
            profile_id=profile_id,
            archived_too=guard.archived_too,
        )
    if guard.grain is Grain.WORKSPACE and found.workspace is not None:
        context.meta(workspace_id=found.workspace.id)
        if "profile_id" not in path and not guard.by_place:
            # a guest's place counts where the route is about that profile, not wherever one may be named
            found = found.in_the_workspace()
    if guard.grain is Grain.CALLER:
        context.meta(**{name: path[name] for name in ("profile_id", "workspace_id") if name in path})
    elif found.profile is not None:
        context.meta(profile_id=found.profile.id)
    return found


def _only_workspace(session: Session, person: str) -> str:
    rows = session.execute(reach.workspaces_of(person)).all()
    if len(rows) != 1:
        raise errors.INVALID_REQUEST(
            "workspace_id or profile_id says whose this is about.", reason="workspace_id_required"
        )
    return str(rows[0].Workspace.id)


def _refuse_short_of(session: Session, guard: Guard, principal: Principal) -> None:
    if principal.kind is Kind.APP:
        return
    choices = guard.asked_of(principal.kind)
    held = (one for one in choices if all(principal.has(scope, membership=False) for scope in one))
    # on a workspace the role decides for the person, and there is no membership yet where the caller is all
    auth.require_scope(principal, next(held, choices[0]), membership=guard.grain is Grain.PROFILE)
    if principal.user_id is not None and (guard.grain is not Grain.CALLER or guard.is_placed):
        _refuse_role(guard, principal)
        # an editor may have lost one of them
        auth.require_scope(principal, BY_PERMISSION.intersection(guard.scopes))
    if guard.is_placed and principal.reach.profile is not None and request.method in WRITES:
        auth.require_entitlement(principal)
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
    if guard.partner and not principal.is_partner and principal.kind is not Kind.APP:
        own = principal.kind in guard.kinds and principal.kind is not Kind.API_KEY
        if not own:
            raise errors.API_KEY_REQUIRED()
    if principal.kind in guard.kinds:
        if principal.kind is Kind.USER_TOKEN and principal.kind not in guard.kinds_for(request.method, _route()):
            raise _never_reached(guard)
        if principal.app is not None and principal.app.status != "active":
            raise errors.FORBIDDEN("This app is suspended.", reason="app_suspended")
        return
    if guard.kinds == {Kind.API_KEY}:
        raise errors.API_KEY_REQUIRED(None if guard.partner else "Only an API key may use this route.")
    if guard.kinds == {Kind.APP}:
        raise errors.FORBIDDEN("Only an app's own credential may use this route.", reason="app_credential_required")
    if principal.kind is Kind.APP:
        raise errors.FORBIDDEN("An app's credential cannot use this route.", reason="app_credential_not_allowed")
    if principal.kind is Kind.USER_TOKEN:
        raise _never_reached(guard)
    if guard.kinds == {Kind.SESSION} and guard.grain is Grain.CALLER:
        raise errors.FORBIDDEN("Only a signed-in person may use this route.", reason="session_required")
    raise errors.FORBIDDEN("An API key cannot use this route.", reason="api_key_not_allowed")


def _never_reached(guard: Guard) -> errors.ApiError:
    # a route that is closed by its name lacks no scope
    without = [scope.value for scope in guard.scopes if scope not in GRANTABLE]
    told: dict[str, Any] = {"required_scopes": without} if without else {}
    return errors.INSUFFICIENT_SCOPE("A user token never reaches this route, whatever its grant.", **told)


def _route() -> str:
    return request.url_rule.rule if request.url_rule else request.path


def _refuse_rate(allowance: rate_limit.Allowance) -> None:
    if allowance.retry_after is not None:
        raise _rate_exceeded("request_rate", allowance.retry_after)


def _rate_exceeded(reason: str, seconds: int) -> errors.ApiError:
    return errors.RATE_LIMIT_EXCEEDED(reason=reason, headers={"Retry-After": str(seconds)})
