"""A deployment that has published the golden journeys, and a caller with a key of its profile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from api.snapshot import snapshots
from tests.api.v1.campaigns.conftest import Caller, Deployment
from tests.factories import served
from tests.factories.deployments import migrate
from touchledger.settings import Settings

GOLDEN = Path(__file__).resolve().parents[3] / "golden" / "journeys"
WINDOW = {"date_from": "2026-01-15", "date_to": "2026-01-17"}


def conversion_id(number: int) -> str:
    """The id of that conversion in the golden tables."""
    return f"aaaaaaaa-0000-8000-8000-{number:012d}"


def tell(home: Path) -> Iterator[Deployment]:
    """A deployment under `home` with the golden journeys published."""
    settings = Settings(home=home)
    migrate(settings)
    deployment = Deployment(settings)
    deployment.publish(served.from_csv(GOLDEN))
    yield deployment
    snapshots(settings).close()


@pytest.fixture(scope="session")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """Publish nothing else in it."""
    yield from tell(tmp_path_factory.mktemp("told"))


@pytest.fixture
def caller(told: Deployment) -> Caller:
    return told.new_caller()
