"""Coming back from a payment processor or a provider: how it ended is told to members of the workspace alone."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask.testing import FlaskClient

from api import db
from api.models import Handoff, Profile, User
from api.roles import Role
from tests.api.oauth.walk import sign_in
from tests.factories import accounts, people
from touchledger.settings import Settings


@pytest.fixture
def url(settings: Settings) -> str:
    return settings.operational_url


@pytest.fixture
def ada(client: FlaskClient, url: str, profile: Profile) -> User:
    """A viewer of the workspace, signed in."""
    made = people.user(url)
    people.member(url, made, profile.workspace_id, Role.VIEWER)
    sign_in(client, people.session_of(url, made))
    return made


def handoff(url: str, profile: Profile, **given: object) -> str:
    """The path of a hand-off's page."""
    with db.transaction(url) as session:
        facts = {"kind": "checkout", "plan": "growth", "url": "https://pay.example/x", "status": "pending", **given}
        made = Handoff(workspace_id=profile.workspace_id, **facts)  # type: ignore[arg-type]
        made.expires_at = given.get("expires_at") or db.now() + timedelta(hours=1)  # type: ignore[assignment]
        session.add(made)
    return f"/handoffs/{made.id}"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "not finished, or its confirmation"),
        ({"status": "completed", "result": {"plan": "growth"}}, "Shop is on the plan growth now"),
        ({"status": "completed", "kind": "connect", "result": {"accounts_found": 3}}, "accounts found: 3"),
        ({"status": "failed", "reason": "payment_refused"}, "The payment was refused"),
        ({"status": "failed", "kind": "connect", "reason": "provider_denied"}, "did not give its permission"),
        (
            {"status": "failed", "kind": "connect", "reason": "account_connected_elsewhere"},
            "connected to another profile",
        ),
        ({"status": "failed", "kind": "plan_selection"}, "The choice of a plan failed"),
        ({"status": "canceled"}, "A newer payment took its place, or what it was for has ended."),
        ({"expires_at": db.now() - timedelta(seconds=1)}, "not finished in time"),
    ],
)
def test_each_end_is_told_in_words(
    client: FlaskClient, url: str, ada: User, profile: Profile, given: dict[str, object], said: str
) -> None:
    page = client.get(handoff(url, profile, **given))
    assert page.status_code == 200
    assert said in page.text
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]


def test_strangers_and_made_up_ids_get_the_same_page(
    client: FlaskClient, url: str, ada: User, profile: Profile
) -> None:
    foreign = accounts.profile(url, name="Foreign")
    hidden = handoff(url, foreign, status="completed", result={"plan": "agency"})
    pages = [client.get(path) for path in (hidden, "/handoffs/01900000-0000-7000-8000-00000000ffff", "/handoffs/x\0")]
    assert [page.status_code for page in pages] == [404, 404, 404]
    assert len({page.text for page in pages}) == 1


def test_whoever_is_not_signed_in_learns_nothing(client: FlaskClient, url: str, profile: Profile) -> None:
    real = handoff(url, profile, status="completed", result={"plan": "growth"})
    unknown = "/handoffs/01900000-0000-7000-8000-00000000ffff"
    texts = {client.get(path).text.replace(path.rpartition("/")[2], "") for path in (real, unknown)}
    assert len(texts) == 1
    assert f"/sign-in?next=%2Fhandoffs%2F{real.rpartition('/')[2]}" in client.get(real).text
