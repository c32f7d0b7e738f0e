"""How the Graph API says no and says slow down: its error codes, and the usage it reports in headers."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from connectors.errors import (
    CursorExpired,
    Malformed,
    Refused,
    Revoked,
    Throttled,
    TooManyRows,
    TooMuchData,
    Transient,
)
from connectors.transport import Answer

LOCKED_OUT = 3600.0
BUSY, FULL = 90.0, 100.0
# of an ad set, and of a campaign that shares its budget out
BUDGETS_TOO_LOW = {1885272, 1885650}
# of customer lists
TERMS_NOT_ACCEPTED = 2663
TEMPLATE_EXISTS = 2388024
NOBODY_PAYS = 131042
TOKEN_EXPIRED = 463
TOO_MANY_ROWS = 1487534
_BREATHER = 10.0
_THROTTLED = {4, 17, 32, 341, 613, *range(80000, 80015)}
_TRANSIENT = {1, 2, 104, 960, 2601}
_REVOKED = {102, 190}
_USAGES = ("call_count", "total_cputime", "total_time", "acc_id_util_pct", "app_id_util_pct")


class MetaDialect:
    """Judges answers of the Graph API by the table of error codes Meta documents."""

    provider = "meta"

    def judge(self, answer: Answer) -> None:
        if answer.is_json and not isinstance(answer.body, dict):
            raise Malformed(self.provider, "the answer is not an object", status=answer.status)
        error = answer.body.get("error") if answer.is_json else None
        if isinstance(error, dict):
            self._judge_error(answer, error)

    def pause_after(self, answer: Answer) -> float:
        """A breather above 90 % of a quota; at its end, the wait Meta states."""
        usages = _usages(answer)
        used = max((_number(usage, name) for usage in usages for name in _USAGES), default=0.0)
        if used >= FULL:
            return regain_seconds(answer) or 60.0
        return _BREATHER if used >= BUSY else 0.0

    def _judge_error(self, answer: Answer, error: Mapping[str, Any]) -> None:
        code, subcode = int(_number(error, "code")), int(_number(error, "error_subcode"))
        message, status, name = str(error.get("message", ""))[:300], answer.status, self.provider
        if code in _REVOKED:
            over = "expired" if subcode == TOKEN_EXPIRED else None
            raise Revoked(name, f"{message} (code {code}, subcode {subcode})", reason=over, status=status)
        if code in _THROTTLED:
            locked = LOCKED_OUT if (code, subcode) == (17, 2446079) else None
            raise Throttled(name, f"{message} (code {code})", wait=regain_seconds(answer) or locked, status=status)
        if code == 2642:
            raise CursorExpired(name, message, status=status)
        if subcode == TOO_MANY_ROWS:
            raise TooManyRows(name, f"{message} (code {code}, subcode {subcode})", status=status)
        if "reduce the amount of data" in message:
            raise TooMuchData(name, message, status=status)
        passes = code in _TRANSIENT or subcode == 99 or error.get("is_transient") is True or _odd_refusal(code, message)
        if "appsecret_proof" in message:
            # the app demands a proof, or that of another secret: no owner of an account can mend that
            raise Refused(name, f"{message} (code {code})", reason="app_refused", status=status, code=str(code))
        # whatever it calls a fault of its own
        if passes or status >= 500:
            raise Transient(name, f"{message} (code {code})", status=status)
        if status == 429:
            return
        reason = _refusal(code, subcode, message)
        number = f"{code}/{subcode}" if subcode else str(code)
        raise Refused(name, f"{message} (code {code})", reason=reason, status=status, code=number)


def regain_seconds(answer: Answer) -> float | None:
    """The longest wait the usage headers state, in seconds; None when they state none."""
    return max(map(_stated_wait, _usages(answer)), default=0.0) or None


def _stated_wait(usage: Mapping[str, Any]) -> float:
    """Seconds that one usage asks for: Meta counts minutes, but for an ad account, whose seconds it always tells."""
    is_used_up = _number(usage, "acc_id_util_pct") >= FULL
    reset = _number(usage, "reset_time_duration") if is_used_up else 0.0
    return max(_number(usage, "estimated_time_to_regain_access") * 60, reset)


def _odd_refusal(code: int, message: str) -> bool:
    return code == 100 and "Cannot include" in message and "in summary param" in message


def _refusal(code: int, subcode: int, message: str) -> str:
    if code == 10 or 200 <= code < 300:
        return "permission_missing"
    if code == TERMS_NOT_ACCEPTED:
        return "terms_not_accepted"
    if subcode in BUDGETS_TOO_LOW:
        return "budget_too_low"
    if subcode == TEMPLATE_EXISTS:
        return "template_exists"
    if code == NOBODY_PAYS:
        return "payment_required"
    if code == 100 and "nonexisting field" in message:
        # an id of another kind of object: the field asked for tells the kinds apart
        return "another_kind"
    if code in (100, 803):
        return "not_found" if code == 803 or subcode == 33 else "bad_parameter"
    return "policy_block" if code == 368 else "refused"


def _usages(answer: Answer) -> list[Mapping[str, Any]]:
    cases = answer.header_json("x-business-use-case-usage")
    found = [answer.header_json(name) for name in ("x-app-usage", "x-ad-account-usage", "x-fb-ads-insights-throttle")]
    lists = cases.values() if isinstance(cases, dict) else []
    found += [usage for usages in lists if isinstance(usages, list) for usage in usages]
    return [usage for usage in found if isinstance(usage, dict)]


def _number(row: Mapping[str, Any], name: str) -> float:
    try:
        value = float(row.get(name) or 0)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return value if isfinite(value) else 0.0
