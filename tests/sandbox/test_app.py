"""The sandbox's own routes: health, the fault plan, the clock."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from sandbox.app import create_sandbox, server
from sandbox.faces import TOKENS
from sandbox.faults import KINDS
from tests.fixtures.sandbox import TODAY, RunningSandbox


def control(sandbox: RunningSandbox, method: str, name: str, body: Any = None) -> httpx.Response:
    return httpx.request(method, f"{sandbox.url}/__sandbox__/{name}", json=body, trust_env=False)


def campaigns(sandbox: RunningSandbox) -> httpx.Response:
    url = f"{sandbox.url}/meta/v26.0/act_{sandbox.world.accounts[0].id}/campaigns"
    return httpx.get(url, headers={"Authorization": f"Bearer {TOKENS['meta']}"}, trust_env=False)


def test_health_names_the_faces_and_the_day(sandbox: RunningSandbox) -> None:
    body = control(sandbox, "GET", "health").json()
    assert body["status"] == "ok"
    assert "meta" in body["faces"]
    assert body["as_of"] == TODAY.isoformat()


def test_a_fault_strikes_after_and_as_often_as_planned(sandbox: RunningSandbox) -> None:
    sandbox.plan({"route": "campaigns", "kind": "status", "status": 503, "after": 1, "times": 2})
    assert [campaigns(sandbox).status_code for _ in range(5)] == [200, 503, 503, 200, 200]
    state = control(sandbox, "GET", "faults").json()
    assert (state["faults"][0]["seen"], state["faults"][0]["hits"]) == (5, 2)
    assert list(state["calls"].values()) == [5]


def test_the_first_matching_fault_strikes_and_others_wait(sandbox: RunningSandbox) -> None:
    sandbox.plan(
        {"route": "campaigns", "kind": "status", "status": 502, "containing": "never said"},
        {"route": "campaigns", "kind": "status", "status": 504, "method": "POST"},
        {"route": "campaigns", "kind": "status", "status": 500},
    )
    assert [campaigns(sandbox).status_code for _ in range(2)] == [500, 200]


def test_clearing_the_plan_ends_every_fault(sandbox: RunningSandbox) -> None:
    sandbox.plan({"route": ".", "kind": "revoked", "times": None})
    assert campaigns(sandbox).status_code == 400
    assert control(sandbox, "DELETE", "faults").json() == {"faults": [], "calls": {}}
    assert campaigns(sandbox).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        {"faults": [{"route": ".", "kind": "earthquake"}]},
        {"faults": [{"route": "(", "kind": "reset"}]},
        {"faults": [{"route": ".", "kind": "reset", "colour": "red"}]},
        {"faults": [{"kind": "reset"}]},
        {},
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(sandbox: RunningSandbox, body: dict[str, Any]) -> None:
    answer = control(sandbox, "PUT", "faults", body)
    assert answer.status_code == 400
    assert answer.json()["error"]


def test_the_clock_moves_what_platforms_show(sandbox: RunningSandbox) -> None:
    later = TODAY + timedelta(days=3)
    assert control(sandbox, "PUT", "clock", {"as_of": later.isoformat()}).json() == {"as_of": later.isoformat()}
    assert sandbox.world.as_of == later
    assert control(sandbox, "PUT", "clock", {"as_of": "tomorrow"}).status_code == 400


def test_a_taken_port_is_an_error_not_a_second_sandbox(sandbox: RunningSandbox) -> None:
    port = int(sandbox.url.rsplit(":", 1)[1])
    with pytest.raises(OSError, match=r"in use"):
        server(create_sandbox(sandbox.holder), port)


def test_the_page_on_the_sandbox_names_every_kind_of_fault() -> None:
    page = (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text()
    row = next(line for line in page.splitlines() if line.startswith("| `kind` |"))
    assert set(re.findall(r"`(\w+)`", row)) - {"kind"} == KINDS
