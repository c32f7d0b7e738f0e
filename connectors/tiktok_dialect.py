"""How TikTok's API for Business says no: HTTP 200 with a code that is not 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from connectors.errors import Malformed, Refused, Revoked, Throttled, Transient
from connectors.transport import Answer

OK, NOTHING_TO_CHANGE = 0, 40012
# seconds left alone after the first, second, … answer in a row that calls us too frequent; TikTok states no wait
WAITS = (1.0, 5.0, 30.0, 60.0)
# of an app, of a value that was sent, of an advertiser; the last of all that comes from one place
_THROTTLED = {40016, 40100, 40132, 40133, 61000}
_REVOKED = {40102, 40103, 40104, 40105, 40106, 40107, 40114}
_PERMISSION = {40001, 40003, 40113, 40117, 40118, 40119, 40125, 40130, 40301}
_NOT_FOUND = {40007, 40300, 40302}
_TRANSIENT = {40200, 40201, 40202, 60001}
_BAD_PARAMETER = {40000, 40002, 40011, 40061, 40700}
_POLICY_BLOCK = 41000
_TOO_LOW = ("minimum", "at least", "too low", "lower than", "less than")


class TikTokDialect:
    """Judges answers by the codes of TikTok's own client; one per connection, since waits grow with repetition."""

    provider = "tiktok"

    def __init__(self) -> None:
        self._turned_away = 0

    def judge(self, answer: Answer) -> None:
        if answer.is_json and not isinstance(answer.body, dict):
            raise Malformed(self.provider, "the answer is not an object", status=answer.status)
        # what stands before TikTok's API says slow down by the status, and may say for how long
        if not answer.is_json or answer.status == 429 or ("code" not in answer.body and answer.status >= 300):
            return
        code = _code(answer.body)
        if code is None:
            raise Malformed(self.provider, "an answer without a code", status=answer.status)
        if code in _THROTTLED:
            wait = WAITS[min(self._turned_away, len(WAITS) - 1)]
            self._turned_away += 1
            raise Throttled(self.provider, f"too many requests (code {code})", wait=wait, status=answer.status)
        self._turned_away = 0
        if code not in (OK, NOTHING_TO_CHANGE):
            self._refuse(answer, code)

    def pause_after(self, answer: Answer) -> float:
        return 0.0

    def _refuse(self, answer: Answer, code: int) -> None:
        told, status, name = str(answer.body.get("message", ""))[:300], answer.status, self.provider
        message = f"{told} (code {code})"
        if code in _REVOKED:
            raise Revoked(name, message, status=status)
        if code in _TRANSIENT or 50000 <= code < 54000:
            raise Transient(name, message, status=status)
        raise Refused(name, message, reason=_reason(code, told), status=status, code=str(code))


def _code(body: Mapping[str, Any]) -> int | None:
    code = body.get("code")
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def _reason(code: int, message: str) -> str:
    if code in _PERMISSION:
        return "permission_missing"
    if code in _NOT_FOUND:
        return "not_found"
    if code in _BAD_PARAMETER:
        text = message.lower()
        is_low = "budget" in text and any(word in text for word in _TOO_LOW)
        return "budget_too_low" if is_low else "bad_parameter"
    return "policy_block" if code == _POLICY_BLOCK else "refused"
