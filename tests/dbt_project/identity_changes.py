"""Ninety crowds that say who is who, and a second landing that says some of it no longer and some for the first."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from api.warehouse_ids import identifier_id
from tests.dbt_project.identity_reference import Node, Statement, draw
from tests.dbt_project.project import Project
from tests.dbt_project.small_world import minute, pair, spelt

PROFILE = "crowds"
CROWDS, SIZE, FEW = 90, 30, 2
# beyond any number that a crowd draws, so that crowds have no identifier in common
APART = 100
# what the first landing says of all that is ever said, and of how much the second thinks otherwise
SAID, OTHERWISE = 0.85, 0.04

Record = dict[str, Any]


def _crowds() -> list[Statement]:
    """All that is ever said."""
    return [_apart(crowd, statement) for crowd in range(CROWDS) for statement in draw(seed=crowd, count=SIZE)]


def _apart(crowd: int, statement: Statement) -> Statement:
    nodes = frozenset(_node(crowd, kind, int(value.removeprefix(kind))) for kind, value in statement.nodes)
    return replace(statement, at=_at(crowd, statement.at), nodes=nodes)


def _at(crowd: int, at: int) -> int:
    return crowd * 24 * 60 + at


def _node(crowd: int, kind: str, number: int) -> Node:
    # every third crowd has a few devices for all of it, and every fifth some inboxes
    if (kind == "anonymous_id" and crowd % 3 == 0) or (kind == "email" and crowd % 5 == 0):
        number %= FEW
    return kind, f"{kind}{APART * crowd + number}"


def _row(statement: Statement, **columns: Any) -> Record:
    return {**dict(map(spelt, statement.nodes)), "occurred_at": minute(statement.at), **columns}


def _link(crowd: int, number: int, made_for: int) -> Record:
    """A browser that followed a link made for an e-mail, which may be nobody's."""
    key, at = f"{crowd} {number}", minute(_at(crowd, SIZE * 5 + number))
    browser, email = _node(crowd, "anonymous_id", 20 + number), _node(crowd, "email", made_for)
    seen = {"event_id": key, "profile_id": PROFILE, "event_name": "page_view", "session_id": key, "opens_visit": True}
    followed = {"anonymous_id": spelt(browser)[1], "linked_identifier_id": identifier_id(PROFILE, *spelt(email))}
    return {**seen, **followed, "occurred_at": at, "received_at": at}


def _said(*, again: bool) -> list[bool]:
    """Of every statement, whether a landing says it."""
    chance = random.Random(0)
    said = [chance.random() < SAID for _ in _crowds()]
    return [one != (chance.random() < OTHERWISE) for one in said] if again else said


def _land(project: Project, *, again: bool) -> None:
    told: dict[str, list[Record]] = {"touches": [], "conversions": [], "identities": [], "page_events": []}
    for number, (statement, is_said) in enumerate(zip(_crowds(), _said(again=again), strict=True)):
        if not is_said:
            continue
        if statement.typed:
            told["identities"].append(pair(statement))
        elif number % 2:
            touch = {"touch_key": f"crowd {number}", "channel": "web", "origin": "web"}
            told["touches"].append(_row(statement, **touch))
        else:
            lead = {"conversion_key": f"crowd {number}", "conversion_type": "lead_created"}
            told["conversions"].append(_row(statement, **lead))
    for crowd in range(CROWDS):
        # what browsers followed was made for somebody whom not every landing knows, and in one crowd then for others
        for number in range(4):
            told["page_events"].append(_link(crowd, number, 7 + number + (again and crowd == 2)))
    for dataset, rows in told.items():
        project.land(dataset, rows, profile_id=PROFILE, batch="crowds")


def land(project: Project) -> None:
    """The history."""
    _land(project, again=False)


def change(project: Project) -> None:
    """Groups of people join, part, and change in between; most stay as they were."""
    _land(project, again=True)
