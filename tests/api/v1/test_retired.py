"""Retired routes answer everybody alike, and end with their Sunset."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from flask.testing import FlaskClient

from api.models import Profile
from api.v1 import retired
from tests.api.conftest import Caller
from tests.factories import people
from touchledger.settings import Settings

UNKNOWN = "01900000-0000-7000-8000-00000000ffff"
PATHS = ("/dashboard/chat", f"/workspaces/{UNKNOWN}/top-performers/chat", "/workspaces/any/top-performers/chat")


def test_nobody_without_a_credential_is_told_anything(anonymous: Caller) -> None:
    assert [anonymous.post(path).status_code for path in PATHS] == [401, 401, 401]


@pytest.mark.parametrize("path", PATHS)
def test_every_kind_of_credential_is_told_what_replaces_it(
    client: FlaskClient, settings: Settings, profile: Profile, secret: str, path: str
) -> None:
    url = settings.operational_url
    ada = people.user(url)
    people.member(url, ada, profile.workspace_id)
    bearers = [f"Bearer {one}" for one in (secret, people.session_of(url, ada), people.token_of(url, ada))]
    for header in (*bearers, people.app(url).header):
        answer = client.post(f"/api/v1{path}", headers={"Authorization": header}, json={"any": "thing"})
        error = answer.get_json()["error"]
        assert (answer.status_code, error["code"]) == (410, "feature_retired")
        assert "top-performers/export" in error["message"]
        # who was told to ask the agent-protocol server found none
        assert "no agent-protocol server runs here" in error["message"]
        assert answer.headers["Deprecation"] == "@1791590400"
        assert answer.headers["Sunset"] == "Sat, 10 Apr 2027 00:00:00 GMT"
        assert answer.headers["Link"].endswith('/docs>; rel="successor-version"')


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "asked",
    [
        "?profile_id=mine",
        f"?profile_id={UNKNOWN}",
        "?workspace_id=12",
        f"?workspace_id={UNKNOWN}&workspace_id={UNKNOWN}",
        "?conversation=7",
    ],
)
def test_nothing_of_the_request_is_looked_at(
    client: FlaskClient, settings: Settings, profile: Profile, secret: str, path: str, asked: str
) -> None:
    url = settings.operational_url
    ada = people.user(url)
    people.member(url, ada, profile.workspace_id)
    for bearer in (secret, people.session_of(url, ada), people.token_of(url, ada)):
        headers = {"Authorization": f"Bearer {bearer}", "Idempotency-Key": "x" * 256}
        answer = client.post(f"/api/v1{path}{asked}", headers=headers, data=b"x" * (1024 * 1024 + 1))
        assert (answer.status_code, answer.get_json()["error"]["code"]) == (410, "feature_retired")


def test_the_request_counts_and_the_allowance_comes_first(caller: Caller) -> None:
    assert [caller.post(PATHS[0]).headers["X-RateLimit-Remaining"] for _ in range(2)] == ["59", "58"]
    for _ in range(58):
        caller.post(PATHS[0])
    assert caller.post(PATHS[0]).status_code == 429


def test_the_document_says_that_they_are_gone_and_what_comes_with_the_answer(client: FlaskClient) -> None:
    document = client.get("/openapi.json").get_json()
    for path in ("/dashboard/chat", "/workspaces/{workspace}/top-performers/chat"):
        operation = document["paths"][f"/api/v1{path}"]["post"]
        assert operation["deprecated"] is True
        assert [one["in"] for one in operation["parameters"]] == (["path"] if "{" in path else [])
        assert set(operation["responses"]) == {"400", "401", "403", "404", "410", "429", "500", "503", "default"}
        assert set(operation["responses"]["410"]["headers"]) == {
            "Deprecation",
            "Sunset",
            "Link",
            "X-Request-Id",
            "X-RateLimit-Limit",
            "X-RateLimit-Remaining",
        }


def test_from_the_sunset_on_the_route_is_unknown(caller: Caller) -> None:
    with time_machine.travel(retired.SUNSET - timedelta(seconds=30), tick=False) as clock:
        assert caller.post(PATHS[0]).status_code == 410
        clock.move_to(retired.SUNSET)
        assert caller.post(PATHS[0]).get_json()["error"]["code"] == "not_found"
