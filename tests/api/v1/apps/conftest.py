"""The people and the workspace of the tests of members, who register apps here."""

from __future__ import annotations

import base64

import pytest

from tests.api.v1.members.conftest import as_owner, ask, owner, url, w

__all__ = ["as_owner", "ask", "owner", "url", "w"]


def basic(client_id: str, secret: str) -> str:
    """The header an app authenticates with."""
    return "Basic " + base64.b64encode(f"{client_id}:{secret}".encode()).decode()


@pytest.fixture
def body() -> dict[str, object]:
    """A new app."""
    return {
        "name": "Dealer tools",
        "description": "For dealers",
        "logo_url": "https://dealers.example/logo.png",
        "redirect_uris": ["https://dealers.example/back?from=tl"],
        "connect_scopes": ["analytics", "events"],
    }
