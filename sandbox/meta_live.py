"""What somebody changed at the Marketing API since the sandbox started: statuses and budgets, laid over the world.

The ledger of truth stays: what an ad delivered does not depend on what is done to it here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Any

from flask import Flask, Response, request

from sandbox import meta_entities, refusals
from sandbox.faults import CONTROL
from sandbox.world import World, WorldHolder

Row = dict[str, Any]
SETTABLE = {"status", "daily_budget", "lifetime_budget"}
STATUSES = ("ACTIVE", "PAUSED", "ARCHIVED", "DELETED")
FINAL = {"ARCHIVED", "DELETED"}
SMALLEST_BUDGET = 100
# what Meta calls each kind of object when it refuses a field
NODE_TYPES = {"campaigns": "AdCampaignGroup", "adsets": "AdCampaign", "ads": "Adgroup"}
_OWN = {"id", "account_id", "name", "status", "effective_status", "created_time", "updated_time"}
_BUDGETED = {*_OWN, "daily_budget", "lifetime_budget"}
FIELDS = {
    "campaigns": {*_BUDGETED, "objective", "buying_type"},
    "adsets": {*_BUDGETED, "campaign_id", "campaign", "optimization_goal", "promoted_object"},
    "ads": {*_OWN, "campaign_id", "campaign", "adset_id", "creative"},
}


class Live:
    """The changed members of each object, as the Graph API spells them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._changed: dict[str, Row] = {}

    def change(self, number: str, members: Mapping[str, Any]) -> None:
        """Set members of an object; one that is null is not told any more."""
        with self._lock:
            self._changed[number] = {**self._changed.get(number, {}), **members}

    def forget(self) -> None:
        with self._lock:
            self._changed = {}

    def edge(self, world: World, account: str, name: str) -> list[Row]:
        """All rows of an edge as they are now, with the campaign of each in it, and the creative of each ad."""
        rows = [self._now(row) for row in meta_entities.edge(world, account, name)]
        if name not in ("adsets", "ads"):
            return rows
        campaigns = {row["id"]: self._now(row) for row in meta_entities.edge(world, account, "campaigns")}
        rows = [_under(row, campaigns[row["campaign_id"]]) for row in rows]
        if name == "ads":
            creatives = {row["id"]: row for row in meta_entities.edge(world, account, "adcreatives")}
            rows = [{**row, "creative": creatives[row["creative"]["id"]]} for row in rows]
        return rows

    def find(self, world: World, number: str) -> tuple[str, Row] | None:
        """An object of any account with the name of its edge; None for an unknown id."""
        for account in world.accounts:
            for name in NODE_TYPES:
                row = next((row for row in self.edge(world, account.id, name) if row["id"] == number), None)
                if row is not None:
                    return name, row
        return None

    def _now(self, row: Row) -> Row:
        with self._lock:
            changed = self._changed.get(row["id"], {})
        own = {"effective_status": changed["status"]} if "status" in changed else {}
        return {name: value for name, value in {**row, **own, **changed}.items() if value is not None}


def asked_fields(text: str) -> dict[str, list[str]]:
    """`id,campaign{name}` as {id: [], campaign: [name]}."""
    found = re.findall(r"(\w+)(?:\.limit\(\d+\))?(?:\{([^{}]*)\})?", text)
    return {name: [one for one in inner.split(",") if one] for name, inner in found}


def asked_limits(text: str) -> dict[str, int]:
    """`id,campaigns.limit(500){id}` as {campaigns: 500}."""
    return {name: int(limit) for name, limit in re.findall(r"(\w+)\.limit\((\d+)\)", text)}


def picked(row: Row, fields: Mapping[str, Iterable[str]]) -> Row:
    """The asked members; an object within is told by its id unless members of it are asked."""
    told = {name: value for name, value in row.items() if name in {"id", *fields}}
    for name in {"campaign", "creative"} & told.keys():
        wanted = {"id", *fields[name]}
        told[name] = {key: value for key, value in row[name].items() if key in wanted}
    return told


def read(live: Live, world: World, number: str) -> Response | None:
    """One object; None for an unknown id. A field that its kind does not have is refused, as Meta does."""
    found = live.find(world, number)
    if found is None:
        return None
    name, row = found
    fields = asked_fields(request.args.get("fields", ""))
    if unknown := next((field for field in fields if field not in FIELDS[name]), None):
        message = f"(#100) Tried accessing nonexisting field ({unknown}) on node type ({NODE_TYPES[name]})"
        return refusals.meta_error(100, message)
    return refusals.answer(picked(row, fields))


def write(live: Live, world: World, number: str) -> Response | None:
    """Set the status or a budget of an object; None for an unknown id."""
    found = live.find(world, number)
    if found is None:
        return None
    wanted = {name: value for name, value in request.form.items() if name in SETTABLE}
    refused = _refusal(found[1], wanted)
    if refused is None:
        live.change(number, wanted)
    return refused or refusals.answer({"success": True})


def control(app: Flask, holder: WorldHolder, live: Live) -> None:
    """The routes by which a test or a person does what is done in Meta's own tools."""

    @app.put(f"{CONTROL}/meta/objects/<number>")
    def change_object(number: str) -> Response:
        live.change(number, request.get_json())
        found = live.find(holder.world, number)
        return Response(json.dumps(found and found[1]), 200 if found else 404, mimetype="application/json")

    @app.delete(f"{CONTROL}/meta/objects")
    def forget_objects() -> dict[str, Any]:
        live.forget()
        return {"status": "ok"}


def _under(row: Row, campaign: Row) -> Row:
    """A row whose effective status follows its campaign's: of the two, the one that stops more."""
    above = campaign.get("status")
    if above in FINAL:
        row = {**row, "effective_status": above}
    elif above == "PAUSED" and row.get("status") == "ACTIVE":
        row = {**row, "effective_status": "CAMPAIGN_PAUSED"}
    return {**row, "campaign": campaign}


def _refusal(row: Row, wanted: Mapping[str, str]) -> Response | None:
    if FINAL & {row.get("status"), row.get("effective_status")}:
        return refusals.meta_error(100, "Invalid parameter: an archived or deleted object cannot be edited.")
    if wanted.get("status", "ACTIVE") not in STATUSES:
        return refusals.meta_error(100, f"(#100) status must be one of {', '.join(STATUSES)}")
    for name in wanted.keys() - {"status"}:
        if not wanted[name].isdigit() or name not in row:
            return refusals.meta_error(100, f"(#100) {name} cannot be set on this object")
        if int(wanted[name]) < SMALLEST_BUDGET:
            return refusals.meta_error(100, "Invalid parameter: your budget is too low.", subcode=1885272)
    return None
