"""Events of servers in docs/tracking.md: the request is taken, the answer is ours, the names are those that count."""

from __future__ import annotations

import json
import re
from pathlib import Path

from api.goals import BUILT_IN, ORDER, goal_of_server_event
from tests.api.v1.events.conftest import Sender

PAGE = (Path(__file__).resolve().parents[4] / "docs" / "tracking.md").read_text().partition("## From a server")[2]


def test_the_printed_request_is_answered_as_printed(sender: Sender) -> None:
    # how a server sends an event stood on no page
    (body,) = re.findall(r"-d '(\{.*?\})'", PAGE, re.DOTALL)
    (told,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    printed = json.loads(told)["data"]
    data = sender.accepted(json.loads(body))
    assert data.keys() == printed.keys()
    assert {name: data[name] for name, value in printed.items() if value != "…"} == {
        name: value for name, value in printed.items() if value != "…"
    }


def test_the_names_that_count_are_those_of_the_built_in_goals() -> None:
    rows = re.findall(r"^\| (`[^|]+) \| ([^|]+) \| ([^|]+) \|$", PAGE, re.MULTILINE)
    told = {name: (counts.strip("`"), value) for names, counts, value in rows[1:] for name in re.findall(r"\w+", names)}
    names = {name for goal in BUILT_IN for name in goal.event_names}
    goals = {name: goal for name in names if (goal := goal_of_server_event(name))}
    assert told == {
        name: ("no outcome" if goal.conversion_key == ORDER else goal.conversion_key, goal.revenue_type)
        for name, goal in goals.items()
    }
