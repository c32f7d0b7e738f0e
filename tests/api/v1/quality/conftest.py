"""A deployment that has published the golden paid clicks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.v1.campaigns.conftest import Caller, Deployment, deployed, unpublished
from tests.factories import served

__all__ = ["unpublished"]

GOLDEN = Path(__file__).resolve().parents[3] / "golden" / "ad_ids"
PATH = "/quality/ad-ids"
WINDOW = {"date_from": "2026-03-01", "date_to": "2026-03-10"}


@pytest.fixture(scope="session")
def clicked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """A deployment that has published the golden tables; publish nothing else in it."""
    for deployment in deployed(tmp_path_factory.mktemp("ad_ids")):
        deployment.publish(served.from_csv(GOLDEN))
        yield deployment


@pytest.fixture
def caller(clicked: Deployment) -> Caller:
    """Reads the golden profile with a key of its own."""
    return clicked.new_caller()
