"""The page that tells the owner of an account who asks, before the provider does, and the browser that comes back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from urllib.parse import urlsplit

import httpx
import pytest
from flask.testing import FlaskClient
from pydantic import SecretStr

from api import db
from api.models import Handoff, Profile, Workspace
from api.scopes import Scope
from tests.api.conftest import Caller
from tests.api.oauth.walk import form_token
from tests.fixtures.sandbox import RunningSandbox
from touchledger.settings import Settings


@pytest.fixture
def settings(settings: Settings, sandbox: RunningSandbox) -> Settings:
    return settings.model_copy(update={"sandbox_port": urlsplit(sandbox.url).port})


@pytest.fixture
def keyed(caller_with: Callable[..., Caller]) -> Caller:
    return caller_with(scopes=[Scope.CONNECTIONS_READ, Scope.CONNECTIONS_WRITE])


@pytest.fixture
def begun(keyed: Caller) -> str:
    """The address that the caller is given for somebody else, as a path of ours."""
    made = keyed.post("/connections/connect", json={"provider": "shopify"}).get_json()["data"]
    assert made["url"] == f"http://127.0.0.1:8000/handoffs/{made['id']}/begin"
    return urlsplit(made["url"]).path


@pytest.fixture
def owner(client: FlaskClient) -> FlaskClient:
    """The browser of an account's owner, who is nobody here."""
    return client.application.test_client()


def status(keyed: Caller, path: str) -> str:
    found: str = keyed.get(path.removesuffix("/begin")).get_json()["data"]["status"]
    return found


def go_on(browser: FlaskClient, path: str) -> str:
    """The provider's page."""
    answer = browser.post(path, data={"form_token": form_token(browser.get(path))})
    assert answer.status_code == 303
    return answer.headers["Location"]


def let_in(page: str) -> str:
    """Where the provider sends the browser in which somebody says yes."""
    back = urlsplit(httpx.post(page, data={"decision": "allow"}, trust_env=False).headers["Location"])
    return f"{back.path}?{back.query}"


def test_the_owner_reads_who_asks_before_the_provider_does(
    settings: Settings, profile: Profile, keyed: Caller, owner: FlaskClient, begun: str, sandbox: RunningSandbox
) -> None:
    with db.transaction(settings.operational_url) as session:
        asking = session.get_one(Workspace, profile.workspace_id).name
    page = owner.get(begun)
    assert (page.status_code, page.headers["X-Frame-Options"]) == (200, "DENY")
    assert asking in page.text
    assert profile.name in page.text
    assert urlsplit(sandbox.url).netloc in page.text
    # a browser lets the form lead on there, and to wherever on the web somebody is sent next
    assert f"form-action 'self' https: {sandbox.url}" in page.headers["Content-Security-Policy"]
    answer = owner.get(let_in(go_on(owner, begun)))
    assert (answer.status_code, answer.headers["Location"]) == (303, begun.removesuffix("/begin"))
    assert status(keyed, begun) == "completed"


def test_whoever_was_not_told_who_asks_lets_nobody_in(keyed: Caller, client: FlaskClient, begun: str) -> None:
    # the provider's page names us alone: somebody could send it around, and get the accounts of whoever says yes there
    page, victim = go_on(client, begun), client.application.test_client()
    back = let_in(page)
    assert victim.get(back).status_code == 400
    victim.get(begun)
    assert victim.get(back).status_code == 400
    assert status(keyed, begun) == "pending"
    assert client.get(back).status_code == 303


def test_the_browser_that_went_on_last_comes_back(keyed: Caller, client: FlaskClient, begun: str) -> None:
    first, second = client.application.test_client(), client.application.test_client()
    early = let_in(go_on(first, begun))
    late = let_in(go_on(second, begun))
    assert first.get(early).status_code == 400
    assert second.get(late).status_code == 303
    assert status(keyed, begun) == "completed"


def test_a_form_of_somebody_else_leads_nowhere(owner: FlaskClient, begun: str) -> None:
    assert (
        owner.post(begun, data={"form_token": form_token(owner.application.test_client().get(begun))}).status_code
        == 403
    )


@pytest.mark.parametrize("change", [{"status": "completed"}, {"kind": "checkout"}, {"expires_at": -1}])
def test_where_nobody_is_waited_for_the_page_says_so(
    settings: Settings, owner: FlaskClient, begun: str, change: dict[str, object]
) -> None:
    form = {"form_token": form_token(owner.get(begun))}
    if "expires_at" in change:
        change = {"expires_at": db.now() - timedelta(seconds=1)}
    with db.transaction(settings.operational_url) as session:
        handoff = session.get_one(Handoff, begun.split("/")[2])
        for name, value in change.items():
            setattr(handoff, name, value)
    unknown = owner.get(f"/handoffs/{db.new_id()}/begin")
    for answer in (owner.get(begun), owner.post(begun, data=form), owner.get("/handoffs/x/begin")):
        assert (answer.status_code, answer.text) == (400, unknown.text)


def test_where_the_provider_is_not_configured_any_more_the_page_says_so(
    settings: Settings, owner: FlaskClient, begun: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = {"form_token": form_token(owner.get(begun))}
    off = settings.model_copy(update={"connect_sandbox": "off"})
    monkeypatch.setitem(owner.application.config, "SETTINGS", off)
    for answer in (owner.get(begun), owner.post(begun, data=form)):
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "60")


def test_a_browser_may_follow_the_provider_to_another_host(
    settings: Settings, owner: FlaskClient, keyed: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    # with www.facebook.com alone Chromium went nowhere on a phone, which is led to m.facebook.com
    own = {"meta_app_id": "42", "meta_app_secret": SecretStr("s3cret"), "connect_sandbox": "off"}
    monkeypatch.setitem(owner.application.config, "SETTINGS", settings.model_copy(update=own))
    url = keyed.post("/connections/connect", json={"provider": "meta"}).get_json()["data"]["url"]
    page = owner.get(urlsplit(url).path)
    assert "Go on to www.facebook.com" in page.text
    assert page.headers["Content-Security-Policy"].endswith("; form-action 'self' https:")
