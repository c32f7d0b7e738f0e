"""A request that is wrong in several ways always gets the first refusal of the documented order."""

from __future__ import annotations

import io
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from api import db
from api.models import Profile
from api.scopes import Scope
from tests.api.conftest import Caller
from tests.factories import accounts
from touchledger.settings import Settings

FOREIGN = "01900000-0000-7000-8000-00000000ffff"
TOO_BIG = b'{"title": "' + b"x" * (1024 * 1024) + b'"}'


def refusal(response: Any) -> tuple[int, str]:
    assert response.status_code == response.get_json()["error"]["status"]
    return response.status_code, response.get_json()["error"]["code"]


def test_the_route_comes_before_the_credential(anonymous: Caller) -> None:
    assert refusal(anonymous.get("/nothing?profile_id=x")) == (404, "not_found")
    assert refusal(anonymous("PATCH", "/notes?profile_id=x")) == (405, "invalid_request")


def test_the_credential_comes_before_everything_in_the_request(anonymous: Caller) -> None:
    assert refusal(anonymous.get("/notes?profile_id=x&unknown=1")) == (401, "unauthorized")
    oversized = anonymous.post("/notes", data=TOO_BIG, content_type="text/plain")
    assert refusal(oversized) == (401, "unauthorized")


def test_the_allowance_comes_before_ids_reach_and_scope(caller_with: Callable[..., Caller]) -> None:
    caller = caller_with(scopes=[Scope.REALTIME_READ])
    for _ in range(60):
        assert refusal(caller.get("/notes?profile_id=x")) == (400, "invalid_parameter")
    assert refusal(caller.get("/notes?profile_id=x")) == (429, "rate_limit_exceeded")
    assert refusal(caller.get("/notes/refused")) == (429, "rate_limit_exceeded")


@pytest.mark.parametrize("name", ["profile_id", "workspace_id"])
def test_a_malformed_id_comes_before_reach_and_scope(caller_with: Callable[..., Caller], name: str) -> None:
    caller = caller_with(scopes=[Scope.REALTIME_READ])
    assert refusal(caller.get(f"/notes?{name}=12")) == (400, "invalid_parameter")
    assert refusal(caller.get(f"/notes?{name}={FOREIGN}&{name}={FOREIGN}")) == (400, "invalid_parameter")
    assert refusal(caller.get(f"/notes?{name}={FOREIGN}")) == (404, "not_found")


def test_reach_comes_before_scope_and_query(caller_with: Callable[..., Caller]) -> None:
    caller = caller_with(scopes=[Scope.REALTIME_READ])
    assert refusal(caller.get(f"/notes?profile_id={FOREIGN}&unknown=1")) == (404, "not_found")


def test_scope_comes_before_query_and_body(caller: Caller) -> None:
    response = caller.get("/notes/refused?unknown=1")
    assert refusal(response) == (403, "insufficient_scope")
    assert response.get_json()["error"]["required_scopes"] == ["events:write"]


@pytest.fixture
def unentitled(settings: Settings, profile: Profile) -> None:
    with db.transaction(settings.operational_url) as session:
        stored = session.get_one(Profile, profile.id)
        stored.provisioned_by_app_id, stored.attribution_enabled = str(uuid.UUID(int=9)), False


@pytest.mark.usefixtures("unentitled")
def test_a_profile_without_the_entitlement_takes_no_writes(caller: Caller, caller_with: Callable[..., Caller]) -> None:
    assert caller.get("/notes").status_code == 200
    assert refusal(caller.post("/notes?unknown=1", data=TOO_BIG)) == (409, "entitlement_required")
    assert refusal(caller_with(scopes=[Scope.REALTIME_READ]).post("/notes")) == (403, "insufficient_scope")


def test_a_profile_of_an_app_that_enabled_attribution_takes_writes(
    caller: Caller, settings: Settings, profile: Profile
) -> None:
    with db.transaction(settings.operational_url) as session:
        session.get_one(Profile, profile.id).provisioned_by_app_id = str(uuid.UUID(int=9))
    assert caller.post("/notes", json={"title": "one"}).status_code == 201


def test_a_malformed_id_in_the_path_comes_before_reach_and_scope(
    caller: Caller, caller_with: Callable[..., Caller]
) -> None:
    lacking = caller_with(scopes=[Scope.REALTIME_READ])
    assert refusal(lacking.get(f"/notes/id/12?profile_id={FOREIGN}")) == (400, "invalid_parameter")
    assert refusal(lacking.get(f"/notes/id/{FOREIGN}?profile_id={FOREIGN}")) == (404, "not_found")
    assert caller.get(f"/notes/id/{FOREIGN.upper()}").get_json()["data"]["id"] == FOREIGN


def test_query_then_size_then_syntax_then_schema(caller: Caller) -> None:
    assert refusal(caller.post("/notes?unknown=1", data=TOO_BIG)) == (400, "invalid_parameter")
    assert refusal(caller.post("/notes", data=TOO_BIG, content_type="text/plain")) == (413, "payload_too_large")
    assert refusal(caller.post("/notes", data="{", content_type="application/json")) == (400, "invalid_request")
    assert refusal(caller.post("/notes", json={"title": 1})) == (422, "validation_error")


def test_validation_comes_before_the_idempotency_key(caller: Caller) -> None:
    malformed = {"Idempotency-Key": "x" * 256}
    assert refusal(caller.post("/notes", json={}, headers=malformed)) == (422, "validation_error")
    response = caller.post("/notes", json={"title": "one"}, headers=malformed)
    assert refusal(response) == (400, "invalid_request")
    assert response.get_json()["error"]["reason"] == "idempotency_key_malformed"


def test_the_own_ids_are_accepted_in_any_case(caller: Caller, profile: Profile) -> None:
    path = f"/notes?profile_id={profile.id.upper()}&workspace_id={profile.workspace_id}"
    assert caller.get(path).status_code == 200


def test_foreign_absent_and_archived_profiles_get_one_answer(
    caller: Caller, settings: Settings, profile: Profile
) -> None:
    other = accounts.profile(settings.operational_url, name="Other")
    answers = [caller.get(f"/notes?profile_id={name}") for name in (other.id, str(uuid.UUID(int=7)))]
    with db.transaction(settings.operational_url) as session:
        stored = session.get(Profile, profile.id)
        assert stored is not None
        stored.archived_at = db.now()
    answers.append(caller.get("/notes"))
    bodies = [{**answer.get_json()["error"], "request_id": ""} for answer in answers]
    assert bodies[0]["code"] == "not_found"
    assert bodies == [bodies[0]] * 3


def test_an_unknown_name_is_refused_with_the_nearest_known_one(caller: Caller) -> None:
    response = caller.get("/notes?limt=3")
    assert refusal(response) == (400, "invalid_parameter")
    assert "Did you mean limit?" in response.get_json()["error"]["message"]
    assert refusal(caller.get("/notes?limit=1&limit=1")) == (400, "invalid_parameter")


def test_a_body_that_hides_its_length_is_cut_off_too(caller: Caller) -> None:
    response = caller.post(
        "/notes",
        input_stream=io.BytesIO(TOO_BIG),
        # the client would tell the stream's length
        environ_overrides={"wsgi.input_terminated": True, "CONTENT_LENGTH": ""},
        content_type="application/json",
    )
    assert refusal(response) == (413, "payload_too_large")
