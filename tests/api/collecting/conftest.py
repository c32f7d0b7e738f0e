"""A site with one key, and what came of what it sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api.models import Profile
from tests.factories import tracked
from touchledger.settings import Settings


@pytest.fixture
def key(settings: Settings, profile: Profile) -> str:
    return tracked.key(settings.operational_url, profile)


@pytest.fixture
def tell(client: FlaskClient, key: str) -> Callable[..., TestResponse]:
    """Send one event of the site; changes go to the event."""

    def told(headers: dict[str, str] | None = None, **changes: Any) -> TestResponse:
        answer = tracked.send(client, tracked.event(key, **changes), headers=headers)
        assert answer.status_code == 202, answer.text
        return answer

    return told


@pytest.fixture
def became(settings: Settings, profile: Profile) -> Callable[[str], list[dict[str, Any]]]:
    """The records of a set."""
    return lambda dataset: tracked.records(settings.operational_url, profile, dataset)
