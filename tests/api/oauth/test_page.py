"""docs/agents.md: what it says of how long things live, and of what a consent gives, is what the code does."""

from __future__ import annotations

import json
import re
from pathlib import Path

from flask.testing import FlaskClient

from api.oauth.clients import TOKEN_LIFE
from api.oauth.families import REFRESH_LIFE
from api.oauth.grants import CODE_LIFE
from api.scopes import CONNECT_SCOPES, Scope

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "agents.md").read_text()


def test_what_a_connect_scope_gives_is_told() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE, re.MULTILINE)
    told = {name: {Scope(one) for one in scopes.split(", ")} for name, scopes in rows}
    assert told == {name: set(scopes) for name, scopes in CONNECT_SCOPES.items()}


def test_lives_are_told() -> None:
    code, access, refresh = re.findall(r"lives (\d+) seconds|for (\d+) hours|for (\d+) days", " ".join(PAGE.split()))
    assert [int("".join(one)) for one in (code, access, refresh)] == [
        CODE_LIFE.total_seconds(),
        TOKEN_LIFE.total_seconds() / 3600,
        REFRESH_LIFE.days,
    ]


def test_an_agent_registers_as_printed_and_finds_every_address_of_the_page(client: FlaskClient) -> None:
    (body,) = re.findall(r"`POST /oauth/register` with `(\{.*?\})`", PAGE)
    made = client.post("/oauth/register", json=json.loads(body))
    assert made.status_code == 201 and made.get_json()["client_id"]
    # what the metadata calls the documentation of all this did not say a word of it, nor did any page
    told = client.get("/.well-known/oauth-authorization-server").get_json()
    named = {value.partition("/oauth/")[2] for name, value in told.items() if name.endswith("_endpoint")}
    assert named == set(re.findall(r"/oauth/(\w+)", PAGE))
