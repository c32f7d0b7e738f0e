"""Two workspaces of one owner: under the address of one nothing of the other is told, and nothing of it changes.

The owner may see both, so only what each statement asks of workspace and profile keeps them apart.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from decimal import Decimal
from itertools import count
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from api import asked, db
from api.admission import Grain
from api.app import create_app
from api.auth import Kind
from api.db import Base
from api.guard import guard_of
from api.models import Profile, User
from api.roles import Role
from tests.factories import accounts, people
from touchledger.settings import Settings

THEIRS = "of-there-"
# of no workspace, or made otherwise here
LEFT_OUT = {"workspaces", "profiles", "runs", "rate_uses", "oauth_clients", "idempotency_records"}
KNOWN = {"workspace_id": "workspaces", "profile_id": "profiles", "user_id": "users", "app_id": "apps"}
SET = {
    "oauth_authorizations": {"kind": "agent", "status": "granted", "granted_at": db.now()},
    "delegations": {"kind": "adopted"},
    "recommendations": {"score_window": "28d"},
    "sender_domains": {"status": "verified"},
}
# what a path names a row by, and bodies that get as far as looking for it
NAMED = {
    "api-keys/<key_id>": "api_keys", "keys/<key_id>": "tracking_keys", "<membership_id>": "memberships",
    "<invitation_id>": "invitations", "<app_id>": "apps", "<authorization_id>": "oauth_authorizations",
    "<handoff_id>": "handoffs", "<subscription_id>": "webhook_subscriptions", "<delivery_id>": "webhook_deliveries",
    "<destination_id>": "export_destinations", "<connection_id>": "connections", "<report_id>": "reports",
    "<goal_id>": "goals", "<import_id>": "imports", "<recompute_id>": "recomputes", "<token_id>": "user_tokens",
    "<session_id>": "user_sessions", "<verification_id>": "tracking_verifications", "<snapshot_id>": "shared_snapshots",
    "<recommendation_id>": "recommendations", "<job_id>": "creative_analyses", "<erasure_id>": "erasures",
}  # fmt: skip
BODIES: dict[str, dict[str, Any]] = {
    "<membership_id>": {"role": "viewer"}, "<goal_id>": {"display_name": "Ours"}, "<app_id>": {"status": "suspended"},
    "<subscription_id>": {"status": "paused"}, "<destination_id>": {"enabled": False},
    "rotate-secret": {"grace_days": 0}, "subscriptions/<subscription_id>/test": {},
}  # fmt: skip
WITH_BODY = {"POST", "PATCH", "PUT"}
# all places of the person are what they tell
OF_THE_PERSON = {"/api/v1/me"}

Place = dict[str, Any]


@pytest.fixture
def client(settings: Settings) -> FlaskClient:
    return create_app(settings).test_client()


@pytest.fixture
def url(settings: Settings) -> str:
    return settings.operational_url


@pytest.fixture
def here(url: str) -> Profile:
    return accounts.profile(url, name="Here")


@pytest.fixture
def there(url: str) -> Place:
    """A row in every table, of another workspace: table and what its key is."""
    made = accounts.profile(url, name="There")
    place: Place = {"workspaces": made.workspace_id, "profiles": made.id}
    with db.transaction(url) as session:
        for number, table in enumerate(one for one in Base.metadata.sorted_tables if one.name not in LEFT_OUT):
            values = {**_row(table, place, number), **SET.get(table.name, {})}
            key: Any = session.connection().execute(sa.insert(table).values(values)).inserted_primary_key
            place[table.name] = key[0] if len(key) == 1 else None
    return place


@pytest.fixture
def olga(url: str, here: Profile, there: Place) -> User:
    made = people.user(url, name="Olga")
    for workspace_id in (here.workspace_id, there["workspaces"]):
        people.member(url, made, workspace_id)
    return made


def _row(table: sa.Table, place: Mapping[str, Any], number: int) -> dict[str, Any]:
    found, texts = {}, count()
    for column in table.columns:
        target = next(iter(column.foreign_keys)).column.table.name if column.foreign_keys else KNOWN.get(column.name)
        needed = not column.nullable and column.default is None and column.server_default is None
        if target is not None and target in place:
            found[column.name] = place[target]
        elif column.name == "profile_ids":
            found[column.name] = [place["profiles"]]
        elif needed and not (column.primary_key and isinstance(column.type, sa.BigInteger)):
            found[column.name] = _allowed(table, column) or _value(column, f"{THEIRS}{number}-{next(texts)}")
    return found


def _allowed(table: sa.Table, column: sa.Column[Any]) -> str | None:
    checks = (str(one.sqltext) for one in table.constraints if isinstance(one, sa.CheckConstraint))
    found = (re.match(rf"{column.name} in \('(\w+)'", one) for one in checks)
    return next((one.group(1) for one in found if one), None)


def _value(column: sa.Column[Any], text: str) -> Any:
    kind = column.type
    if isinstance(kind, db.UtcDateTime):
        return db.now() + timedelta(days=1)
    for of, value in (
        (sa.Boolean, True),
        (sa.Integer, 1),
        (sa.Numeric, Decimal(1)),
        (sa.JSON, []),
        (sa.Date, date.max),
    ):
        if isinstance(kind, of):
            return value
    return db.new_id() if column.name == "id" else text[: getattr(kind, "length", None) or 36]


def _of(url: str, ids: set[Any]) -> dict[str, list[Any]]:
    """All rows that name one of these ids, by table."""
    with db.transaction(url, durable=False) as session:
        return {
            table.name: [
                row for row in map(tuple, session.execute(sa.select(table))) if not ids.isdisjoint(_hashable(row))
            ]
            for table in Base.metadata.sorted_tables
        }


def _hashable(row: tuple[Any, ...]) -> Iterator[Any]:
    return (one for one in row if isinstance(one, str))


def _ids(place: Place) -> set[Any]:
    return {one for one in place.values() if isinstance(one, str) and len(one) == 36}


def test_what_is_asked_about_one_workspace_tells_nothing_of_another(
    client: FlaskClient, url: str, here: Profile, there: Place, olga: User
) -> None:
    bearer, ids, answered = {"Authorization": f"Bearer {people.session_of(url, olga)}"}, _ids(there), 0
    for rule in client.application.url_map.iter_rules():
        if (query := _asked(client, rule, here)) is None:
            continue
        path = rule.rule.replace("<workspace_id>", here.workspace_id).replace("<profile_id>", here.id)
        answer = client.get(path, query_string=query, headers=bearer)
        assert answer.status_code < 500, (path, answer.text)
        assert not [one for one in (*ids, THEIRS) if one in answer.text], path
        answered += answer.status_code == 200
    assert answered > 60


def _asked(client: FlaskClient, rule: Rule, here: Profile) -> dict[str, str] | None:
    """The query of a list or a state that a signed-in person may read; None for every other route."""
    if rule.rule in OF_THE_PERSON or not rule.arguments <= {"workspace_id", "profile_id"}:
        return None
    return _query(client, rule, here) if "GET" in (rule.methods or ()) else None


def _query(client: FlaskClient, rule: Rule, here: Profile) -> dict[str, str] | None:
    view = client.application.view_functions[rule.endpoint]
    guard = guard_of(view)
    if guard is None or Kind.SESSION not in guard.kinds:
        return None
    today = db.now().date()
    days = {"date_from": today - timedelta(days=7), "date_to": today + timedelta(days=7)}
    dates = {name: day.isoformat() for name, day in days.items() if name in asked.query_names(view)}
    place = {Grain.PROFILE: {"profile_id": here.id}, Grain.CALLER: {"workspace_id": here.workspace_id}}
    return {**dates, **place.get(guard.grain, {})}


def test_what_is_named_by_its_id_is_unknown_outside_its_workspace(
    client: FlaskClient, url: str, here: Profile, there: Place
) -> None:
    ada = people.user(url)
    people.member(url, ada, here.workspace_id)
    bearer, before = {"Authorization": f"Bearer {people.session_of(url, ada)}"}, _of(url, _ids(there))
    told = {}
    for rule in client.application.url_map.iter_rules():
        end = next((one for one in NAMED if one in rule.rule), None)
        if end is None or (query := _query(client, rule, here)) is None:
            continue
        path = rule.rule.replace("<workspace_id>", here.workspace_id).replace("<profile_id>", here.id)
        path = re.sub(r"<\w+>", there[NAMED[end]], path)
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
            body = _body(rule) if method in WITH_BODY else None
            answer = client.open(path, method=method, query_string=query, headers=bearer, json=body)
            told[f"{method} {rule.rule.removeprefix('/api/v1')}"] = answer.status_code
    # bodies that are not worth writing here are refused before anything is looked for
    assert {name: status for name, status in told.items() if status not in {404, 422}} == {}
    assert Counter(told.values())[404] > 30
    assert _of(url, _ids(there)) == before


def _body(rule: Rule) -> dict[str, Any]:
    return next((body for name, body in reversed(BODIES.items()) if name in rule.rule), {})


def test_what_is_done_in_one_workspace_changes_nothing_of_another(
    client: FlaskClient, url: str, here: Profile, there: Place, olga: User
) -> None:
    vera = people.user(url)
    membership = people.member(url, vera, here.workspace_id, Role.VIEWER)
    people.token_of(url, vera)
    token, before, w = people.session_of(url, olga), _of(url, _ids(there)), f"/workspaces/{here.workspace_id}"

    def done(method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {token}"}
        answer: TestResponse = client.open(f"/api/v1{w}{path}", method=method, headers=headers, json=body)
        assert answer.status_code in {200, 201}, (path, answer.text)
        now = _of(url, _ids(there))
        assert {name: rows for name, rows in now.items() if rows != before[name]} == {}, path
        return answer.get_json()["data"]

    app = done("POST", "/oauth-apps", {"name": "Ours", "redirect_uris": ["https://a.example/b"], "connect_scopes": []})
    done("POST", f"/oauth-apps/{app['app_id']}/rotate-secret", {"grace_days": 0})
    done("PATCH", f"/oauth-apps/{app['app_id']}", {"status": "suspended"})
    done("PATCH", "/compliance-overview", {"healthcare_agency": True})
    done("DELETE", f"/memberships/{membership.id}")
    done("DELETE", "")
    # whoever owned it may ask again, and nobody else
    vic = people.session_of(url, User(id=there["users"]))
    again = [client.delete(f"/api/v1{w}", headers={"Authorization": f"Bearer {one}"}) for one in (token, vic)]
    assert [answer.status_code for answer in again] == [200, 404]
