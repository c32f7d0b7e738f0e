"""The door of every route: who (auth), how often (rate_limit), may they (scopes), in the order of refusals."""

from __future__ import annotations

import difflib
import uuid
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar, cast

import marshmallow as ma
from flask import g, request

from api import auth, context, db, errors, rate_limit
from api.auth import Kind, Principal
from api.scopes import Scope, user_token_reaches

View = TypeVar("View", bound=Callable[..., Any])

READERS = frozenset({Kind.API_KEY, Kind.USER_TOKEN, Kind.SESSION})
MEBIBYTE = 1024 * 1024
EVERYWHERE = frozenset({"profile_id", "workspace_id"})
WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})


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
) -> Callable[[View], View]:
    """Let a view be reached only by `kinds` of credential that hold `scope`, at `units` of the request allowance.

    `also` names scopes that are needed beside it.
    Stands directly under `route` and above `arguments` and `response`. `max_body` is in bytes. `uuids` names the parts
    of the path that are UUIDs: in another form they are 400 invalid_parameter, and the view gets them in lower case.
    `needs_entitlement=False` lets a write through that a profile without attribution may still do.
    """
    return _attach(Guard(scope, units, frozenset(kinds), max_body, tuple(uuids), needs_entitlement, also=tuple(also)))


def partner_only(
    *, units: int = 1, uuids: Collection[str] = (), needs_entitlement: bool = False
) -> Callable[[View], View]:
    """Let a view be reached only by partner keys, whatever their scopes; 403 api_key_required for everyone else."""
    guard = Guard(None, units, frozenset({Kind.API_KEY}), MEBIBYTE, tuple(uuids), needs_entitlement, partner=True)
    return _attach(guard)


def public(view: View) -> View:
    """Mark a view that needs no credential. Without `guarded` or `public` a route does not import."""
    return _attach(Guard(None, 0, frozenset()))(view)


def guard_of(view: Any) -> Guard | None:
    """The guard of a view function, or None."""
    return cast("Guard | None", getattr(view, "guard", None))


def _attach(guard: Guard) -> Callable[[View], View]:
    def decorator(view: View) -> View:
        known = EVERYWHERE | query_names(view)

        @wraps(view)
        def entered(*args: Any, **kwargs: Any) -> Any:
            if not guard.is_public:
                kwargs |= _admit(guard, kwargs)
                _refuse_query(known)
                _refuse_size(guard)
            return view(*args, **kwargs)

        entered.guard = guard  # type: ignore[attr-defined]
        entered._apidoc = {**getattr(view, "_apidoc", {}), "guard": guard, "operation": view.__name__}  # type: ignore[attr-defined]
        return cast(View, entered)

    return decorator


def query_names(view: Any) -> set[str]:
    """The names of all query parameters that the view's `arguments` decorators declare."""
    names: set[str] = set()
    for parameter in getattr(view, "_apidoc", {}).get("arguments", {}).get("parameters", []):
        if parameter["in"] == "query":
            schema: ma.Schema = parameter["schema"]() if isinstance(parameter["schema"], type) else parameter["schema"]
            names |= {field.data_key or name for name, field in schema.fields.items()}
    return names


def _admit(guard: Guard, path: Mapping[str, str]) -> dict[str, str]:
    secret = auth.bearer(request.headers.get("Authorization"))
    # one short transaction, over before the view runs: SQLite lets one writer in at a time
    with db.transaction(context.settings().operational_url, durable=False) as session:
        principal = auth.authenticate(session, secret)
        _refuse_kind(principal, guard)
        allowance = rate_limit.charge(session, principal.account, units=guard.units, limit=principal.limit)
    g.principal, g.allowance = principal, allowance
    _refuse_rate(allowance)
    context.meta(profile_id=principal.profile.id)
    ids = {name: _uuid(name, path[name]) for name in guard.uuids}
    auth.require_reach(principal, profile_id=_named("profile_id"), workspace_id=_named("workspace_id"))
    auth.require_scope(principal, guard.scopes)
    if request.method in WRITES and guard.needs_entitlement:
        auth.require_entitlement(principal)
    return ids


def _refuse_kind(principal: Principal, guard: Guard) -> None:
    if guard.partner and not principal.is_partner:
        raise errors.API_KEY_REQUIRED()
    if principal.kind not in guard.kinds:
        raise errors.FORBIDDEN("An API key cannot use this route.", reason="api_key_not_allowed")


def _refuse_rate(allowance: rate_limit.Allowance) -> None:
    if allowance.retry_after is not None:
        headers = {"Retry-After": str(allowance.retry_after)}
        raise errors.RATE_LIMIT_EXCEEDED(reason="request_rate", headers=headers)


def _named(name: str) -> str | None:
    values = request.args.getlist(name)
    if len(values) > 1:
        raise errors.INVALID_PARAMETER(f"{name} is given more than once.")
    return _uuid(name, values[0]) if values else None


def _uuid(name: str, value: str) -> str:
    try:
        given = uuid.UUID(value)
    except ValueError:
        given = None
    if given is None or str(given) != value.lower():
        raise errors.INVALID_PARAMETER(f"{name} is not a UUID.")
    return str(given)


def _refuse_query(known: Collection[str]) -> None:
    for name, values in request.args.lists():
        if name not in known:
            nearest = difflib.get_close_matches(name, sorted(known), n=1)
            hint = f" Did you mean {nearest[0]}?" if nearest else ""
            raise errors.INVALID_PARAMETER(f"{name[:80]} is not a parameter of this route.{hint}")
        if len(values) > 1:
            raise errors.INVALID_PARAMETER(f"{name} is given more than once.")


def _refuse_size(guard: Guard) -> None:
    request.max_content_length = guard.max_body
    if request.method in WRITES and (request.content_length or 0) > guard.max_body:
        raise errors.PAYLOAD_TOO_LARGE(f"The body may hold at most {guard.max_body} bytes.")
