"""Writes the reference pages of the repository: `python -m api.reference` makes docs/errors.md and docs/routes.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from flask import Flask
from werkzeug.routing import Rule

from api import errors, under_way
from api.app import create_app
from api.auth import LIMITS
from api.guard import PEOPLE, Grain, Guard, guard_of
from api.plans import ALLOWANCES, PLANS
from api.roles import PERMISSIONS, Role, scopes_of
from api.scopes import DEFAULT_SCOPES, GRANTS, Scope
from touchledger.settings import Settings

DOCS = Path(__file__).resolve().parent.parent / "docs"

ERRORS_HEAD = """\
# Errors

Made from `api/errors.py` by `python -m api.reference`; do not edit. Kept current by a test.

A refused request answers `{"error": {code, message, status, request_id, docs_url, ...}}`. Branch on `code`. `docs_url`
opens the code's entry at `/docs/errors` of the deployment. `reason` is a stable refinement inside a shared code.
"""

ROUTES_HEAD = """\
# Routes

Made from the routes and their guards by `python -m api.reference`; do not edit. Kept current by a test.

Who: K an API key, Kp one minted for an app, U a user token, S a session, A an app, - anybody. Role is the least one a
person (U, S) needs; - where there is none, or where the route finds out first whose workspace is meant, as creating a
profile does. Scope is what every credential but A needs; behind K or U: what a key or a user token needs in its place.
Units are taken from the [request allowance](#allowances).

| Method | Path | Who | Role | Scope | Units | What |
|---|---|---|---|---|---|---|
"""
SCOPES_HEAD = """
## Scopes

A key has the scopes that it was minted with: `touchledger key mint --profile ID --scope events:write` (`--scope` may be
repeated) and `POST /api/v1/workspaces/<workspace_id>/api-keys` take any of them; without any it has those of a new key.
A user token has those of its grants that its person has too. A person has those of their role and of the permissions
given beside it; a permission with `-` before it takes them away. Changes at platforms, exports and connections ask for
the role editor beside the permission; what else a permission names it opens to viewers too.

| Scope | New key | Grant | Least role | Permission |
|---|---|---|---|---|
"""
ALLOWANCES_TEXT = """
## Allowances

Units that a credential may spend in any 60 seconds: {units}.
`X-RateLimit-Limit` and `X-RateLimit-Remaining` of each answer tell how many there are and are left; beyond them the
answer is 429 [rate_limit_exceeded](errors.md#rate_limit_exceeded), and `Retry-After` says in how many seconds to try
again. A key shares the allowance of the one that it replaced. Of requests that take {dear} units, {at_once} of one
credential may be under way at once. What a route of 0 units allows instead is told at the route, in `/docs`.
"""
PLANS_HEAD = """
## Plans

What the plan of a workspace allows; `api_keys` for each of its profiles, and those of apps are not counted. Beyond it
the answer is 402 [plan_upgrade_required](errors.md#plan_upgrade_required), for profiles 403
[profile_limit_reached](errors.md#profile_limit_reached). `touchledger workspace plan WORKSPACE PLAN` gives one without
payment, `TOUCHLEDGER_PLAN_LIMITS=off` lifts all of it, and `profile create` and `key mint` are held to none.

"""
LETTERS = {"api_key": "K", "user_token": "U", "session": "S", "app": "A"}
NAMES = {"api_key": "an API key", "user_token": "a user token", "session": "a session", "app": "an app"}


def errors_page() -> str:
    """The text of docs/errors.md: one heading per code, in the order of the catalogue."""
    return ERRORS_HEAD + "".join(_entry(item) for item in errors.CATALOGUE.values())


def _entry(item: errors.Code) -> str:
    lines = ["", f"## {item.code}", f"{item.status}. {item.when}"]
    for label, names in (("Reasons", item.reasons), ("Also carries", item.extra)):
        if names:
            lines += ["", f"{label}: {', '.join(f'`{name}`' for name in names)}."]
    if item.reserved:
        lines += ["", f"Reserved, never answered here. {item.reserved}"]
    return "\n".join(lines) + "\n"


def routes_page(app: Flask) -> str:
    """The text of docs/routes.md: one row per method and path, by path; below them scopes, allowances and plans."""
    rows = [row for rule in app.url_map.iter_rules() for row in _rows(app, rule)]
    return ROUTES_HEAD + "".join(sorted(rows, key=lambda row: row.split("`")[1])) + _scopes(app) + _units() + _plans()


def _rows(app: Flask, rule: Rule) -> list[str]:
    view = app.view_functions[rule.endpoint]
    guard = guard_of(view)
    summary = (view.__doc__ or "").strip().splitlines()[0].rstrip(".")
    return [
        f"| {method} | `{rule.rule}` | {_who(guard, method, rule.rule)} | {_role(guard)} | {_scope(guard)} "
        f"| {guard.units if guard else 0} | {summary} |\n"
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
    ]


def _who(guard: Guard | None, method: str, route: str) -> str:
    if guard is None or guard.is_public:
        return "-"
    if guard.partner:
        return "Kp S" if len(guard.kinds) > 1 else "Kp"
    return " ".join(LETTERS[kind] for kind in guard.kinds_for(method, route))


def _scope(guard: Guard | None) -> str:
    if guard is None or not guard.scopes:
        return "-"
    own = {"K": guard.key_scopes, "U": guard.token_scopes}
    said = [f"; {kind}: {' or '.join(scopes) or 'none'}" for kind, scopes in own.items() if scopes is not None]
    return "".join([" ".join(guard.scopes), *said])


def _role(guard: Guard | None) -> str:
    person = guard is not None and PEOPLE & guard.kinds and (guard.grain is not Grain.CALLER or guard.is_placed)
    return guard.role.word if guard and person else "-"


def _scopes(app: Flask) -> str:
    guards = [guard for view in app.view_functions.values() if (guard := guard_of(view))]
    asked = {scope for guard in guards for scope in (*guard.scopes, *(guard.key_scopes or ()))}
    rows = [
        f"| {scope.value} | {'yes' if scope in DEFAULT_SCOPES else '-'} | {_holding(GRANTS, scope)} "
        f"| {min(role for role in Role if scope in scopes_of(role)).word} | {_holding(PERMISSIONS, scope)} |\n"
        for scope in Scope
        if scope in asked
    ]
    unasked = ", ".join(f"`{scope.value}`" for scope in Scope if scope not in asked)
    return SCOPES_HEAD + "".join(rows) + f"\nScopes of the interface that no route here asks for: {unasked}.\n"


def _holding(named: Mapping[str, Iterable[Scope]], scope: Scope) -> str:
    return ", ".join(f"`{name}`" for name, scopes in named.items() if scope in scopes) or "-"


def _units() -> str:
    units = ", ".join(f"{NAMES[kind]} {limit}" for kind, limit in LIMITS.items())
    return ALLOWANCES_TEXT.format(units=units, dear=under_way.DEAR, at_once=under_way.AT_ONCE)


def _plans() -> str:
    head = f"| Allowance | {' | '.join(PLANS)} |\n|---|{'--:|' * len(PLANS)}\n"
    rows = [f"| `{name}` | {' | '.join(_told(of[plan]) for plan in PLANS)} |\n" for name, of in ALLOWANCES.items()]
    return PLANS_HEAD + head + "".join(rows)


def _told(limit: int | None) -> str:
    return "any" if limit is None else f"{limit:,}" if limit else "none"


def main() -> None:
    """Write both pages."""
    (DOCS / "errors.md").write_text(errors_page())
    (DOCS / "routes.md").write_text(routes_page(create_app(Settings())))


if __name__ == "__main__":
    main()
