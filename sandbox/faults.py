"""The fault plan: what goes wrong, on which route, after how many calls and how often."""

from __future__ import annotations

import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from threading import Lock
from typing import Any

from flask import Flask, Response, request

from sandbox import refusals

CONTROL = "/__sandbox__"
# what vendors call the place in a list, in queries, in variables of GraphQL and in documents
CURSORS = {"after", "starting_after", "pageToken", "page"}
CONTACTS = {"email", "phone"}
_HTML = "<html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>"


class ConnectionCut(BaseException):
    """Ends the connection with a reset; not an Exception, so that no error handler answers instead."""


@dataclass
class Fault:
    """One entry of the plan. `route` is a regular expression on the path, `containing` a text in query or body.

    The first `after` matching calls pass, the next `times` are hit (None: all). `kind` is a key of `KINDS`.
    """

    route: str
    kind: str
    method: str | None = None
    containing: str | None = None
    after: int = 0
    times: int | None = 1
    status: int = 500
    code: str = ""
    subcode: int | None = None
    message: str = "An unknown error occurred"
    wait: float = 1.0
    seconds: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)
    seen: int = 0
    hits: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"unknown kind {self.kind!r}; known: {', '.join(sorted(KINDS))}")
        try:
            re.compile(self.route)
        except re.error as error:
            raise ValueError(f"route is no regular expression: {error}") from None

    def strikes(self) -> bool:
        """Whether this call is hit; counts it."""
        if self.method not in (None, request.method) or not re.search(self.route, request.path):
            return False
        if self.containing is not None and self.containing not in _asked():
            return False
        if self.kind == "cursor_expires" and not _has_cursor():
            return False
        self.seen += 1
        if self.seen <= self.after or (self.times is not None and self.hits >= self.times):
            return False
        self.hits += 1
        return True


class FaultPlan:
    """The faults in force, what they hit, and how many calls each path took."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._faults: list[Fault] = []
        self._calls: Counter[str] = Counter()
        self._last: dict[str, tuple[int, bytes]] = {}

    def replace(self, entries: list[dict[str, Any]]) -> None:
        """Put a new plan in force and forget the counts. Raises ValueError or TypeError for a bad entry."""
        faults = [Fault(**entry) for entry in entries]
        with self._lock:
            self._faults, self._calls, self._last = faults, Counter(), {}

    def state(self) -> dict[str, Any]:
        """The plan with its counts, as the control route answers."""
        with self._lock:
            return {"faults": [asdict(fault) for fault in self._faults], "calls": dict(self._calls)}

    def strike(self) -> Fault | None:
        """The first fault that hits the current call; counts the call."""
        with self._lock:
            self._calls[request.path] += 1
            return next((fault for fault in self._faults if fault.strikes()), None)

    def remember(self, response: Response) -> None:
        """Keep the answer, so that it can be repeated as the next page."""
        with self._lock:
            self._last[_list_asked()] = (response.status_code, response.get_data())

    def last(self) -> Response | None:
        """The newest answer to this same list, whatever the cursor was."""
        with self._lock:
            status, body = self._last.get(_list_asked(), (0, b""))
        return Response(body, status, mimetype="application/json") if status else None


def install(app: Flask, plan: FaultPlan) -> None:
    """Put `plan` between the wire and every face of `app`."""

    @app.before_request
    def strike() -> Response | None:
        if request.path.startswith(CONTROL):
            return None
        fault = plan.strike()
        request.environ["sandbox.fault"] = fault
        if fault and fault.kind == "duplicate_page":
            return plan.last()
        before = BEFORE.get(fault.kind) if fault else None
        return before(fault) if before and fault else None

    @app.after_request
    def spoil(response: Response) -> Response:
        fault = request.environ.get("sandbox.fault")
        after = AFTER.get(fault.kind) if fault else None
        if after and fault:
            return after(fault, response)
        if fault is None and not request.path.startswith(CONTROL) and response.status_code == 200:
            plan.remember(response)
        return response


def struck(kind: str) -> bool:
    """Whether the current call is hit by a fault of `kind`, for kinds that a face plays itself."""
    fault: Fault | None = request.environ.get("sandbox.fault")
    return fault is not None and fault.kind == kind


def unsettled(rows: list[Any]) -> list[Any]:
    """The rows of a list, in an order of their own for each call that is hit."""
    if not struck("unsettled"):
        return rows
    return random.Random(request.environ["sandbox.fault"].hits).sample(rows, len(rows))  # noqa: S311 - an order


def _vendor() -> str:
    return request.path.split("/")[1]


def _asked() -> str:
    return request.query_string.decode() + "\n" + request.get_data(as_text=True, cache=True)


def _variables() -> dict[str, Any]:
    """What a document asks with: the variables of GraphQL, the members of any other."""
    document = request.get_json(silent=True)
    if not isinstance(document, dict):
        return {}
    return dict(document.get("variables") or {}) if "query" in document and "variables" in document else document


def _has_cursor() -> bool:
    return bool(request.args.keys() & CURSORS or any(_variables().get(name) for name in CURSORS))


def _list_asked() -> str:
    query = sorted((name, value) for name, value in request.args.items() if name not in CURSORS)
    variables = sorted((name, str(value)) for name, value in _variables().items() if name not in CURSORS)
    return json.dumps([request.method, request.path, query, variables])


def _with_status(fault: Fault) -> Response:
    response = refusals.numbered(_vendor(), fault.code or "2", fault.subcode, fault.message, fault.status)
    response.status_code = fault.status
    response.headers.update(fault.headers)
    return response


def _with_code(fault: Fault) -> Response:
    status = fault.status if fault.status != 500 else 400
    response = refusals.numbered(_vendor(), fault.code, fault.subcode, fault.message, status)
    response.headers.update(fault.headers)
    return response


def _late(fault: Fault) -> None:
    time.sleep(fault.seconds)


def _page_of_html(fault: Fault) -> Response:
    return Response(_HTML, fault.status if fault.status != 500 else 502, mimetype="text/html")


def _reset(_: Fault) -> Response:
    raise ConnectionCut


def _cut(fault: Fault, response: Response) -> Response:
    body = response.get_data()
    response.set_data(body[: len(body) // 2])
    if fault.message == "announced":
        response.headers["Content-Length"] = str(len(body))
        response.headers["Connection"] = "close"
    return response


def _dripped(fault: Fault, response: Response) -> Response:
    body = response.get_data()

    def pieces() -> Iterator[bytes]:
        for start in range(0, len(body), 64):
            time.sleep(fault.seconds)
            yield body[start : start + 64]

    dripping = Response(pieces(), response.status_code, mimetype="application/json")
    dripping.headers["Content-Length"] = str(len(body))
    return dripping


def _lists(body: Any) -> list[list[Any]]:
    """The lists of rows in an answer: `data` of most vendors, the edges of GraphQL's outermost connections."""
    rows = body
    for name in ("data", "list", "results"):
        rows = rows.get(name, rows) if isinstance(rows, dict) else rows
    if isinstance(rows, list):
        return [rows]
    found = rows.values() if isinstance(rows, dict) else []
    return [one["edges"] for one in found if isinstance(one, dict) and isinstance(one.get("edges"), list)]


