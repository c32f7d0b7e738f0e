"""Ads are read from the deployment that compares the two sides."""

from __future__ import annotations

import pytest

from tests.api.v1.campaigns.conftest import Caller, Deployment, compared, deployment, unpublished

__all__ = ["caller", "compared", "deployment", "unpublished"]


@pytest.fixture
def caller(compared: Deployment) -> Caller:
    """Reads the golden profile with a key of its own."""
    return compared.new_caller()
