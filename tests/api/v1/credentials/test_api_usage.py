"""What keys and tokens were used for, counted exactly and told to admins only."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
import time_machine
from flask.testing import FlaskClient

from api import db
from api.models import ApiKey, CredentialUse, Membership, Profile, User, UserToken
from api.roles import Role
from api.scopes import Scope
from tests.api.conftest import Caller
from tests.api.v1.credentials.conftest import data, refusal
from tests.factories import accounts, people
from tests.fixtures.statements import statements

People = Callable[..., tuple[User, Caller]]
COUNTS = ("requests", "units", "refused_4xx", "failed_5xx", "rate_limited")


@pytest.fixture
def path(profile: Profile) -> str:
    return f"/workspaces/{profile.workspace_id}/api-usage"


def counts(entry: dict[str, Any]) -> list[int]:
    return [entry[name] for name in COUNTS]


def only(caller: Caller, path: str) -> dict[str, Any]:
    (entry,) = data(caller.get(path))["keys"]
    assert isinstance(entry, dict)
    return entry


def test_every_ending_is_counted_once(owner: Caller, caller: Caller, path: str) -> None:
    caller.get("/notes")
    caller.get("/notes/costly")
    assert caller.get("/notes/refused").status_code == 403
    assert caller.get("/notes?limt=1").status_code == 400
    assert caller.post("/notes", json={"title": "refused"}).status_code == 409
    assert caller.post("/notes", json={}).status_code == 422
    assert caller.post("/notes", json={"title": "crash"}).status_code == 500
    assert caller.post("/notes", json={"title": "down"}).status_code == 503
    entry = only(owner, path)
    assert counts(entry) == [8, 10, 4, 2, 0]
    assert (entry["kind"], entry["days"][0]["requests"], entry["days"][0]["units"]) == ("api_key", 8, 10)
    assert entry["last_used_at"] is not None


def test_a_request_over_the_allowance_costs_nothing(owner: Caller, caller: Caller, path: str) -> None:
    assert [caller.get("/notes").status_code for _ in range(61)] == [200] * 60 + [429]
    assert counts(only(owner, path)) == [61, 60, 0, 0, 1]


def test_a_key_that_nobody_used_is_told_and_an_ended_one_is_not(
    owner: Caller, caller: Caller, path: str, url: str
) -> None:
    entry = only(owner, path)
    assert (counts(entry), entry["days"], entry["last_used_at"]) == ([0, 0, 0, 0, 0], [], None)
    with db.transaction(url) as session:
        session.execute(sa.update(ApiKey).values(revoked_at=db.now()))
    assert data(owner.get(path)) == {"keys": []}


def used(url: str, **values: Any) -> None:
    """One request of one unit on a day, as it is kept."""
    with db.transaction(url) as session:
        more = {"kind": "api_key", "refused_4xx": 0, "failed_5xx": 0, "rate_limited": 0, "requests": 1, "units": 1}
        session.add(CredentialUse(**{**more, **values}))


def test_a_day_is_one_of_utc(url: str, client: FlaskClient, profile: Profile) -> None:
    with time_machine.travel("2026-03-01T23:59:59.900Z", tick=False) as clock:
        caller = Caller(client, accounts.secret(url, profile))
        caller.get("/notes")
        clock.shift(0.1)
        caller.get("/notes")
    with db.transaction(url) as session:
        days = session.scalars(sa.select(CredentialUse.day).order_by(CredentialUse.day)).all()
    assert days == [date(2026, 3, 1), date(2026, 3, 2)]


@pytest.mark.usefixtures("secret")
def test_the_window_includes_both_ends(owner: Caller, path: str, profile: Profile, url: str) -> None:
    with db.transaction(url) as session:
        key_id = session.scalars(sa.select(ApiKey.id)).one()
    today = db.now().date()
    for back in (0, 29, 30):
        used(url, place_id=profile.id, credential_id=key_id, day=today - timedelta(days=back))
    assert counts(only(owner, path))[0] == 2
    first, last = today - timedelta(days=30), today - timedelta(days=29)
    answer = owner.get(f"{path}?date_from={first}&date_to={last}").get_json()
    assert [day["date"] for day in answer["data"]["keys"][0]["days"]] == [str(first), str(last)]
    assert answer["meta"]["date_from"] == str(first)
    for wrong in (f"date_from={first}", f"date_from={last}&date_to={first}", "date_from=2024-01-01&date_to=2026-01-01"):
        assert refusal(owner.get(f"{path}?{wrong}")) == (400, "invalid_date_range", None)


def test_a_token_is_told_where_it_was_used_and_nowhere_else(
    person: People, client: FlaskClient, path: str, profile: Profile, url: str
) -> None:
    ada, here = person()
    other = accounts.profile(url, name="Other")
    people.member(url, ada, other.workspace_id)
    agent = Caller(client, people.token_of(url, ada))
    agent.get(f"/notes?profile_id={profile.id}")
    agent.get(f"/workspaces/{profile.workspace_id}/notes")
    agent.get(f"/notes?profile_id={other.id}")
    entry = only(here, path)
    assert (entry["kind"], entry["profile_id"], counts(entry)) == ("user_token", None, [2, 2, 0, 0, 0])
    assert counts(only(here, f"{path}?profile_id={profile.id}")) == [1, 1, 0, 0, 0]
    with db.transaction(url) as session:
        session.execute(sa.delete(Membership).where(Membership.workspace_id == other.workspace_id))
        assert session.scalar(sa.select(sa.func.sum(CredentialUse.requests))) == 3


def test_a_tokens_refusals_by_the_allowance_are_told_too(
    person: People, client: FlaskClient, path: str, profile: Profile, url: str
) -> None:
    ada, here = person()
    agent = Caller(client, people.token_of(url, ada))
    statuses = [agent.get(f"/notes?profile_id={profile.id}").status_code for _ in range(122)]
    assert statuses == [200] * 120 + [429] * 2
    assert counts(only(here, path)) == [122, 120, 0, 0, 2]


def test_a_strangers_token_never_appears(
    owner: Caller, client: FlaskClient, path: str, profile: Profile, url: str
) -> None:
    stranger = Caller(client, people.token_of(url, people.user(url)))
    assert stranger.get(f"/notes?profile_id={profile.id}").status_code == 404
    assert stranger.get(f"/workspaces/{profile.workspace_id}/notes").status_code == 404
    assert data(owner.get(path)) == {"keys": []}


def test_sessions_are_not_counted(owner: Caller, path: str, url: str) -> None:
    owner.get(path)
    with db.transaction(url) as session:
        assert session.scalars(sa.select(CredentialUse)).all() == []


def test_the_most_used_comes_first_and_one_can_be_asked_for(
    owner: Caller, caller_with: Callable[..., Caller], path: str, url: str
) -> None:
    for times in (1, 3, 2):
        caller = caller_with(scopes=list(Scope))
        for _ in range(times):
            caller.get("/notes")
    entries = data(owner.get(path))["keys"]
    assert [entry["units"] for entry in entries] == [3, 2, 1]
    assert data(owner.get(f"{path}?key_id={entries[1]['key_id'].upper()}"))["keys"] == [entries[1]]
    assert data(owner.get(f"{path}?key_id=01900000-0000-7000-8000-00000000ffff"))["keys"] == []
    assert refusal(owner.get(f"{path}?key_id=12")) == (400, "invalid_parameter", None)


def test_admins_read_it_and_nobody_else(
    person: People, client: FlaskClient, caller: Caller, path: str, url: str
) -> None:
    assert refusal(person(Role.EDITOR)[1].get(path)) == (403, "forbidden", "role_required")
    assert refusal(caller.get(path)) == (403, "forbidden", "api_key_not_allowed")
    admin = person(Role.ADMIN)[0]
    assert Caller(client, people.token_of(url, admin)).get(path).status_code == 200
    stranger = Caller(client, people.session_of(url, people.user(url)))
    assert refusal(stranger.get(path)) == (404, "not_found", None)
    with db.transaction(url) as session:
        assert session.scalars(sa.select(UserToken.id)).one()


def test_of_one_key_nothing_of_the_others_is_read(owner: Caller, caller: Caller, path: str, url: str) -> None:
    caller.get("/notes")
    entry, engine = only(owner, path), db.engine_for(url, durable=False)
    with statements(engine) as run:
        assert data(owner.get(f"{path}?key_id={entry['key_id']}")) == {"keys": [entry]}
    for table in ("credential_uses", "api_keys"):
        asked = [one for one in run if f"FROM {table}" in one[0]]
        assert asked and all(entry["key_id"] in values for _, values in asked), asked
    assert data(owner.get(f"{path}?key_id={db.new_id()}")) == {"keys": []}
