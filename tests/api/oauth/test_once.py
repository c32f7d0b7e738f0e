"""Codes and refresh tokens work once also when they come several times at the same moment, on both databases."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from werkzeug.test import TestResponse

from api import db
from api.models import OAuthAuthorization, OAuthRefreshToken, UserToken
from tests.api.oauth.walk import Walker, sign_in
from tests.factories import accounts, people
from tests.factories.deployments import application, settings_of


@pytest.fixture
def agent(home: Path, database_url: str) -> Walker:
    """A registered agent and the browser of a person, on either database."""
    browser = application(settings_of(home, database_url)).test_client()
    ada = people.user(database_url)
    people.member(database_url, ada, accounts.profile(database_url).workspace_id)
    sign_in(browser, people.session_of(database_url, ada))
    walker = Walker(browser)
    walker.register()
    return walker


def at_once(agent: Walker, act: Callable[[Walker], TestResponse]) -> list[int]:
    """The statuses of four requests sent together."""

    def one(_: int) -> int:
        apart = Walker(agent.browser.application.test_client(), agent.client_id, agent.redirect_uri, agent.verifier)
        return act(apart).status_code

    with ThreadPoolExecutor(4) as threads:
        return sorted(threads.map(one, range(4)))


def test_of_four_exchanges_at_once_one_gives_and_the_others_end_it(agent: Walker, database_url: str) -> None:
    code = agent.code()
    assert at_once(agent, lambda walker: walker.exchange(code)) == [200, 400, 400, 400]
    with db.transaction(database_url) as session:
        assert session.scalars(sa.select(OAuthAuthorization.status)).one() == "revoked"
        assert session.scalars(sa.select(UserToken)).one().revoked_at is not None


def test_of_four_refreshes_at_once_one_gives_and_the_others_end_the_family(agent: Walker, database_url: str) -> None:
    token = agent.exchange(agent.code()).get_json()["refresh_token"]
    assert at_once(agent, lambda walker: walker.refresh(token)) == [200, 400, 400, 400]
    with db.transaction(database_url) as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(OAuthRefreshToken)) == 2
        assert None not in session.scalars(sa.select(UserToken.revoked_at)).all()
