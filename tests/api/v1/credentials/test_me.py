"""The signed-in person: name, places, sessions and tokens."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
import time_machine
from flask.testing import FlaskClient

from api import db
from api.models import AuditEntry, IdempotencyRecord, OAuthAuthorization, Profile, User, UserToken
from api.roles import Role
from tests.api.conftest import Caller
from tests.api.v1.credentials.conftest import data, refusal
from tests.factories import people

People = Callable[..., tuple[User, Caller]]


def test_a_person_sees_who_they_are_and_where_they_belong(person: People, profile: Profile, url: str) -> None:
    guest, caller = person(Role.GUEST, profiles=[profile])
    answer = caller.get("/me").get_json()
    assert answer["meta"] == {}
    place = {"workspace_id": profile.workspace_id, "name": "Shop", "role": "guest", "profile_ids": [profile.id]}
    assert (answer["data"]["user_id"], answer["data"]["memberships"]) == (guest.id, [place])
    assert data(person(Role.VIEWER)[1].get("/me"))["memberships"][0]["profile_ids"] is None
    with db.transaction(url) as session:
        session.get_one(Profile, profile.id).archived_at = db.now()
    assert data(caller.get("/me"))["memberships"][0]["profile_ids"] == []


def test_a_person_changes_name_and_language(owner: Caller) -> None:
    changed = data(owner("PATCH", "/me", json={"last_name": "Lovelace", "locale": "es"}))
    assert (changed["first_name"], changed["last_name"], changed["locale"]) == ("Ada", "Lovelace", "es")
    assert data(owner("PATCH", "/me", json={"first_name": None}))["first_name"] is None
    assert refusal(owner("PATCH", "/me", json={"locale": "de"})) == (422, "validation_error", None)
    assert refusal(owner("PATCH", "/me", json={"email": "x@example.com"})) == (422, "validation_error", None)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/me"),
        ("PATCH", "/me"),
        ("GET", "/me/sessions"),
        ("GET", "/me/mcp-tokens"),
        ("POST", "/me/mcp-tokens"),
        ("POST", "/auth/password"),
        ("POST", "/auth/sign-out"),
    ],
)
def test_only_a_session_gets_here(
    anonymous: Caller, caller: Caller, client: FlaskClient, url: str, method: str, path: str
) -> None:
    assert refusal(anonymous(method, path)) == (401, "unauthorized", None)
    assert refusal(caller(method, path)) == (403, "forbidden", "session_required")
    token = people.token_of(url, people.user(url), grants=["mcp:read", "mcp:write"])
    assert refusal(Caller(client, token)(method, path)) == (403, "insufficient_scope", None)
    basic = client.open(f"/api/v1{path}", method=method, headers={"Authorization": people.app(url).header})
    assert refusal(basic) == (403, "forbidden", "app_credential_not_allowed")


def test_sessions_are_listed_and_ended_one_by_one(person: People, client: FlaskClient, url: str) -> None:
    me, here = person()
    others = [people.session_of(url, me) for _ in range(2)]
    stranger = people.session_of(url, people.user(url))
    rows = data(here.get("/me/sessions"))
    assert [row["current"] for row in rows] == [False, False, True]
    first = here.get("/me/sessions?limit=2").get_json()
    rest = here.get(f"/me/sessions?limit=2&cursor={first['pagination']['cursor']}").get_json()
    assert [row["id"] for row in first["data"] + rest["data"]] == [row["id"] for row in rows]
    assert rest["pagination"] == {"cursor": None, "has_next": False}
    ended = data(here("DELETE", f"/me/sessions/{rows[0]['id']}"))
    assert (ended["id"], ended["ended"]) == (rows[0]["id"], True)
    assert data(here("DELETE", f"/me/sessions/{rows[0]['id']}")) == ended
    assert Caller(client, others[1]).get("/me").status_code == 401
    assert Caller(client, others[0]).get("/me").status_code == 200
    assert len(data(here.get("/me/sessions"))) == 2
    outside = Caller(client, stranger)
    assert refusal(outside("DELETE", f"/me/sessions/{rows[1]['id']}")) == (404, "not_found", None)
    assert refusal(outside("DELETE", "/me/sessions/12")) == (400, "invalid_parameter", None)


def test_a_token_is_minted_with_its_grants_and_shown_once(person: People, client: FlaskClient, url: str) -> None:
    me, here = person()
    body = {"grants": ["mcp:read_pii", "mcp:read", "mcp:read"], "expires_in_days": 10, "name": "Agent"}
    made = data(here.post("/me/mcp-tokens", json=body, headers={"Idempotency-Key": "a"}), 201)
    assert (made["grants"], made["rate_limit_units_per_minute"]) == (["mcp:read", "mcp:read_pii"], 120)
    assert made["scopes"] == ["analytics:read", "campaigns:read", "conversions:read", "realtime:read", "customers:read"]
    assert made["token"].startswith(made["prefix"])
    replay = data(here.post("/me/mcp-tokens", json=body, headers={"Idempotency-Key": "a"}), 201)
    assert replay == {**made, "token": None}
    with db.transaction(url) as session:
        stored = session.scalars(sa.select(UserToken)).one()
        entry = session.scalars(sa.select(AuditEntry)).one()
        assert made["token"] not in (session.scalars(sa.select(IdempotencyRecord.body)).one() or "")
    assert (stored.user_id, stored.origin) == (me.id, "session")
    assert (entry.action, entry.actor_id, entry.details["target"]["id"]) == ("user_token.minted", me.id, made["id"])
    ends, began = (datetime.fromisoformat(made[name]) for name in ("expires_at", "created_at"))
    assert ends - began == pytest.approx(timedelta(days=10), abs=timedelta(seconds=5))


def test_a_token_without_wishes_reads_for_ninety_days(owner: Caller) -> None:
    made = data(owner.post("/me/mcp-tokens", json={}), 201)
    assert (made["name"], made["grants"]) == ("agent token", ["mcp:read"])
    for wrong in ({"grants": []}, {"grants": ["mcp:all"]}, {"expires_in_days": 366}, {"expires_in_days": "9"}):
        assert refusal(owner.post("/me/mcp-tokens", json=wrong)) == (422, "validation_error", None)


def test_a_minted_token_works_until_it_is_revoked(owner: Caller, client: FlaskClient, profile: Profile) -> None:
    made = data(owner.post("/me/mcp-tokens", json={}), 201)
    agent, path = Caller(client, made["token"]), f"/notes?profile_id={profile.id}"
    assert agent.get(path).headers["X-RateLimit-Limit"] == "120"
    assert data(owner("DELETE", f"/me/mcp-tokens/{made['id']}")) == {"id": made["id"], "status": "revoked"}
    assert data(owner("DELETE", f"/me/mcp-tokens/{made['id']}")) == {"id": made["id"], "status": "revoked"}
    assert refusal(agent.get(path)) == (401, "unauthorized", None)


def test_tokens_are_listed_with_their_state(person: People, url: str) -> None:
    start = db.now()
    with time_machine.travel(start, tick=False) as clock:
        here = person()[1]
        for days in (1, 9):
            data(here.post("/me/mcp-tokens", json={"expires_in_days": days, "name": str(days)}), 201)
            clock.shift(timedelta(seconds=1))
        clock.move_to(start + timedelta(days=2))
        rows = data(here.get("/me/mcp-tokens"))
    assert [(row["name"], row["status"], row["origin"]) for row in rows] == [
        ("9", "active", "session"),
        ("1", "expired", "session"),
    ]
    assert "token" not in rows[0]


def test_a_consent_ends_with_any_of_its_tokens(person: People, client: FlaskClient, url: str) -> None:
    me, here = person()
    tokens = [people.token_of(url, me) for _ in range(3)]
    consent = OAuthAuthorization(kind="agent", client_id="c", client_name="C", user_id=me.id, status="granted")
    with db.transaction(url) as session:
        session.add(consent)
        session.flush()
        rows = session.scalars(sa.select(UserToken).order_by(UserToken.id)).all()
        for row in rows[:2]:
            row.family_id, row.origin = consent.id, "oauth"
    data(here("DELETE", f"/me/mcp-tokens/{rows[0].id}"))
    profiles = [Caller(client, token).get("/notes").status_code for token in tokens]
    assert profiles == [401, 401, 400]
    with db.transaction(url) as session:
        ended = session.get_one(OAuthAuthorization, consent.id)
    assert (ended.status, ended.tokens_revoked) == ("revoked", 2)
    stranger = Caller(client, people.session_of(url, people.user(url)))
    assert refusal(stranger("DELETE", f"/me/mcp-tokens/{rows[2].id}")) == (404, "not_found", None)


def test_a_persons_idempotency_key_holds_over_all_their_tokens(person: People, client: FlaskClient, url: str) -> None:
    me, here = person()
    grants = ["mcp:write"]
    agents = [Caller(client, people.token_of(url, me, grants=grants)) for _ in range(2)]
    answers = [agent.post("/notes/made", headers={"Idempotency-Key": "k"}) for agent in (*agents, here)]
    assert [answer.headers.get("Idempotent-Replayed") for answer in answers] == [None, "true", "true"]
    assert [answer.headers["X-RateLimit-Remaining"] for answer in answers] == ["119", "119", "239"]
