"""Scored ads of one profile, at a time that stands still."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy as sa
import time_machine

from api import db
from api.models import Profile, Recommendation
from api.snapshot import snapshots
from tests.factories.scored import Scored
from touchledger.settings import Settings

START = datetime(2026, 3, 29, 6, tzinfo=UTC)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(START, tick=False) as traveller:
        yield traveller


@pytest.fixture
def scored(settings: Settings, profile: Profile, clock: object) -> Iterator[Scored]:
    yield Scored(settings, profile)
    snapshots(settings).close()


def alter(settings: Settings, ad: str, **to: Any) -> None:
    """Give the recommendation about that ad other values."""
    with db.transaction(settings.operational_url) as session:
        session.execute(sa.update(Recommendation).where(Recommendation.entity_external_id == ad).values(**to))
