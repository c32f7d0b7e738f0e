"""What somebody changed at Google Ads since the sandbox started, laid over the world; what was delivered stays."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any

from flask import Flask, Response, request

from sandbox import refusals
from sandbox.faults import CONTROL

Row = dict[str, Any]
SMALLEST_MICROS = 1_000_000
UNIT_MICROS = 10_000
STATUSES = ("ENABLED", "PAUSED", "REMOVED")
SETTABLE = {
    "campaigns": {"status"},
    "adGroups": {"status"},
    "adGroupAds": {"status"},
    "campaignBudgets": {"amountMicros", "totalAmountMicros"},
}


class Live:
    """The changed members of each resource, as REST spells them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._changed: dict[str, Row] = {}

    def change(self, resource: str, members: Mapping[str, Any]) -> None:
        """Set members of a resource; one that is null is not told any more."""
        with self._lock:
            self._changed[resource] = {**self._changed.get(resource, {}), **members}

    def forget(self) -> None:
        with self._lock:
            self._changed = {}

    def over(self, resource: str, node: Row) -> Row:
        """A node as it is now."""
        with self._lock:
            changed = self._changed.get(resource, {})
        return {name: value for name, value in {**node, **changed}.items() if value is not None}


def mutated(live: Live, collection: str, known: Mapping[str, Row], document: Any) -> Response:
    """Carry out the operations on resources of a collection, or refuse all; `known` are its nodes by name."""
    operations = document.get("operations") if isinstance(document, dict) else None
    if not isinstance(operations, list) or not operations:
        return refusals.google_error("REQUIRED", "operations: required field was not present.")
    for one in operations:
        refused = _refusal(collection, known, one)
        if refused is not None:
            return refused
    for one in operations:
        members = {name: value for name, value in one["update"].items() if name != "resourceName"}
        live.change(one["update"]["resourceName"], members)
    return refusals.answer({"results": [{"resourceName": one["update"]["resourceName"]} for one in operations]})


def control(app: Flask, live: Live) -> None:
    """The routes by which a test or a person does what is done in Google's own tools."""

    @app.put(f"{CONTROL}/google/objects/<path:resource>")
    def change_google(resource: str) -> Row:
        live.change(resource, request.get_json())
        return {"status": "ok"}

    @app.delete(f"{CONTROL}/google/objects")
    def forget_google() -> Row:
        live.forget()
        return {"status": "ok"}


def _refusal(collection: str, known: Mapping[str, Row], operation: Row) -> Response | None:
    update, mask = operation.get("update", {}), str(operation.get("updateMask", "")).split(",")
    resource = str(update.get("resourceName"))
    if resource not in known:
        return refusals.google_error("RESOURCE_NOT_FOUND", f"Resource '{resource}' was not found.")
    members = {name: value for name, value in update.items() if name != "resourceName"}
    if set(members) != set(mask) or not set(mask) <= SETTABLE[collection]:
        return refusals.google_error("FIELD_NOT_FOUND", f"updateMask: {mask} cannot be set.")
    if known[resource].get("status") == "REMOVED":
        return refusals.google_error("OPERATION_NOT_PERMITTED_FOR_REMOVED_RESOURCE", "It was removed.")
    if "status" in members and members["status"] not in STATUSES:
        return refusals.google_error("INVALID_ENUM_VALUE", f"status must be one of {', '.join(STATUSES)}.")
    return _refused_amount({name: value for name, value in members.items() if name != "status"})


def _refused_amount(amounts: Mapping[str, Any]) -> Response | None:
    for name, value in amounts.items():
        micros = int(value) if str(value).isdigit() else 0
        if micros % UNIT_MICROS:
            code = "NON_MULTIPLE_OF_MINIMUM_CURRENCY_UNIT"
        elif micros < SMALLEST_MICROS:
            code = "MONEY_AMOUNT_LESS_THAN_CURRENCY_MINIMUM_CPC"
        else:
            continue
        return refusals.google_error(code, f"{name}: the amount is not accepted.")
    return None
