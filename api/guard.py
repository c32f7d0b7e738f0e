"""The decorators that say who may reach a view; `api/admission.py` holds the caller to them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar, cast

from flask import request

from api import asked, errors, rate_limit
from api.admission import MEBIBYTE, PEOPLE, READERS, WRITES, Grain, Guard, admit
from api.auth import Kind
from api.roles import Role
from api.scopes import Scope

__all__ = [
    "MEBIBYTE",
    "PEOPLE",
    "READERS",
    "WRITES",
    "Grain",
    "Guard",
    "View",
    "caller_guarded",
    "guard_of",
    "guarded",
    "partner_only",
    "public",
    "public_up_to",
    "retired",
    "workspace_guarded",
]

View = TypeVar("View", bound=Callable[..., Any])


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
    key_scopes: Collection[Scope] | None = None,
) -> Callable[[View], View]:
    """Let a view of one profile be reached only by `kinds` of credential that hold `scope`, at `units` of allowance.

    The view finds its profile in `auth.current().profile`: the key's own, or the one a person names by `profile_id`
    (or the path's `profile_id`). `also` names scopes that are needed beside `scope`, `role` the least role of a person.
    Stands directly under `route` and above `arguments` and `response`. `max_body` is in bytes. `uuids` names the parts
    of the path that are UUIDs: in another form they are 400 invalid_parameter, and the view gets them in lower case.
    `needs_entitlement=False` lets a write through that a profile without attribution may still do;
    `key_scopes` is what a key needs instead of `scope`: any one of them, or nothing where there are none.
    """
    guard = Guard(scope, units, frozenset(kinds), max_body, tuple(uuids), needs_entitlement, also=tuple(also))
    return _attach(replace(guard, role=role, key_scopes=_listed(key_scopes)))


def workspace_guarded(
    *,
    scope: Scope = Scope.ANALYTICS_READ,
    role: Role = Role.GUEST,
    units: int = 1,
    kinds: Collection[Kind] = PEOPLE,
    max_body: int = MEBIBYTE,
    uuids: Collection[str] = (),
    archived_too: bool = False,
    by_place: bool = False,
) -> Callable[[View], View]:
    """Let a view of the path's `workspace_id` be reached only by its members of at least `role`; a stranger gets 404.

    `scope` is what a user token's grant must give (`workspaces:write` for writes that name none). The view finds the
    workspace in `auth.current().workspace`, and the membership in `.reach`; with a `profile_id` in path or query
    `.profile` is that profile, if the person can open it. `archived_too` also lets in the owners of an archived one;
    with `by_place` a guest who names a profile in the query comes with the role of their place on it.
    """
    ids = ("workspace_id", *uuids)
    guard = Guard(scope, units, frozenset(kinds), max_body, ids, needs_entitlement=False, grain=Grain.WORKSPACE)
    return _attach(replace(guard, role=role, archived_too=archived_too, by_place=by_place))


def caller_guarded(
    *,
    scope: Scope | None = None,
    units: int = 1,
    kinds: Collection[Kind] = PEOPLE,
    max_body: int = MEBIBYTE,
    uuids: Collection[str] = (),
    key_scopes: Collection[Scope] | None = None,
    token_scopes: Collection[Scope] | None = None,
    app_bucket: rate_limit.Bucket | None = None,
    role: Role = Role.GUEST,
) -> Callable[[View], View]:
    """Let a view that is about the caller alone be reached by `kinds`; a user token's grant must give `scope`.

    For `/me`, the lists of what the caller belongs to, creations, and everything an app does: the view finds what it
    works on through `api/reach.py`, never by a raw id. An app's calls count in `app_bucket` instead of `units`.
    With a `role` a person must have at least that in what the query names, a workspace or one of its profiles, or else
    in their only workspace; `auth.current().reach` holds it, as it holds the profile of a key. `key_scopes` is as for
    `guarded`, `token_scopes` the same for a user token.
    """
    guard = Guard(scope, units, frozenset(kinds), max_body, tuple(uuids), needs_entitlement=False, grain=Grain.CALLER)
    guard = replace(guard, key_scopes=_listed(key_scopes), token_scopes=_listed(token_scopes))
    return _attach(replace(guard, app_bucket=app_bucket, role=role))


def partner_only(
    *, units: int = 1, uuids: Collection[str] = (), needs_entitlement: bool = False, people: Role | None = None
) -> Callable[[View], View]:
    """Let a view be reached only by partner keys, whatever their scopes; 403 api_key_required for everyone else.

    With `people` also by signed-in people of at least that role.
    """
    kinds = frozenset({Kind.API_KEY} if people is None else {Kind.API_KEY, Kind.SESSION})
    guard = Guard(None, units, kinds, MEBIBYTE, tuple(uuids), needs_entitlement, partner=True)
    return _attach(replace(guard, role=people or Role.GUEST))


def retired(gone: Callable[[], errors.ApiError]) -> Callable[[View], View]:
    """Let nobody reach a view: whoever has any credential, and allowance left, gets the refusal that `gone` makes.

    Ids, query and body of the request are not looked at.
    """
    return _attach(Guard(None, 1, frozenset(Kind), needs_entitlement=False, grain=Grain.CALLER, gone=gone))


def public(view: View) -> View:
    """Mark a view that needs no credential. Without `guarded` or `public` a route does not import.

    Under /api it refuses unknown query names and large bodies as every other route does.
    """
    return public_up_to(MEBIBYTE)(view)


def public_up_to(max_body: int) -> Callable[[View], View]:
    """The same for a view below /api whose body may hold that many bytes."""
    return _attach(Guard(None, 0, frozenset(), max_body))


def guard_of(view: Any) -> Guard | None:
    """The guard of a view function, or None."""
    return cast("Guard | None", getattr(view, "guard", None))


def _listed(scopes: Collection[Scope] | None) -> tuple[Scope, ...] | None:
    return None if scopes is None else tuple(scopes)


def _attach(guard: Guard) -> Callable[[View], View]:
    def decorator(view: View) -> View:
        known = asked.query_names(view) | (frozenset() if guard.is_public else asked.EVERYWHERE)

        @wraps(view)
        def entered(*args: Any, **kwargs: Any) -> Any:
            if not guard.is_public:
                kwargs |= admit(guard, kwargs)
            # links to pages may carry whatever their senders count by
            if not guard.is_public or request.path.startswith("/api/"):
                asked.refuse_names(known)
                asked.refuse_size(guard.max_body, sized=request.method in WRITES)
            return view(*args, **kwargs)

        entered.guard = guard  # type: ignore[attr-defined]
        entered._apidoc = {**getattr(view, "_apidoc", {}), "guard": guard, "operation": view.__name__}  # type: ignore[attr-defined]
        return cast(View, entered)

    return decorator
