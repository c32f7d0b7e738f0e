"""What an agent is told whose token is too narrow: which grants to ask for, where that would change anything."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api.models import Profile, User
from api.roles import Role
from api.scopes import Scope
from tests.factories import accounts, people
from touchledger.settings import Settings

METADATA = "/.well-known/oauth-protected-resource"
DAYS = {"date_from": "2026-03-01", "date_to": "2026-03-02"}


def read(client: FlaskClient, token: str, path: str, **query: Any) -> TestResponse:
    return client.get(f"/api/v1{path}", query_string=query, headers={"Authorization": f"Bearer {token}"})


@pytest.mark.parametrize(
    ("grants", "path", "wanted"),
    [
        (["mcp:read"], "/customers", "mcp:read mcp:read_pii"),
        (["mcp:read"], "/exports", "mcp:read mcp:write"),
        (["mcp:write"], "/campaigns", "mcp:read mcp:write"),
    ],
)
def test_a_narrow_token_is_told_what_to_ask_for(
    client: FlaskClient,
    url: str,
    ada: User,
    profile: Profile,
    settings: Settings,
    grants: list[str],
    path: str,
    wanted: str,
) -> None:
    token = people.token_of(url, ada, grants=grants)
    refused = read(client, token, path, profile_id=profile.id, **DAYS)
    assert (refused.status_code, refused.get_json()["error"]["code"]) == (403, "insufficient_scope")
    said = f'Bearer error="insufficient_scope", scope="{wanted}", resource_metadata="{settings.base_url}{METADATA}"'
    assert refused.headers["WWW-Authenticate"] == said
    wider = people.token_of(url, ada, grants=wanted.split())
    again = read(client, wider, path, profile_id=profile.id, **DAYS)
    assert again.status_code == 200


def test_nobody_is_sent_for_a_grant_that_would_not_help(client: FlaskClient, url: str, profile: Profile) -> None:
    viewer = people.user(url, email="vera@example.com")
    people.member(url, viewer, profile.workspace_id, Role.VIEWER)
    all_grants = ["mcp:read", "mcp:read_pii", "mcp:write"]
    for token, path in [
        # the membership does not give it
        (people.token_of(url, viewer, grants=["mcp:read"]), "/customers"),
        # no grant gives it
        (people.token_of(url, viewer, grants=all_grants), "/commerce/products"),
        # a key is not let in by a person
        (accounts.secret(url, profile, scopes=[Scope.REALTIME_READ]), "/customers"),
    ]:
        refused = read(client, token, path, profile_id=profile.id)
        assert refused.status_code == 403, path
        assert refused.get_json()["error"]["code"] == "insufficient_scope"
        assert "WWW-Authenticate" not in refused.headers
