"""Where an agent says that it will carry its token (RFC 8707): to this deployment, or nowhere."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from tests.api.oauth.walk import BACK, Walker, query_of
from tests.factories.deployments import application
from touchledger.settings import Settings

FOREIGN = [
    "https://evil.example",
    "https://evil.example/api/v1",
    "http://127.0.0.1:8000.evil.example",
    "http://127.0.0.1:8000@evil.example/",
    "http://someone@127.0.0.1:8000/",
    "https://127.0.0.1:8000",
    "http://127.0.0.1:8001",
    "http://127.0.0.1:8000/#fragment",
    "http://[::1",
    "127.0.0.1:8000",
    "",
]
OURS = ["http://127.0.0.1:8000", "http://127.0.0.1:8000/", "HTTP://127.0.0.1:8000/api/v1"]


@pytest.mark.parametrize("named", FOREIGN)
def test_a_token_for_somebody_elses_api_is_refused(agent: Walker, named: str) -> None:
    """Whoever made that API would be shown it, and could use it here."""
    answer = query_of(agent.ask(resource=named))
    assert (answer["error"], answer["state"], "code" in answer) == ("invalid_target", "st/1 &", False)
    both = query_of(agent.ask(resource=[OURS[0], named]))
    assert both["error"] == "invalid_target"
    code = agent.code()
    refused = agent.exchange(code, resource=named)
    assert (refused.status_code, refused.get_json()["error"]) == (400, "invalid_target")
    # nothing was spent by that
    pair = agent.exchange(code).get_json()
    refused = agent.refresh(pair["refresh_token"], resource=named)
    assert (refused.status_code, refused.get_json()["error"]) == (400, "invalid_target")
    assert agent.refresh(pair["refresh_token"]).status_code == 200


@pytest.mark.parametrize("named", OURS)
def test_a_token_for_this_deployment_is_given(agent: Walker, named: str) -> None:
    code = query_of(agent.decide(asked={"resource": named}))["code"]
    pair = agent.exchange(code, resource=named).get_json()
    assert agent.refresh(pair["refresh_token"], resource=named).status_code == 200


def test_a_deployment_below_a_path_is_named_by_it(settings: Settings) -> None:
    below = settings.model_copy(update={"public_url": "https://shop.example/ledger"})
    browser: FlaskClient = application(below).test_client()
    walker = Walker(browser)
    assert walker.register().status_code == 201
    for named, refused in [
        ("https://shop.example/ledger", False),
        ("https://shop.example:443/ledger/api/v1", False),
        ("https://shop.example/ledgers", True),
        ("https://shop.example/", True),
    ]:
        answer = walker.ask(resource=named)
        # nobody is signed in: whom it is not refused to is led to sign in
        assert answer.location.startswith(BACK if refused else "/sign-in"), named
