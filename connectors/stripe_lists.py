"""Reading Stripe's lists to their end, and what its refusals mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from connectors.cursors import Steps
from connectors.errors import CursorExpired, Malformed, Refused, Revoked, Throttled, Transient
from connectors.payments import Row
from connectors.transport import Answer, Request, Transport, retry_after

VERSION = "2026-10-28.endive"
PAGE = 100
RESTARTS = 2
# as pulls ask for them, and whoever looks whether a key may: what is shown of another list asks for its right too
REFUNDS = {"expand[]": "data.charge"}
PAID_INVOICES = {"status": "paid", "expand[]": "data.payments"}


class StripeDialect:
    """Judges Stripe's answers; `Stripe-Should-Retry` has the last word on what may be repeated."""

    provider = "stripe"

    def judge(self, answer: Answer) -> None:
        error = answer.body.get("error") if isinstance(answer.body, dict) else None
        if not isinstance(error, dict):
            return
        message, code, status = str(error.get("message", ""))[:300], error.get("code"), answer.status
        again = answer.headers.get("stripe-should-retry")
        if status == 401:
            raise Revoked("stripe", message, status=status)
        if status == 429 and again != "false":
            raise Throttled("stripe", message, wait=retry_after(answer), status=status)
        if again == "true" or (again != "false" and (status >= 500 or status == 409)):
            raise Transient("stripe", message, status=status)
        if code == "resource_missing" and error.get("param") == "starting_after":
            raise CursorExpired("stripe", message, status=status)
        raise Refused("stripe", message, reason="permission_missing" if status == 403 else None, status=status)

    def pause_after(self, answer: Answer) -> float:
        """Stripe reports no budget before it is used up."""
        return 0.0


@dataclass(repr=False)
class StripeLists:
    """The API of one Stripe key."""

    base_url: str
    token: str
    transport: Transport

    def __post_init__(self) -> None:
        self._dialect = StripeDialect()

    def walk(self, kind: str, params: Mapping[str, str]) -> list[Row]:
        """Every object of a list, newest first, once each.

        A cursor that is gone restarts the walk. Raises Malformed for a list that never moves on.
        """
        for restart in range(RESTARTS + 1):
            try:
                return self._walk_once(kind, params)
            except CursorExpired:
                if restart == RESTARTS:
                    raise
        raise AssertionError("unreachable")

    def newest(self, kind: str, params: Mapping[str, str]) -> list[Row]:
        """The newest object of a list, or none."""
        return _page(self._ask(kind, {**params, "limit": "1"}))[0]

    def _walk_once(self, kind: str, params: Mapping[str, str]) -> list[Row]:
        found: dict[str, Row] = {}
        after: str | None = None
        steps = Steps("stripe", after)
        while True:
            cursor = {"starting_after": after} if after else {}
            rows, more = _page(self._ask(kind, {**params, "limit": str(PAGE), **cursor}))
            found.update({row["id"]: row for row in rows})
            if not more:
                return list(found.values())
            after = rows[-1]["id"] if rows else after
            steps.to(after)

    def _ask(self, kind: str, params: Mapping[str, str]) -> Answer:
        headers = {"Authorization": f"Bearer {self.token}", "Stripe-Version": VERSION}
        request = Request("GET", f"{self.base_url}/v1/{kind}", params=params, headers=headers)
        return self.transport.send(request, self._dialect, secrets=(self.token,))


def _page(answer: Answer) -> tuple[list[Row], bool]:
    body: Any = answer.body
    rows = body.get("data") if isinstance(body, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) and isinstance(row.get("id"), str) for row in rows):
        raise Malformed("stripe", "a list without data")
    more = body.get("has_more")
    if not isinstance(more, bool):
        raise Malformed("stripe", "a page that does not tell whether another follows")
    return rows, more
