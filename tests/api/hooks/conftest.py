"""A deployment that the sandbox's payment processor delivers to."""

from __future__ import annotations

import pytest

from tests.factories import billing as factory
from tests.fixtures.sandbox import RunningSandbox
from touchledger.settings import Settings


@pytest.fixture
def selling(settings: Settings, sandbox: RunningSandbox) -> Settings:
    return factory.selling(settings, sandbox)
