"""A key that may look at and change the connections of a profile."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from api.scopes import Scope
from tests.api.conftest import Caller


@pytest.fixture
def keyed(caller_with: Callable[..., Caller]) -> Caller:
    return caller_with(scopes=[Scope.CONNECTIONS_READ, Scope.CONNECTIONS_WRITE])
