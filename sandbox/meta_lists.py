"""Meta's customer lists: made, added to, taken from and replaced, by hashes alone."""

from __future__ import annotations

import json
from threading import Lock
from typing import Any

from flask import Blueprint, Flask, Response, request

from sandbox import refusals
from sandbox.faults import CONTROL
from sandbox.meta_conversions import DIGEST

SCHEMA = ["EMAIL", "PHONE"]
MOST_ROWS = 10_000
_FIRST = 4 * 10**15

Person = tuple[str, str]


class CustomerLists:
    """The lists made since the sandbox started, by id: (e-mail, phone) of each person, as hashes or empty."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._lists: dict[str, dict[str, Any]] = {}

    def make(self, account: str, name: str) -> str:
        with self._lock:
            number = str(_FIRST + len(self._lists))
            self._lists[number] = {"account": account, "name": name, "people": set()}
            return number

    def change(self, number: str, people: set[Person], how: str) -> bool:
        """Add to it, take from it or replace it; False for an unknown list."""
        with self._lock:
            if number not in self._lists:
                return False
            kept: set[Person] = self._lists[number]["people"]
            changed = {"add": kept | people, "delete": kept - people, "replace": people}
            self._lists[number]["people"] = changed[how]
            return True

    def state(self) -> dict[str, Any]:
        with self._lock:
            return {number: {**one, "people": sorted(one["people"])} for number, one in self._lists.items()}

    def forget(self) -> None:
        with self._lock:
            self._lists = {}


def routes(face: Blueprint, version: str, lists: CustomerLists) -> None:
    """Add the lists to the Meta face."""

    @face.post(f"/{version}/act_<account>/customaudiences")
    def make_list(account: str) -> Response:
        for name in ("name", "subtype", "customer_file_source"):
            if not request.form.get(name):
                return refusals.meta_error(100, f"(#100) Missing parameter(s): {name}")
        return refusals.answer({"id": lists.make(account, request.form["name"])})

    @face.post(f"/{version}/<int:number>/<any(users, usersreplace):edge>")
    def change_list(number: int, edge: str) -> Response:
        try:
            people = _people(json.loads(request.form.get("payload", "")))
        except (ValueError, TypeError, KeyError) as wrong:
            return refusals.meta_error(100, f"(#100) Invalid parameter: payload ({wrong})")
        if edge == "usersreplace" and not _is_whole(request.form.get("session", "")):
            return refusals.meta_error(100, "(#100) Missing parameter(s): session of one batch, the last")
        how = "replace" if edge == "usersreplace" else "delete" if request.form.get("method") == "delete" else "add"
        if not lists.change(str(number), people, how):
            return refusals.meta_error(100, f"Object with ID '{number}' does not exist.", subcode=33)
        return refusals.answer(
            {"audience_id": str(number), "num_received": len(people), "num_invalid_entries": 0, "session_id": "1"}
        )


def control(app: Flask, lists: CustomerLists) -> None:
    """Who is on each list."""

    @app.get(f"{CONTROL}/meta/audiences")
    def listed() -> dict[str, Any]:
        return lists.state()

    @app.delete(f"{CONTROL}/meta/audiences")
    def forget_lists() -> dict[str, Any]:
        lists.forget()
        return {}


def _is_whole(session: str) -> bool:
    try:
        told = json.loads(session)
        return told["session_id"] > 0 and told["batch_seq"] == 1 and told["last_batch_flag"] is True
    except (ValueError, TypeError, KeyError):
        return False


def _people(payload: dict[str, Any]) -> set[Person]:
    if payload["schema"] != SCHEMA:
        raise ValueError(f"Raw PII type is invalid, it should be one of {','.join(SCHEMA)}")
    if not 0 < len(payload["data"]) <= MOST_ROWS:
        raise ValueError("number of rows")
    for row in payload["data"]:
        if len(row) != len(SCHEMA) or not any(row) or not all(one == "" or DIGEST.fullmatch(one) for one in row):
            raise ValueError("a row is not of hashes")
    return {(email, phone) for email, phone in payload["data"]}
