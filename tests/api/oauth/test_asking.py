"""Authorization requests that are refused: how they ask, what for, and where they want the browser to go."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from api import db
from api.models import OAuthAuthorization, OAuthClient, UserSession
from tests.api.oauth.walk import BACK, Walker, form_token, query_of, sign_in


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


@pytest.mark.parametrize("kind", [None, ""])
def test_a_request_without_a_response_type_is_told_what_it_lacks(agent: Walker, kind: str | None) -> None:
    answer = query_of(agent.ask(response_type=kind))
    assert (answer["error"], "response_type" in answer["error_description"]) == ("invalid_request", True)
    elsewhere = agent.ask(response_type=kind, redirect_uri="https://evil.example/callback")
    assert (elsewhere.status_code, elsewhere.location) == (400, None)


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


def test_an_agent_with_one_address_need_not_name_it(agent: Walker) -> None:
    answer = agent.decide(asked={"redirect_uri": None})
    assert str(answer.location).startswith(f"{BACK}?code=")
    assert agent.exchange(query_of(answer)["code"], redirect_uri=None).status_code == 200


def test_an_agent_with_two_addresses_names_one(client: FlaskClient, agent: Walker) -> None:
    other = Walker(client)
    other.register(redirect_uris=[BACK, "https://agent.example/back"])
    page = other.ask(redirect_uri=None)
    assert (page.status_code, "Location" in page.headers) == (400, False)


def test_whoever_signed_out_before_the_decision_signs_in_and_decides_anew(
    agent: Walker, url: str, client: FlaskClient
) -> None:
    form = {"form_token": form_token(agent.ask()), "decision": "allow", "scope": "mcp:read"}
    with db.transaction(url) as session:
        session.execute(sa.update(UserSession).values(revoked_at=db.now()))
    answer = client.post("/oauth/authorize", query_string=agent.asking(), data=form)
    assert str(answer.location).startswith("/sign-in?next=%2Foauth%2Fauthorize%3Fresponse_type%3Dcode")
    with db.transaction(url) as session:
        assert session.scalars(sa.select(OAuthAuthorization.status)).all() == ["requested"]


def test_a_request_too_long_to_come_through_signing_in_is_begun_again_after_it(
    agent: Walker, client: FlaskClient
) -> None:
    """Its address, written into another one, was more than is read, or was forgotten on the way without a word."""
    session = client.get_cookie("touchledger_session")
    assert session is not None
    client.delete_cookie("touchledger_session")
    assert agent.ask(state="{" * 300).location.startswith("/sign-in?next=")
    for state in ("{" * 1700, "s" * 7750):
        page = agent.ask(state=state)
        assert (page.status_code, "Location" in page.headers) == (400, False)
        assert "begin again" in page.text
        assert 'href="/sign-in"' in page.text
    sign_in(client, session.value)
    assert query_of(agent.decide(asked={"state": "{" * 1700}))["state"] == "{" * 1700


def test_an_agent_that_was_forgotten_before_the_decision_gets_nothing(
    agent: Walker, url: str, client: FlaskClient
) -> None:
    form = {"form_token": form_token(agent.ask()), "decision": "allow", "scope": "mcp:read"}
    with db.transaction(url) as session:
        session.execute(sa.delete(OAuthClient))
    answer = client.post("/oauth/authorize", query_string=agent.asking(), data=form)
    assert (answer.status_code, "invalid_client" in answer.text) == (400, True)


def test_a_bad_request_for_an_unknown_site_is_explained_and_not_redirected(client: FlaskClient, agent: Walker) -> None:
    site = Walker(client, redirect_uri="https://somewhere.example/callback")
    site.register()
    page = site.ask(scope="nonsense")
    assert page.status_code == 400
    assert "invalid_scope" in page.text
    assert "Location" not in page.headers
