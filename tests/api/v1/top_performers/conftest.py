"""One workspace of two profiles in two currencies, with the golden leaderboard published, and people who read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import TestResponse

from api import db
from api.models import Profile, User, Workspace
from api.roles import Role
from tests.api.v1.campaigns.conftest import OTHER, PROFILE, Caller, Deployment, deployed, deployment, unpublished
from tests.factories import people, served

__all__ = ["OTHER", "PROFILE", "deployment", "unpublished"]

GOLDEN = Path(__file__).resolve().parents[3] / "golden" / "top_performers"


class Member:
    """Somebody of the workspace, who asks with a session."""

    def __init__(self, deployment: Deployment, role: Role = Role.OWNER, *, of: tuple[str, ...] = ()) -> None:
        self.settings = deployment.settings
        self.client = deployment.app.test_client()
        url = self.settings.operational_url
        with db.transaction(url) as session:
            workspace = session.query(Workspace).one()
            profiles = [session.get_one(Profile, one) for one in of]
        self.workspace = workspace
        self.user: User = people.user(url, name=role.word)
        people.member(url, self.user, workspace.id, role, profiles=profiles)
        self.token = people.session_of(url, self.user)

    def __call__(self, method: str, path: str, **options: Any) -> TestResponse:
        headers = {"Authorization": f"Bearer {self.token}", **options.pop("headers", {})}
        return self.client.open(
            f"/api/v1/workspaces/{self.workspace.id}{path}", method=method, headers=headers, **options
        )

    def get(self, path: str, **query: Any) -> TestResponse:
        return self("GET", path, query_string=query)

    def data(self, path: str, **query: Any) -> Any:
        answer = self.get(path, **query)
        assert answer.status_code == 200, answer.text
        return answer.get_json()["data"]


@pytest.fixture(scope="session")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """A deployment that has published the golden leaderboard; publish nothing else in it."""
    for made in deployed(tmp_path_factory.mktemp("ranked")):
        made.publish(served.from_csv(GOLDEN))
        yield made


@pytest.fixture
def caller(ranked: Deployment) -> Caller:
    """Reads the golden profile with a key of its own."""
    return ranked.new_caller()


@pytest.fixture(scope="session")
def member(ranked: Deployment) -> Callable[..., Member]:
    """Makes a member of the workspace."""
    return lambda role=Role.OWNER, **more: Member(ranked, role, **more)


def error(answer: TestResponse) -> tuple[int, str, str | None]:
    told = answer.get_json()["error"]
    return answer.status_code, told["code"], told.get("reason")
