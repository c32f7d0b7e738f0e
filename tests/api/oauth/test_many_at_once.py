"""All that is issued under consents and all that ends them, at the same moment: none fails, nothing strays."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from werkzeug.test import TestResponse

from api.models import ApiKey, UserToken
from tests.api.oauth import let_in
from tests.api.oauth.let_in import World

ROUNDS = 4

Call = Callable[[], TestResponse]


@pytest.fixture
def world(home: Path, database_url: str) -> World:
    return let_in.made(home, database_url)


def calls(world: World) -> list[Call]:
    """What comes at once of an agent and an app that were let in just now."""
    agent, app = world.agent, world.app.auth["Authorization"]
    given = agent.exchange(agent.code()).get_json()
    world.app_exchange(world.app_code())
    codes, app_code = agent.code(), world.app_code()
    token = world.one(UserToken.id, UserToken.revoked_at.is_(None))
    key = world.one(ApiKey.id, ApiKey.revoked_at.is_(None))
    return [
        lambda: world.apart(agent).refresh(given["refresh_token"]),
        lambda: world.apart(agent).exchange(codes),
        lambda: world.apart(agent).revoke(given["access_token"]),
        lambda: world.app_exchange(app_code),
        lambda: world.ask("DELETE", f"/me/mcp-tokens/{token}"),
        lambda: world.ask("POST", f"{world.place}/api-keys/{key}/rotate"),
        lambda: world.ask("POST", f"/profiles/{world.profile.id}/adopt", {"external_ref": "mine"}, app),
        lambda: world.disconnect("agent"),
        lambda: world.disconnect("consumer_app"),
    ]


def together(todo: list[Call]) -> list[int]:
    ready = threading.Barrier(len(todo))

    def one(call: Call) -> int:
        ready.wait(30)
        return call().status_code

    with ThreadPoolExecutor(len(todo)) as pool:
        return list(pool.map(one, todo))


def test_none_fails_and_nothing_outlives_its_consent(world: World) -> None:
    for _ in range(ROUNDS):
        assert max(together(calls(world))) < 500
        assert world.stray() == []


@pytest.mark.parametrize("end", ["suspend", "archive"])
def test_nothing_outlives_its_app_or_its_workspace(world: World, end: str) -> None:
    todo = calls(world)
    assert max(together([*todo, getattr(world, end)])) < 500
    assert world.stray() == []
    if end == "archive":
        # an agent's tokens belong to its person, who may have other workspaces
        assert [one for one in world.living() if one.startswith("api_keys")] == []
