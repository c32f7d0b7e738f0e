"""Every refusal is `{"error": {code, message, status, request_id, docs_url}}`, and nothing else leaks."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from api.error_body import ErrorBody
from api.errors import CATALOGUE
from tests.api.conftest import Caller

CHALLENGE = 'Bearer resource_metadata="http://127.0.0.1:8000/.well-known/oauth-protected-resource"'
REFUSALS = [
    ("GET", "/api/v1/notes", {}, 401, "unauthorized", None),
    ("GET", "/nowhere", {}, 404, "not_found", None),
    ("GET", "/api/v1/notes/", {}, 404, "not_found", None),
    ("GET", "//api/v1/notes", {}, 404, "not_found", None),
    ("PUT", "/api/v1/notes", {}, 405, "invalid_request", "method_not_allowed"),
]


@pytest.mark.parametrize(("method", "path", "options", "status", "code", "reason"), REFUSALS)
def test_a_refusal_before_the_view_has_the_envelope(
    client: FlaskClient, method: str, path: str, options: dict[str, str], status: int, code: str, reason: str | None
) -> None:
    response = client.open(path, method=method, **options)
    error = response.get_json()["error"]
    assert (response.status_code, error["status"], error["code"]) == (status, status, code)
    assert error.get("reason") == reason
    assert re.fullmatch(r"req_[0-9a-f]{32}", error["request_id"])
    assert error["request_id"] == response.headers["X-Request-Id"]
    assert error["docs_url"] == f"http://127.0.0.1:8000/docs/errors#{code}"
    assert error["message"]


def test_an_unforeseen_failure_tells_nothing(caller: Caller) -> None:
    response = caller.get("/notes/broken")
    assert response.status_code == 500
    error = response.get_json()["error"]
    assert set(error) == {"code", "message", "status", "request_id", "docs_url"}
    assert error["code"] == "internal_error"
    assert "example.com" not in response.text
    assert "RuntimeError" not in response.text


@pytest.mark.parametrize(
    ("path", "told"),
    [("full", "No room is left to keep this."), ("unwritable", "The disk takes no writes for now.")],
)
def test_a_disk_that_takes_nothing_is_told_as_something_that_passes(caller: Caller, path: str, told: str) -> None:
    """An upload was answered 500: with its state on another disk, or on Postgres, nothing else had failed."""
    response = caller.get(f"/notes/{path}")
    error = response.get_json()["error"]
    assert (response.status_code, error["code"], error["message"]) == (503, "service_unavailable", told)
    assert response.headers["Retry-After"] == "60"
    assert "example.com" not in response.text


def test_a_405_names_the_methods_that_exist(caller: Caller) -> None:
    response = caller("DELETE", "/notes")
    assert response.status_code == 405
    assert set(response.headers["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS", "POST"}


def test_a_401_tells_no_two_causes_apart(anonymous: Caller, client: FlaskClient) -> None:
    headers = [
        {},
        {"Authorization": "Bearer"},
        {"Authorization": "Basic dXNlcjpwYXNz"},
        {"Authorization": "Bearer nonsense"},
        {"Authorization": "Bearer tl_live_" + "A" * 38},
        {"Authorization": "Bearer tl_user_" + "A" * 38},
    ]
    bodies = []
    for header in headers:
        response = client.get("/api/v1/notes", headers=header)
        assert response.status_code == 401
        assert response.headers["WWW-Authenticate"] == CHALLENGE
        assert "X-RateLimit-Limit" not in response.headers
        bodies.append({**response.get_json()["error"], "request_id": ""})
    assert all(body == bodies[0] for body in bodies)


def test_the_catalogue_refuses_a_reason_it_does_not_list() -> None:
    with pytest.raises(ValueError, match="is not a reason of invalid_state"):
        CATALOGUE["invalid_state"](reason="made_up")
    with pytest.raises(ValueError, match="carries no"):
        CATALOGUE["not_found"](hint="here")


def test_every_member_that_a_code_may_carry_is_in_the_document() -> None:
    described = set(ErrorBody().fields)
    assert {name for code in CATALOGUE.values() for name in code.extra} <= described
