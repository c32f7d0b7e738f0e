"""Forty crowds that say who is who, and a second landing that says some of it no longer and some for the first time."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from api.warehouse_ids import identifier_id
from tests.dbt_project.identity_reference import Node, Statement, draw
from tests.dbt_project.project import Project

PROFILE = "crowds"
START = datetime(2026, 3, 2, tzinfo=UTC)
CROWDS, SIZE, FEW = 40, 30, 2
# beyond any number that a crowd draws, so that crowds have no identifier in common
APART = 100
# what the first landing says of all that is ever said, and of how much the second thinks otherwise
SAID, OTHERWISE = 0.85, 0.04

Record = dict[str, Any]


def _crowds() -> list[tuple[int, Statement]]:
    """Every statement with the number of its crowd."""
    return [(crowd, statement) for crowd in range(CROWDS) for statement in draw(seed=crowd, count=SIZE)]


def _spelt(crowd: int, node: Node) -> Node:
    kind, value = node
    number = int(value.removeprefix(kind))
    # every other crowd has a few devices for all of it, and every fifth some inboxes
    if (kind == "anonymous_id" and crowd % 2) or (kind == "email" and crowd % 5 == 0):
        number %= FEW
    number += APART * crowd
    spelt = {"email": f"{kind}{number}@example.com", "phone": f"+1212555{number:04d}"}
    return kind, spelt.get(kind, f"{kind}{number}")


def _at(crowd: int, minute: int) -> str:
    return (START + timedelta(days=crowd, minutes=minute)).isoformat()


def _pair(crowd: int, statement: Statement) -> Record:
    (kind_a, a), (kind_b, b) = sorted(_spelt(crowd, node) for node in statement.nodes)
    pair = {"kind_a": kind_a, "value_a": a, "kind_b": kind_b, "value_b": b}
    return {**pair, "observed_at": _at(crowd, statement.at), "confidence": "typed"}


def _row(crowd: int, statement: Statement, **columns: Any) -> Record:
    said = dict(_spelt(crowd, node) for node in statement.nodes)
    return {**said, "occurred_at": _at(crowd, statement.at), **columns}


def _link(crowd: int, minute: int, browser: Node, node: Node) -> Record:
    """A browser that followed a link made for an identifier, which may be nobody's."""
    key = f"{crowd} {minute}"
    seen = {"event_id": key, "profile_id": PROFILE, "event_name": "page_view", "session_id": key, "opens_visit": True}
    when = {"occurred_at": _at(crowd, minute), "received_at": _at(crowd, minute)}
    return {
        **seen,
        **when,
        "anonymous_id": _spelt(crowd, browser)[1],
        "linked_identifier_id": identifier_id(PROFILE, *_spelt(crowd, node)),
    }


def _said(turn: int) -> list[bool]:
    """Of every statement, whether a landing says it."""
    chance = random.Random(0)
    said = [chance.random() < SAID for _ in _crowds()]
    for _ in range(turn):
        said = [one != (chance.random() < OTHERWISE) for one in said]
    return said


def _land(project: Project, turn: int) -> None:
    told: dict[str, list[Record]] = {"touches": [], "conversions": [], "identities": [], "page_events": []}
    for number, ((crowd, statement), is_said) in enumerate(zip(_crowds(), _said(turn), strict=True)):
        if not is_said:
            continue
        if statement.typed:
            told["identities"].append(_pair(crowd, statement))
        elif number % 2:
            touch = {"touch_key": f"crowd {number}", "channel": "web", "origin": "web"}
            told["touches"].append(_row(crowd, statement, **touch))
        else:
            lead = {"conversion_key": f"crowd {number}", "conversion_type": "lead_created"}
            told["conversions"].append(_row(crowd, statement, **lead))
    for crowd in range(CROWDS // 4):
        # what browsers followed was made for somebody whom not every landing knows, and in one crowd then for others
        for number in range(4):
            made_for = 7 + number + (turn if crowd == 0 else 0)
            browser, node = ("anonymous_id", f"anonymous_id{20 + number}"), ("email", f"email{made_for}")
            told["page_events"].append(_link(crowd, SIZE * 5 + number, browser, node))
    for dataset, rows in told.items():
        project.land(dataset, rows, profile_id=PROFILE, batch="crowds")


def land(project: Project) -> None:
    """The history."""
    _land(project, 0)


def change(project: Project) -> None:
    """Groups of people join, part, and change in between; most stay as they were."""
    _land(project, 1)
