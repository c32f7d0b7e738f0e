"""How the Google Ads API says no and says slow down: its error codes, in REST's envelope and in a stream's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from connectors.errors import ConnectorError, CursorExpired, Malformed, Refused, Revoked, Throttled, Transient
from connectors.transport import Answer

PROVIDER = "google"
# what a used-up day asks for where the answer does not say
DAY_SPENT, SHORTLY_SPENT = 86_400.0, 900.0
_DAILY = {"RESOURCE_EXHAUSTED", "EXCESSIVE_LONG_TERM_QUERY_RESOURCE_CONSUMPTION"}
_SHORT = {"RESOURCE_TEMPORARILY_EXHAUSTED"}
_HEAVY = {"EXCESSIVE_SHORT_TERM_QUERY_RESOURCE_CONSUMPTION"}
_CURSOR = {"INVALID_PAGE_TOKEN", "EXPIRED_PAGE_TOKEN"}
_TRANSIENT = {"INTERNAL_ERROR", "TRANSIENT_ERROR", "DEADLINE_EXCEEDED", "CONCURRENT_MODIFICATION", "DATABASE_ERROR"}
_TRANSIENT_STATUSES = {"INTERNAL", "UNAVAILABLE", "DEADLINE_EXCEEDED", "ABORTED", "UNKNOWN", "CANCELLED"}
_TOO_LOW = {
    "MONEY_AMOUNT_LESS_THAN_CURRENCY_MINIMUM_CPC", "BUDGET_BELOW_DAILY_MINIMUM", "BUDGET_AMOUNT_TOO_SMALL",
    "BUDGET_BELOW_PER_DAY_MINIMUM",
}  # fmt: skip
# Google bills some currencies in larger units than their smallest
_BETWEEN_STEPS = "NON_MULTIPLE_OF_MINIMUM_CURRENCY_UNIT"
# the deployment's developer token, or the project it is used from; some are called authentication errors
_APP_REFUSED = ("DEVELOPER_TOKEN", "ORGANIZATION_NOT", "PROJECT_DISABLED", "CLOUD_PROJECT_NOT", "MISSING_TOS")
# the same of the project, in words of what stands before all of Google's APIs: the API is not switched on there
_PROJECT_REFUSED = {"SERVICE_DISABLED", "BILLING_DISABLED", "CONSUMER_SUSPENDED", "CONSUMER_INVALID"}
_REASONS = {"NOT_FOUND": "not_found", "PERMISSION_DENIED": "permission_missing", "INVALID_ARGUMENT": "bad_parameter"}


class Stale(ConnectorError):
    """The hour of an access token is over; what keeps the connection is the refresh token, which may be well."""

    reason = "access_token_expired"


class GoogleDialect:
    """Judges answers of the Google Ads API by the codes within them; a stream may fail in its middle, with HTTP 200."""

    provider = PROVIDER

    def judge(self, answer: Answer) -> None:
        if not answer.is_json:
            return
        parts = answer.body if isinstance(answer.body, list) else [answer.body]
        if not all(isinstance(part, dict) for part in parts):
            raise Malformed(PROVIDER, "the answer is not an object", status=answer.status)
        for part in parts:
            error = part.get("error")
            if isinstance(error, dict):
                _judge(error, answer.status)
            elif error is not None:
                _judge_grant(str(error), answer.status)

    def pause_after(self, answer: Answer) -> float:
        """None: Google reports no budget ahead of its end."""
        return 0.0


def _judge(error: Mapping[str, Any], http: int) -> None:
    kind, code, wait = _detail(error)
    status, name = str(error.get("status", "")), f"{code or error.get('status')}"
    message = f"{str(error.get('message', ''))[:300]} ({name})"
    # what stands before all of Google's APIs refuses an access token without a code of Google Ads
    if code == "OAUTH_TOKEN_EXPIRED" or (status == "UNAUTHENTICATED" and not code):
        raise Stale(PROVIDER, message, status=http)
    if kind == "authenticationError" and not code.startswith(_APP_REFUSED):
        raise Revoked(PROVIDER, message, status=http)
    if code in {*_DAILY, *_SHORT, *_HEAVY} or status == "RESOURCE_EXHAUSTED":
        raise Throttled(PROVIDER, message, wait=_wait(code, wait), status=http)
    if code in _CURSOR:
        raise CursorExpired(PROVIDER, message, status=http)
    if code in _TRANSIENT or status in _TRANSIENT_STATUSES:
        raise Transient(PROVIDER, message, status=http)
    if http == 429:
        return
    reason = "app_refused" if _PROJECT_REFUSED & _infos(error) else _refusal(kind, code, status)
    raise Refused(PROVIDER, message, reason=reason, status=http, code=code or None)


def _judge_grant(error: str, http: int) -> None:
    """What the token endpoint says no with."""
    if error == "invalid_grant":
        raise Revoked(PROVIDER, "the refresh token is not good any more", status=http)
    if http < 500 and http != 429:
        # the deployment's own app is at fault, not the account
        raise Refused(PROVIDER, f"no access token: {error[:80]}", reason="app_refused", status=http)


def _detail(error: Mapping[str, Any]) -> tuple[str, str, float | None]:
    """Kind, code and stated wait of the first of Google's own errors within; "" and None where there is none."""
    details = error.get("details")
    for detail in details if isinstance(details, list) else []:
        found = detail.get("errors") if isinstance(detail, dict) else None
        for one in found if isinstance(found, list) else []:
            codes = one.get("errorCode") if isinstance(one, dict) else None
            if isinstance(codes, dict) and codes:
                kind, code = next(iter(codes.items()))
                return str(kind), str(code), _stated(one.get("details"))
    return "", "", None


def _infos(error: Mapping[str, Any]) -> set[str]:
    """The reasons that are told beside Google's own errors."""
    details = error.get("details")
    return {str(one.get("reason")) for one in (details if isinstance(details, list) else []) if isinstance(one, dict)}


def _stated(details: object) -> float | None:
    quota = details.get("quotaErrorDetails") if isinstance(details, dict) else None
    text = str(quota.get("retryDelay", "")) if isinstance(quota, dict) else ""
    number = text.removesuffix("s").partition(".")[0]
    return float(number) if number.isascii() and number.isdigit() and len(number) < 8 else None


def _wait(code: str, stated: float | None) -> float | None:
    if stated is not None:
        return stated
    if code in _DAILY:
        return DAY_SPENT
    return SHORTLY_SPENT if code in _HEAVY else None


def _refusal(kind: str, code: str, status: str) -> str:
    if code.startswith(_APP_REFUSED):
        return "app_refused"
    if kind == "authorizationError":
        return "permission_missing"
    if code in _TOO_LOW:
        return "budget_too_low"
    if code == _BETWEEN_STEPS:
        return "budget_between_steps"
    if kind.startswith("policy"):
        return "policy_block"
    return _REASONS.get(status, "refused")
