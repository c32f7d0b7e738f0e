"""Authorization requests that are refused: how they ask, what for, and where they want the browser to go."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from tests.api.oauth.walk import BACK, Walker, query_of


@pytest.mark.parametrize(
    "changed",
    [
        {"code_challenge": None, "code_challenge_method": None},
        {"code_challenge": None},
        {"code_challenge_method": None},
        {"code_challenge_method": "plain"},
        {"code_challenge": "too-short"},
    ],
)
def test_a_request_without_s256_is_refused(agent: Walker, changed: dict[str, str | None]) -> None:
    answer = query_of(agent.ask(**changed))
    assert answer["error"] == "invalid_request"
    assert answer["state"] == "st/1 &"
    assert answer["iss"]
    assert "code" not in answer


@pytest.mark.parametrize(("scope", "error"), [("mcp:all", "invalid_scope"), ("mcp:read analytics", "invalid_scope")])
def test_an_unknown_scope_is_refused(agent: Walker, scope: str, error: str) -> None:
    assert query_of(agent.ask(scope=scope))["error"] == error


@pytest.mark.parametrize("kind", ["token", "code token", 'co"de', "čode"])
def test_another_response_type_is_refused(agent: Walker, kind: str) -> None:
    assert query_of(agent.ask(response_type=kind))["error"] == "unsupported_response_type"


@pytest.mark.parametrize(
    "changed",
    [
        {"redirect_uri": "https://evil.example/callback"},
        {"redirect_uri": "http://127.0.0.1:1@evil.example/callback"},
        {"redirect_uri": "http://127.0.0.1:49152\\@evil.example/callback"},
        {"redirect_uri": "http://127.0.0.1:49152/callback#https://evil.example"},
        {"redirect_uri": "http://127.0.0.1:49152/callback/../other"},
        {"redirect_uri": "http://localhost:49152/callback"},
        {"redirect_uri": "https://127.0.0.1:49152/callback"},
        {"redirect_uri": 'javascript:alert("1")//127.0.0.1'},
        {"redirect_uri": "//evil.example"},
        {"redirect_uri": "https://é.example/\u202e"},
        {"client_id": "01900000-0000-7000-8000-000000000001"},
        {"client_id": "\0"},
        {"client_id": None},
        {"redirect_uri": [BACK, "https://evil.example/"]},
    ],
)
def test_nobody_is_sent_where_the_client_did_not_register(agent: Walker, changed: dict[str, str]) -> None:
    page = agent.ask(**changed)
    assert page.status_code == 400
    assert "Location" not in page.headers
    assert "evil.example" not in page.text
    page = agent.browser.post("/oauth/authorize", query_string=agent.asking(**changed), data={"decision": "allow"})
    assert page.status_code in {400, 403}


def test_a_loopback_agent_may_come_back_on_any_port(agent: Walker) -> None:
    agent.redirect_uri = "http://127.0.0.1:50001/callback"
    assert agent.exchange(agent.code()).status_code == 200


def test_a_bad_request_for_an_unknown_site_is_explained_and_not_redirected(client: FlaskClient, agent: Walker) -> None:
    site = Walker(client, redirect_uri="https://somewhere.example/callback")
    site.register()
    page = site.ask(scope="nonsense")
    assert page.status_code == 400
    assert "invalid_scope" in page.text
    assert "Location" not in page.headers
