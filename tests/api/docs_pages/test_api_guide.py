"""docs/api.md: its figures are those of the code, and what it prints runs and answers as it says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import httpx
from flask.testing import FlaskClient

from api import idempotency, pagination, sign_in
from api.auth import IDLE, LIMITS, Kind
from api.docs_pages.article import DOCS
from api.http import Application
from api.scopes import DEFAULT_SCOPES, GRANTS, Scope
from api.served import MODELS
from api.v1.credentials import keys
from api.windows import MOST_DAYS
from sandbox.ledger import Ledger
from sandbox.world import build
from tests.api.conftest import Caller
from touchledger.demo import DEMO_PROFILE_ID
from touchledger.settings import Settings

GUIDE = (DOCS / "api.md").read_text()
FLAT = " ".join(GUIDE.split())


def pages() -> Callable[..., Any]:
    """The function that the guide prints."""
    known: dict[str, Any] = {}
    exec(re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)[0], known)
    return known["pages"]  # type: ignore[no-any-return]


def sent() -> tuple[dict[str, str], dict[str, Any]]:
    """Headers and body of the event that the guide sends."""
    (command,) = re.findall(r"```sh\n(curl \S+/events.*?)```", GUIDE, re.DOTALL)
    headers = dict(one.split(": ", 1) for one in re.findall(r"-H '([^']+)'", command))
    return headers, json.loads(re.findall(r"-d '(.*?)'", command, re.DOTALL)[0])


def test_its_figures_are_those_of_the_code() -> None:
    rows = dict(re.findall(r"^\| (API key|user token|session|app)[^|]*\| (\d+) \|$", GUIDE, re.MULTILINE))
    assert {name: int(units) for name, units in rows.items()} == {
        "API key": LIMITS[Kind.API_KEY],
        "user token": LIMITS[Kind.USER_TOKEN],
        "session": LIMITS[Kind.SESSION],
        "app": LIMITS[Kind.APP],
    }
    assert f"{IDLE.days} days after its last use, {sign_in.LIFE.days} at the most" in FLAT
    assert f"works for {keys.GRACE // timedelta(hours=1)} hours" in FLAT
    assert f"at most {MOST_DAYS} days after the first" in FLAT
    assert f"A cursor holds for {pagination.LIFE_SECONDS // 3600} hours" in FLAT
    assert f"within {idempotency.KEPT // timedelta(hours=1)} hours" in FLAT
    assert f"1 to {idempotency.LONGEST} printable ASCII" in FLAT


def test_its_names_are_those_of_the_code() -> None:
    scopes = set(re.findall(r"`([a-z]+:[a-z_]+)`", GUIDE)) - set(GRANTS)
    assert scopes <= {scope.value for scope in Scope}
    assert scopes >= {scope.value for scope in DEFAULT_SCOPES}
    assert set(re.findall(r"`(mcp:[a-z_]+)`", GUIDE)) == set(GRANTS)
    assert all(f"`{model}`" in GUIDE for model in MODELS)


def test_every_route_it_names_is_in_the_document(client: FlaskClient) -> None:
    document = client.get("/openapi.json").json["paths"]
    known = {re.sub(r"\{\w+\}", "{}", path) for path in document}
    for _, path in re.findall(r"`(GET|POST|PUT|PATCH|DELETE) (/[^` ]*)`", GUIDE):
        assert "/api/v1" + re.sub(r"\{\w+\}", "{}", path) in known, path


def test_the_printed_answer_is_what_the_demos_truth_says() -> None:
    answer = json.loads(re.findall(r"```json\n(.*?)```", GUIDE, re.DOTALL)[0])
    row, meta, settings = answer["data"][0], answer["meta"], Settings()
    window = date.fromisoformat(meta["date_from"]), date.fromisoformat(meta["date_to"])
    assert f"date_from={window[0]}&date_to={window[1]}" in GUIDE
    world = build(
        seed=settings.demo_seed, today=settings.demo_today, days=settings.demo_days, people=settings.demo_people
    )
    ledger = Ledger(world, DEMO_PROFILE_ID)
    credit = ledger.credit(meta["model"], "campaign", *window)
    best = max(credit, key=lambda entity: credit[entity].cash_minor)
    spend = ledger.spend("campaign", *window)[best].spend_minor
    assert (row["spend"], row["outcome_value"]) == (spend / 100, credit[best].cash_minor / 100)
    assert row["roas"] == round(credit[best].cash_minor / spend, 8)


def test_the_event_is_taken_once(caller_with: Callable[..., Caller]) -> None:
    sender, (headers, body) = caller_with(scopes=[Scope.EVENTS_WRITE]), sent()
    first, again = (sender.post("/events", headers=headers, json=body) for _ in range(2))
    assert (first.status_code, first.get_json()["data"]["status"]) == (202, "accepted")
    assert (again.get_json(), again.headers["Idempotent-Replayed"]) == (first.get_json(), "true")
    other = {**body, "properties": {**body["properties"], "value": 130}}
    assert sender.post("/events", headers=headers, json=other).status_code == 409


def test_the_refusal_is_the_printed_one(caller: Caller) -> None:
    printed = json.loads(re.findall(r"```json\n(.*?)```", GUIDE, re.DOTALL)[1])["error"]
    told = caller.get("/campaigns?date_from=2026-10-20&date_to=2026-11-16&modell=linear").get_json()["error"]
    assert told == printed | {"request_id": told["request_id"]}


def test_the_printed_walk_meets_every_row_once(caller: Caller, assembled: Application) -> None:
    whole = caller.get("/goals").get_json()["data"]
    assert len(whole) > 3
    bearer = {"Authorization": f"Bearer {caller.secret}"}
    with httpx.Client(transport=httpx.WSGITransport(app=assembled), headers=bearer) as client:
        assert list(pages()(client, "http://touchledger.test/api/v1/goals", limit=3)) == whole
