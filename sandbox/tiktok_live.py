"""What somebody changed at TikTok since the sandbox started: statuses and budgets, laid over the presence."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

from flask import Flask, Response, request

from sandbox.faults import CONTROL
from sandbox.tiktok_entities import listed
from sandbox.tiktok_world import Presence, Presences
from sandbox.world import WorldHolder

Row = dict[str, Any]
OPERATIONS = ("ENABLE", "DISABLE", "DELETE")
# the smallest budget of each kind of object, in whole units of the currency
SMALLEST = {"campaign": 50, "adgroup": 20}


class UnchangeableError(ValueError):
    """A request that TikTok refuses with code 40002."""


class Live:
    """The changed members of each object, by id."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._changed: dict[str, Row] = {}

    def changed(self) -> Mapping[str, Row]:
        with self._lock:
            return {number: dict(members) for number, members in self._changed.items()}

    def change(self, number: str, members: Mapping[str, Any]) -> None:
        """Set members of an object."""
        with self._lock:
            self._changed[number] = {**self._changed.get(number, {}), **members}

    def forget(self) -> None:
        with self._lock:
            self._changed = {}

    def operate(self, presence: Presence, noun: str, ids: Sequence[str], operation: str) -> None:
        """Enable, disable or delete objects. Raises UnchangeableError for all of them when one cannot be."""
        if operation not in OPERATIONS or not ids:
            raise UnchangeableError("operation_status: Value is not in the enumeration")
        for number in ids:
            self._changeable(presence, noun, number)
        for number in ids:
            self.change(number, {"operation_status": operation})

    def budget(self, presence: Presence, noun: str, number: str, amount: object) -> None:
        """Give an object a budget of the mode it has. Raises UnchangeableError."""
        row = self._changeable(presence, noun, number)
        if isinstance(amount, bool) or not isinstance(amount, int | float) or row["budget_mode"].endswith("INFINITE"):
            raise UnchangeableError("budget: cannot be set")
        if amount < SMALLEST[noun]:
            raise UnchangeableError(f"The {noun} budget must be at least {SMALLEST[noun]}.")
        self.change(number, {"budget": amount})

    def _changeable(self, presence: Presence, noun: str, number: str) -> Row:
        found = next((row for row in listed(presence, noun, self.changed()) if row[f"{noun}_id"] == number), None)
        if found is None:
            raise UnchangeableError(f"{noun}_id: {number} does not exist")
        if found["secondary_status"].endswith("_DELETE"):
            raise UnchangeableError(f"{noun}_id: {number} is deleted and cannot be changed")
        return found


def control(app: Flask, holder: WorldHolder, presences: Presences, live: Live) -> None:
    """The routes by which a test or a person does what is done in TikTok's own tools."""

    @app.put(f"{CONTROL}/tiktok/objects/<number>", endpoint="tiktok_change")
    def change_object(number: str) -> Response:
        live.change(number, request.get_json())
        presence = presences.of(holder.world)
        rows = [row for noun in ("campaign", "adgroup", "ad") for row in listed(presence, noun, live.changed())]
        found = next((row for row in rows if _own(row) == number), None)
        return Response(json.dumps(found), 200 if found else 404, mimetype="application/json")

    @app.delete(f"{CONTROL}/tiktok/objects", endpoint="tiktok_forget")
    def forget_objects() -> Row:
        live.forget()
        return {"status": "ok"}


def _own(row: Row) -> str:
    return str(row.get("ad_id") or row.get("adgroup_id") or row["campaign_id"])
