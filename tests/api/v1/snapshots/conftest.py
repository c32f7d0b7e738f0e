"""The workspace of the golden leaderboard; tests that change it have a deployment of their own."""

from __future__ import annotations

import pytest

from tests.api.v1.campaigns.conftest import Deployment
from tests.api.v1.top_performers.conftest import GOLDEN, Member, deployment
from tests.factories import served

__all__ = ["deployment"]


@pytest.fixture
def ranked(deployment: Deployment) -> Deployment:
    """A deployment of the test's own that has published the golden leaderboard."""
    deployment.publish(served.from_csv(GOLDEN))
    return deployment


@pytest.fixture
def ada(ranked: Deployment) -> Member:
    """An owner of the workspace."""
    return Member(ranked)
