"""Reading the Graph API: one object, a whole list, or a report run, over a transport that may fail underneath."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote

from connectors.ad_platform import Row
from connectors.cursors import Steps
from connectors.errors import CursorExpired, Malformed, Refused, TooManyRows, TooMuchData, Transient
from connectors.meta_dialect import MetaDialect
from connectors.transport import Answer, Request, Transport

VERSION = "v26.0"
PAGE = 500
RESTARTS = 2
FIRST_POLL, LONGEST_POLL = 0.1, 20.0
START_TIMEOUT, FINISH_TIMEOUT = 300.0, 1800.0
NOT_FOUND_POLLS = 5


class ReportFailed(Transient):
    """A report run failed, was skipped, or did not start or finish in time."""

    reason = "report_failed"


@dataclass(repr=False)
class MetaGraph:
    """The Graph API of one token. The token travels in a header, its proof in the query, as Meta wants it."""

    base_url: str
    token: str
    transport: Transport
    app_secret: str | None = None

    def __post_init__(self) -> None:
        self._dialect = MetaDialect()

    def node(self, path: str, fields: str, **more: str) -> Row:
        """One object; `more` are its other parameters."""
        return dict(self._ask("GET", path, {"fields": fields, **more}).body)

    def change(self, path: str, form: Mapping[str, str]) -> None:
        """Set members of one object. Raises Malformed unless Meta says that it is done."""
        body = self._ask("POST", path, form).body
        if body.get("success") is not True:
            raise Malformed("meta", "a change that is neither done nor refused")

    def post(self, path: str, form: Mapping[str, str]) -> Row:
        """What Meta answers to a form."""
        return dict(self._ask("POST", path, form).body)

    def make(self, path: str, form: Mapping[str, str]) -> Row:
        """What Meta answers to a form that makes something: never sent again unless it was turned away unheard."""
        return dict(self._ask("POST", path, form, once=True).body)

    def send_bytes(self, session: str, content: bytes) -> Row:
        """What Meta answers to a whole file, sent to an upload session."""
        headers = {"Authorization": f"OAuth {self.token}", "file_offset": "0"}
        # the id of a session brings its signature along, as a query
        number, _, signature = session.partition("?")
        url = f"{self.base_url}/{VERSION}/{quote(number, safe=':/=')}"
        params, proof = dict(parse_qsl(signature)), proved(self.token, self.app_secret)
        request = Request("POST", url, params={**params, **proof}, content=content, headers=headers)
        return dict(self.transport.send(request, self._dialect, secrets=(self.token, *proof.values())).body)

    def walk(self, path: str, params: Mapping[str, str]) -> list[Row]:
        """Every row of a list, all pages read; rows of a page that came twice are there twice.

        An expired cursor restarts the walk; when Meta cannot compute a page, the page size is halved.
        Raises Malformed for a list that never moves on, TooMuchData for one that pages of one row do not make possible.
        """
        for restart in range(RESTARTS + 1):
            try:
                return self._walk_once(path, params)
            except CursorExpired:
                if restart == RESTARTS:
                    raise
        raise AssertionError("unreachable")

    def report(self, path: str, params: Mapping[str, str]) -> list[Row]:
        """Every row of a report run. Raises ReportFailed, and TooMuchData as `walk` does."""
        body = self._ask("POST", path, params).body
        run = str(body.get("report_run_id") or "")
        if not run.isdigit():
            raise Malformed("meta", "a report was started without an id")
        self._await_report(run)
        return self.walk(f"{run}/insights", {})

    def _walk_once(self, path: str, params: Mapping[str, str]) -> list[Row]:
        rows: list[Row] = []
        after: str | None = None
        limit, steps = PAGE, Steps("meta", None)
        while True:
            cursor = {"after": after} if after else {}
            try:
                body = self._ask("GET", path, {**params, "limit": str(limit), **cursor}).body
            except TooMuchData as error:
                if limit == 1 or isinstance(error, TooManyRows):
                    raise
                limit //= 2
                continue
            rows += _data(body)
            following = _next_cursor(body)
            if following is None:
                return rows
            steps.to(following)
            after = following

    def _await_report(self, run: str) -> None:
        waited, pause, missing = 0.0, FIRST_POLL, 0
        while True:
            try:
                status = _state(self.node(run, "async_status,async_percent_completion,error_code"))
            except Refused as error:
                missing += 1
                # a run just made may not be readable yet
                if error.reason != "not_found" or missing > NOT_FOUND_POLLS:
                    raise
                status = "Job Not Started"
            if status == "Job Completed":
                return
            if status in ("Job Failed", "Job Skipped"):
                raise ReportFailed("meta", f"report run ended as {status}")
            if waited >= (START_TIMEOUT if status == "Job Not Started" else FINISH_TIMEOUT):
                raise ReportFailed("meta", f"report run still {status} after {waited:.0f} s")
            self.transport.sleep(pause)
            waited, pause = waited + pause, min(LONGEST_POLL, pause * 1.6)

    def _ask(self, method: str, path: str, params: Mapping[str, str], *, once: bool = False) -> Answer:
        proof = proved(self.token, self.app_secret)
        signed = {**params, **proof}
        request = Request(
            method,
            f"{self.base_url}/{VERSION}/{quote(path)}",
            params=signed if method == "GET" else {},
            form=signed if method == "POST" else None,
            headers={"Authorization": f"Bearer {self.token}"},
            once=once,
        )
        return self.transport.send(request, self._dialect, secrets=(self.token, *proof.values()))


def proved(token: str, app_secret: str | None) -> dict[str, str]:
    """What shows that a token is used by the app that it was given to, which an app can demand; {} without a secret."""
    if not app_secret:
        return {}
    return {"appsecret_proof": hmac.new(app_secret.encode(), token.encode(), hashlib.sha256).hexdigest()}


def _state(run: Row) -> str:
    status = run.get("async_status")
    if not isinstance(status, str):
        raise Malformed("meta", "a report run without a state")
    return status


def time_range(since: object, until: object) -> str:
    """A range as the API takes it."""
    return json.dumps({"since": str(since), "until": str(until)})


def _data(body: Mapping[str, Any]) -> list[Row]:
    rows = body.get("data")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Malformed("meta", "a list without data")
    return rows


def _next_cursor(body: Mapping[str, Any]) -> str | None:
    """The cursor of the following page. `after` stands on the last page too; only `next` says there is more."""
    paging = body.get("paging")
    if not isinstance(paging, dict) or not paging.get("next"):
        return None
    cursors = paging.get("cursors")
    after = cursors.get("after") if isinstance(cursors, dict) else None
    if not isinstance(after, str) or not after:
        raise Malformed("meta", "a page that has a next one, but no cursor")
    return after
