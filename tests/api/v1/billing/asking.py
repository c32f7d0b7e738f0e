"""What the answers of billing routes say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from werkzeug.test import TestResponse

Ask = Callable[..., TestResponse]
Body = dict[str, Any]
UNKNOWN = "01900000-0000-7000-8000-00000000ffff"


def refusal(answer: TestResponse) -> tuple[int, str, str | None]:
    error = answer.get_json()["error"]
    return answer.status_code, error["code"], error.get("reason")


def data(answer: TestResponse) -> dict[str, Any]:
    assert answer.status_code in {200, 201}, answer.text
    found: dict[str, Any] = answer.get_json()["data"]
    return found
