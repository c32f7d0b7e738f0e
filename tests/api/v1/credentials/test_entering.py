"""Signing up, in and out, and changing a password."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
import time_machine
from flask.testing import FlaskClient

from api import db, passwords, sign_in
from api.models import AuditEntry, IdempotencyRecord, RateUse, User, UserSession
from tests.api.conftest import Caller
from tests.api.v1.credentials.conftest import data, refusal
from tests.factories import people

PASSWORD = "a long walk by the sea"
ADA = {"email": "Ada@Example.com", "password": PASSWORD}
DENIED = (401, "unauthorized", "invalid_credentials")


def signed_up(anonymous: Caller, **more: Any) -> dict[str, Any]:
    return data(anonymous.post("/auth/sign-up", json={**ADA, **more}), 201)


def signed_in(client: FlaskClient, password: str = PASSWORD) -> Caller:
    answer = Caller(client, None).post("/auth/sign-in", json={**ADA, "password": password})
    return Caller(client, data(answer, 201)["token"])


def test_whoever_signs_up_is_signed_in(anonymous: Caller, client: FlaskClient, url: str) -> None:
    made = signed_up(anonymous, first_name=" Ada ")
    assert made["email_verified"] is False
    me = data(Caller(client, made["session"]["token"]).get("/me"))
    assert (me["user_id"], me["email"], me["first_name"]) == (made["user_id"], "ada@example.com", "Ada")
    with db.transaction(url) as session:
        stored = session.scalars(sa.select(User)).one()
        kept = session.scalars(sa.select(UserSession)).one()
    assert stored.password_hash is not None
    assert stored.password_hash.startswith("$argon2id$")
    assert made["session"]["token"] not in (kept.digest, stored.password_hash)
    assert kept.expires_at - kept.created_at == pytest.approx(timedelta(days=30), abs=timedelta(seconds=5))


@pytest.mark.parametrize(
    ("password", "code"),
    [
        ("fourteen chars", "weak_password"),
        ("x" * 250 + "password", "weak_password"),
        ("Telecommunications", "compromised_password"),
        ("passwordPASSWORD", "compromised_password"),
        ("aaaaaaaaaaaaaaaa", "compromised_password"),
        ("", "validation_error"),
        ("a long walk\0by the sea", "validation_error"),
    ],
)
def test_an_unfit_password_is_refused_by_its_name(anonymous: Caller, password: str, code: str) -> None:
    assert refusal(anonymous.post("/auth/sign-up", json={**ADA, "password": password})) == (422, code, None)


def test_a_known_address_cannot_sign_up_again(anonymous: Caller) -> None:
    signed_up(anonymous)
    again = anonymous.post("/auth/sign-up", json={"email": "ada@example.com", "password": "another long password"})
    assert refusal(again) == (409, "invalid_state", "sign_up_refused")


def test_of_two_who_take_one_address_at_once_one_gets_it(client: FlaskClient) -> None:
    def take(_: int) -> int:
        return client.application.test_client().post("/api/v1/auth/sign-up", json=ADA).status_code

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(take, range(2))) == [201, 409]


def test_a_network_has_ten_tries_an_hour_to_sign_up(anonymous: Caller) -> None:
    start = db.now()
    with time_machine.travel(start, tick=False) as clock:
        for _ in range(10):
            assert anonymous.post("/auth/sign-up", json={**ADA, "password": "short"}).status_code == 422
        refused = anonymous.post("/auth/sign-up", json=ADA)
        assert refusal(refused) == (429, "rate_limit_exceeded", "sign_up_attempts")
        assert refused.headers["Retry-After"] == "3600"
        clock.move_to(start + timedelta(hours=1))
        signed_up(anonymous)


def test_everything_that_opens_nothing_gets_one_answer(anonymous: Caller, url: str) -> None:
    signed_up(anonymous)
    people.user(url, email="nopassword@example.com")
    tries = [
        {**ADA, "password": PASSWORD.upper()},
        {"email": "nobody@example.com", "password": PASSWORD},
        {"email": "nopassword@example.com", "password": PASSWORD},
    ]
    bodies = []
    for one in tries:
        answer = anonymous.post("/auth/sign-in", json=one)
        assert refusal(answer) == DENIED
        bodies.append({**answer.get_json()["error"], "request_id": ""})
    assert bodies == [bodies[0]] * 3


def test_an_unknown_address_costs_the_same_work(anonymous: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    signed_up(anonymous)
    verified: list[str] = []
    verify = type(passwords._HASHER).verify

    def counted(hasher: Any, stored: str, password: str) -> bool:
        verified.append(stored.rpartition("$")[0].rpartition("$")[0])
        return verify(hasher, stored, password)

    monkeypatch.setattr(type(passwords._HASHER), "verify", counted)
    for address in ("ada@example.com", "nobody@example.com"):
        assert refusal(anonymous.post("/auth/sign-in", json={"email": address, "password": "wrong"})) == DENIED
    assert len(verified) == 2
    assert verified[0] == verified[1]


def test_an_address_has_ten_tries_in_a_quarter_of_an_hour(anonymous: Caller, client: FlaskClient, url: str) -> None:
    signed_up(anonymous)
    start = db.now()
    with time_machine.travel(start, tick=False) as clock:
        with db.transaction(url) as session:
            for _ in range(10):
                sign_in.spend_try(url, sign_in.SIGN_IN, caller="198.51.100.7", address="ada@example.com")
        refused = anonymous.post("/auth/sign-in", json=ADA)
        assert refusal(refused) == (429, "rate_limit_exceeded", "sign_in_attempts")
        assert refused.headers["Retry-After"] == "900"
        clock.move_to(start + timedelta(minutes=15))
        signed_in(client)
    with db.transaction(url) as session:
        assert not any("ada" in name for name in session.scalars(sa.select(RateUse.bucket)))


def test_a_network_has_fifty_tries_whatever_the_address(anonymous: Caller, url: str) -> None:
    for number in range(50):
        sign_in.spend_try(url, sign_in.SIGN_IN, caller="2001:db8::1", address=f"{number}@example.com")
    with pytest.raises(Exception, match="rate_limit_exceeded"):
        sign_in.spend_try(url, sign_in.SIGN_IN, caller="2001:db8::ffff:1", address="other@example.com")
    sign_in.spend_try(url, sign_in.SIGN_IN, caller="2001:db8:0:1::1", address="other@example.com")
    assert refusal(anonymous.post("/auth/sign-in", json=ADA)) == DENIED


def test_whoever_signs_out_is_out(anonymous: Caller, client: FlaskClient) -> None:
    caller = Caller(client, signed_up(anonymous)["session"]["token"])
    ended = data(caller.post("/auth/sign-out"))
    assert ended["ended"] is True
    assert refusal(caller.post("/auth/sign-out")) == (401, "unauthorized", None)


def test_a_new_password_ends_the_other_sessions(anonymous: Caller, client: FlaskClient, url: str) -> None:
    first = Caller(client, signed_up(anonymous)["session"]["token"])
    here = signed_in(client)
    fresh = "another long password"
    changed = data(here.post("/auth/password", json={"current_password": PASSWORD, "new_password": fresh}))
    assert changed["sessions_ended"] == 1
    assert first.get("/me").status_code == 401
    assert here.get("/me").status_code == 200
    assert refusal(anonymous.post("/auth/sign-in", json=ADA)) == DENIED
    signed_in(client, fresh)
    with db.transaction(url) as session:
        entry = session.scalars(sa.select(AuditEntry)).one()
    assert (entry.action, entry.category, entry.outcome) == ("password.changed", "credentials", "done")
    assert fresh not in str(entry.details)


def test_the_current_password_is_asked_of_whoever_has_one(anonymous: Caller, client: FlaskClient, url: str) -> None:
    caller = Caller(client, signed_up(anonymous)["session"]["token"])
    fresh = {"new_password": "another long password"}
    assert refusal(caller.post("/auth/password", json=fresh)) == (400, "current_password_required", None)
    for _ in range(10):
        wrong = caller.post("/auth/password", json={**fresh, "current_password": "wrong"})
        assert refusal(wrong) == (400, "current_password_invalid", None)
    right = caller.post("/auth/password", json={**fresh, "current_password": PASSWORD})
    assert refusal(right) == (429, "rate_limit_exceeded", "sign_in_attempts")
    nobody = people.user(url, email="first@example.com")
    without = Caller(client, people.session_of(url, nobody))
    assert refusal(without.post("/auth/password", json={"new_password": "short"})) == (422, "weak_password", None)
    assert data(without.post("/auth/password", json=fresh))["sessions_ended"] == 0
    data(anonymous.post("/auth/sign-in", json={"email": "first@example.com", "password": fresh["new_password"]}), 201)


def test_no_quick_hash_of_a_password_is_kept(anonymous: Caller, client: FlaskClient, url: str) -> None:
    keyed = {"Idempotency-Key": "one"}
    made = data(anonymous.post("/auth/sign-up", json=ADA, headers=keyed), 201)
    assert refusal(anonymous.post("/auth/sign-up", json=ADA, headers=keyed))[0] == 409
    caller = Caller(client, made["session"]["token"])
    body = {"current_password": PASSWORD, "new_password": "another long password"}
    assert caller.post("/auth/password", json=body, headers=keyed).status_code == 200
    assert caller.post("/auth/password", json=body, headers=keyed).status_code == 400
    with db.transaction(url) as session:
        assert session.scalars(sa.select(IdempotencyRecord)).all() == []
    malformed = {"Idempotency-Key": "x" * 256}
    refused = refusal(anonymous.post("/auth/sign-in", json=ADA, headers=malformed))
    assert refused == (400, "invalid_request", "idempotency_key_malformed")


def test_a_password_under_older_parameters_is_hashed_anew(anonymous: Caller, client: FlaskClient, url: str) -> None:
    signed_up(anonymous)
    weaker = type(passwords._HASHER)(time_cost=1, memory_cost=1024, parallelism=1).hash(PASSWORD)
    with db.transaction(url) as session:
        session.execute(sa.update(User).values(password_hash=weaker))
    signed_in(client)
    with db.transaction(url) as session:
        stored = session.scalars(sa.select(User.password_hash)).one()
    assert stored != weaker
    assert passwords.is_right(stored, PASSWORD)


def test_a_password_changed_during_the_sign_in_opens_nothing(anonymous: Caller, url: str) -> None:
    signed_up(anonymous)
    verified = sign_in.verify(url, email="ada@example.com", password=PASSWORD, caller=None)
    with db.transaction(url) as session:
        session.execute(sa.update(User).values(password_hash=passwords.hashed("another long password")))
    with pytest.raises(Exception, match="unauthorized"), db.transaction(url) as session:
        sign_in.begin(session, verified=verified, user_agent=None)


@pytest.mark.parametrize("path", ["/auth/sign-in", "/auth/sign-up"])
def test_open_routes_refuse_what_all_refuse(anonymous: Caller, path: str) -> None:
    assert refusal(anonymous.post(f"{path}?emial=x", json=ADA)) == (400, "invalid_parameter", None)
    assert refusal(anonymous.post(path, json={**ADA, "extra": 1})) == (422, "validation_error", None)
    big = b'{"email": "' + b"x" * (1024 * 1024) + b'"}'
    assert refusal(anonymous.post(path, data=big, content_type="application/json"))[0] == 413
    twice = anonymous.post(path, data='{"email": "a@b.co", "email": "a@b.co"}', content_type="application/json")
    assert refusal(twice) == (400, "invalid_request", "malformed_json")


def test_secrets_are_of_the_documented_form(anonymous: Caller, caller_with: Callable[..., Caller]) -> None:
    token = signed_up(anonymous)["session"]["token"]
    assert re.fullmatch(r"tl_sess_[0-9A-Za-z]{38}", token)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("member", ["email", "password"])
def test_very_many_marks_on_one_letter_hold_nobody_up(client: FlaskClient, member: str) -> None:
    # to bring them into order took half a minute for a quarter of a megabyte, and gunicorn ended the worker
    sent = {**ADA, member: "a" + "\u0301\u0323" * 130_000}
    assert Caller(client, None).post("/auth/sign-in", json=sent).status_code in {401, 422}