def _reordered(fault: Fault, response: Response) -> Response:
    body = response.get_json()
    for rows in _lists(body):
        random.Random(fault.hits).shuffle(rows)  # noqa: S311 - an order, not a secret
    response.set_data(json.dumps(body))
    return response


def _doubled(_: Fault, response: Response) -> Response:
    body = response.get_json()
    for rows in _lists(body):
        rows += rows
    response.set_data(json.dumps(body))
    return response


def _withheld(_: Fault, response: Response) -> Response:
    """Whom an app may not know: contacts are null in the data, and an error beside it names each."""
    body = response.get_json()
    for kind, told in (body.get("data") or {}).items():
        for number, edge in enumerate(told.get("edges", ()) if isinstance(told, dict) else ()):
            for name in CONTACTS & edge["node"].keys():
                edge["node"][name] = None
                body.setdefault("errors", []).append(
                    {
                        "message": f"This app is not approved to use the {name} field.",
                        "path": [kind, "edges", number, "node", name],
                        "extensions": {"code": "ACCESS_DENIED"},
                    }
                )
    response.set_data(json.dumps(body))
    return response


def _another_shape(_: Fault) -> Response:
    return Response(json.dumps({"data": {"items": "moved"}, "version": 2}), mimetype="application/json")


BEFORE: dict[str, Callable[[Fault], Response | None]] = {
    "status": _with_status,
    "code": _with_code,
    "delay": _late,
    "html": _page_of_html,
    "reset": _reset,
    "shape": _another_shape,
    "revoked": lambda _: refusals.revoked(_vendor()),
    "throttled": lambda fault: refusals.throttled(_vendor(), fault.wait),
    "cursor_expires": lambda _: refusals.cursor_expired(_vendor()),
}
AFTER: dict[str, Callable[[Fault, Response], Response]] = {
    "truncation": _cut,
    "drip": _dripped,
    "reorder": _reordered,
    "double_rows": _doubled,
    "withheld": _withheld,
}
_BY_FACES = {"duplicate_page", "report_failed", "report_stuck", "scope_missing", "secret_required", "unsettled"}
KINDS = {*BEFORE, *AFTER, *_BY_FACES}
