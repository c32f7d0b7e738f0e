"""What the reference tells is what callers meet: scopes, allowances and plans of docs/routes.md, parts of OpenAPI."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from flask.testing import FlaskClient

from api.models import Profile
from api.plans import ALLOWANCES
from api.scopes import Scope
from tests.api.conftest import Caller
from touchledger.accounts import mint_key
from touchledger.settings import Settings

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "routes.md").read_text()


def rows(heading: str) -> dict[str, list[str]]:
    """The rows of the table under a heading, by their first cell."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    cells = [re.findall(r"[^|]+", line) for line in section.splitlines() if line.startswith("| ")][1:]
    return {first.strip("` "): [cell.strip("` ") for cell in others] for first, *others in cells}


def test_a_new_key_may_do_what_the_page_gives_it(client: FlaskClient, settings: Settings, profile: Profile) -> None:
    # that a new key can neither send an event nor set the tracker up, and which scope does, stood nowhere
    minted = Caller(client, mint_key(settings, profile_id=profile.id, scopes=(), name="command line"))
    answer = minted.get("/profiles")
    told = {name for name, (of_a_new_key, *_) in rows("Scopes").items() if of_a_new_key == "yes"}
    assert set(answer.get_json()["meta"]["credential"]["scopes"]) == told
    allowed = re.search(r"API key (\d+)", PAGE)
    assert allowed and answer.headers["X-RateLimit-Limit"] == allowed[1]


def test_every_scope_that_a_route_asks_for_has_a_row(caller_with: Callable[..., Caller]) -> None:
    asked = set(re.findall(r"[a-z]+:[a-z]+", PAGE.partition("\n## ")[0]))
    assert asked - {"path:campaign", "path:handle", "path:payment", "path:idempotency"} <= set(rows("Scopes"))
    assert set(rows("Scopes")) <= set(Scope)
    refused = caller_with(scopes=["analytics:read"]).post("/tracking/keys", json={"name": "site"})
    assert refused.get_json()["error"]["required_scopes"] == ["tracking:write"]
    assert rows("Scopes")["tracking:write"] == ["-", "mcp:write", "editor", "tracking.manage"]


def test_the_page_tells_every_allowance_of_each_plan() -> None:
    words = {None: "any", 0: "none"}
    told = {name: list(of.values()) for name, of in ALLOWANCES.items()}
    assert rows("Plans") == {
        name: [words.get(limit, f"{limit:,}" if limit else "") for limit in limits] for name, limits in told.items()
    }


def test_openapi_describes_nothing_that_no_route_takes_or_answers(client: FlaskClient) -> None:
    # the metadata of numbered pages stood among the answers' parts, and no list here has such
    document = client.get("/openapi.json").get_json()
    text = json.dumps(document)
    components = document["components"]
    parts = [(kind, name) for kind in ("schemas", "responses", "headers") for name in components[kind]]
    assert len(parts) > 300
    assert [(kind, name) for kind, name in parts if f'"#/components/{kind}/{name}"' not in text] == []
