"""Writes the reference pages of the repository: `python -m api.reference` makes docs/errors.md and docs/routes.md."""

from __future__ import annotations

from pathlib import Path

from flask import Flask
from werkzeug.routing import Rule

from api import errors
from api.app import create_app
from api.guard import PEOPLE, Grain, Guard, guard_of
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
Units are taken from the request allowance.

| Method | Path | Who | Role | Scope | Units | What |
|---|---|---|---|---|---|---|
"""
LETTERS = {"api_key": "K", "user_token": "U", "session": "S", "app": "A"}


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
    """The text of docs/routes.md: one row per method and path, by path."""
    rows = [row for rule in app.url_map.iter_rules() for row in _rows(app, rule)]
    return ROUTES_HEAD + "".join(sorted(rows, key=lambda row: row.split("`")[1]))


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


def main() -> None:
    """Write both pages."""
    (DOCS / "errors.md").write_text(errors_page())
    (DOCS / "routes.md").write_text(routes_page(create_app(Settings())))


if __name__ == "__main__":
    main()
