"""How each vendor words a refusal: dead token, used-up quota, forgotten cursor, numbered error."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flask import Response, request

TRACE = "AbCdEfGhIjKlMnOpQrStUvW"
RESTORE_RATE = 100.0


def meta_error(
    code: int, message: str, *, subcode: int | None = None, status: int = 400, transient: bool = False
) -> Response:
    """The Graph API's error envelope."""
    kind = "OAuthException" if code in (1, 2, 4, 10, 17, 100, 190) or 200 <= code < 300 else "FacebookApiException"
    error: dict[str, Any] = {"message": message, "type": kind, "code": code, "fbtrace_id": TRACE}
    if subcode is not None:
        error["error_subcode"] = subcode
    if transient:
        error["is_transient"] = True
    return answer({"error": error}, status)


def stripe_error(status: int, message: str, *, code: str | None = None, param: str | None = None) -> Response:
    """Stripe's error envelope."""
    error = {"type": "api_error" if status >= 500 else "invalid_request_error", "message": message}
    error.update({name: value for name, value in (("code", code), ("param", param)) if value})
    return answer({"error": error}, status, {"Request-Id": "req_sandbox"})


def shopify_error(message: str, code: str | None = None, *, extensions: Mapping[str, Any] | None = None) -> Response:
    """A GraphQL error: HTTP 200 and no data, as Shopify answers."""
    error: dict[str, Any] = {"message": message}
    if code:
        error["extensions"] = {"code": code, "documentation": "https://shopify.dev/api/usage/rate-limits"}
    body: dict[str, Any] = {"errors": [error]}
    if extensions:
        body["extensions"] = extensions
    return answer(body, 200)


def tiktok(data: Mapping[str, Any], code: int = 0, message: str = "OK") -> Response:
    """TikTok's envelope: HTTP 200 whatever the code."""
    return answer({"code": code, "message": message, "request_id": TRACE, "data": data})


def tiktok_error(code: int, message: str) -> Response:
    """A refusal in it."""
    return tiktok({}, code, message)


def google_error(code: str, message: str, *, status: int | None = None, details: Any = None) -> Response:
    """The Google Ads API's error envelope, in a list where a stream was asked for."""
    kind, word, usual = next(
        (told for codes, told in _GOOGLE_CODES.items() if code.startswith(codes)),
        ("queryError", "INVALID_ARGUMENT", 400),
    )
    failure = {"errorCode": {kind: code}, "message": message, **({"details": details} if details else {})}
    kind_of = "type.googleapis.com/google.ads.googleads.v26.errors.GoogleAdsFailure"
    told = {"@type": kind_of, "errors": [failure], "requestId": TRACE}
    if code in ("ACCESS_TOKEN_EXPIRED", "SERVICE_DISABLED"):
        # said by what stands before all of Google's APIs, which has no codes of Google Ads
        told = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": code, "domain": "googleapis.com"}
    error = {"error": {"code": status or usual, "message": message, "status": word, "details": [told]}}
    return answer([error] if request.path.endswith(":searchStream") else error, status or usual)


def answer(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON answer as vendors send it."""
    return Response(json.dumps(body), status, headers=dict(headers or {}), mimetype="application/json")


@dataclass(frozen=True)
class Wording:
    """One vendor's refusals: a token that died, a quota that is back after so many seconds, a cursor forgotten.

    `numbered` is any other by the vendor's own code: code, subcode, message and HTTP status.
    """

    revoked: Callable[[], Response]
    throttled: Callable[[float], Response]
    cursor_expired: Callable[[], Response]
    numbered: Callable[[str, int | None, str, int], Response]


def revoked(vendor: str) -> Response:
    """The token has died."""
    return WORDINGS[vendor].revoked()


def throttled(vendor: str, wait: float) -> Response:
    """The quota is used up and comes back after `wait` seconds."""
    return WORDINGS[vendor].throttled(wait)


def cursor_expired(vendor: str) -> Response:
    """The cursor is not known any more."""
    return WORDINGS[vendor].cursor_expired()


def numbered(vendor: str, code: str, subcode: int | None, message: str, status: int) -> Response:
    """Any other refusal by its vendor's own code."""
    return WORDINGS[vendor].numbered(code, subcode, message, status)


def _meta_throttled(wait: float) -> Response:
    refusal = meta_error(80000, "There have been too many calls from this ad-account.", subcode=2446079)
    usage = {"type": "ads_insights", "call_count": 100, "total_cputime": 25, "total_time": 25}
    # Meta counts in whole minutes
    usage["estimated_time_to_regain_access"] = math.ceil(wait / 60)
    refusal.headers["x-business-use-case-usage"] = json.dumps({"0": [usage]})
    return refusal


def _stripe_throttled(wait: float) -> Response:
    refusal = stripe_error(429, "Request rate limit exceeded.", code="rate_limit")
    refusal.headers["Retry-After"] = str(math.ceil(wait))
    return refusal


def _shopify_throttled(wait: float) -> Response:
    available = {"maximumAvailable": 2000.0, "currentlyAvailable": 0.0, "restoreRate": RESTORE_RATE}
    cost = {"requestedQueryCost": wait * RESTORE_RATE, "actualQueryCost": None, "throttleStatus": available}
    return shopify_error("Throttled", "THROTTLED", extensions={"cost": cost})


def _meta_numbered(code: str, subcode: int | None, message: str, status: int) -> Response:
    return meta_error(int(code), message, subcode=subcode, status=status, transient=code in ("1", "2"))


_META = Wording(
    lambda: meta_error(190, "Error validating access token: The session is no longer valid.", subcode=460),
    _meta_throttled,
    lambda: meta_error(2642, "(#2642) Invalid cursors values"),
    _meta_numbered,
)
_STRIPE = Wording(
    lambda: stripe_error(401, "Expired API Key provided: sk_test_****", code="api_key_expired"),
    _stripe_throttled,
    lambda: stripe_error(400, "No such object: 'gone'", code="resource_missing", param="starting_after"),
    lambda code, _, message, status: stripe_error(status, message, code=code),
)
_SHOPIFY = Wording(
    lambda: answer({"errors": "[API] Invalid API key or access token (unrecognized login or wrong password)"}, 401),
    _shopify_throttled,
    lambda: shopify_error("Invalid cursor for current pagination sort.", "INVALID_CURSOR"),
    lambda code, _, message, __: shopify_error(message, code),
)
_TIKTOK = Wording(
    lambda: tiktok_error(40105, "Access token is incorrect or has been revoked."),
    # TikTok does not say when it will listen again
    lambda _: tiktok_error(40100, "Too many requests. Please retry in some time."),
    lambda: tiktok_error(40002, "page: out of range"),
    # a plan without a code has Meta's for an unknown error
    lambda code, _, message, __: tiktok_error(50000 if code == "2" else int(code), message),
)


def _google_revoked() -> Response:
    if request.path.endswith("/token"):
        return answer({"error": "invalid_grant", "error_description": "Token has been expired or revoked."}, 400)
    return google_error("OAUTH_TOKEN_REVOKED", "The OAuth token was revoked.")


def _google_throttled(wait: float) -> Response:
    quota = {"rateScope": "DEVELOPER", "rateName": "sandbox", "retryDelay": f"{math.ceil(wait)}s"}
    message = f"Too many requests. Retry in {math.ceil(wait)} seconds."
    return google_error("RESOURCE_TEMPORARILY_EXHAUSTED", message, details={"quotaErrorDetails": quota})


# by what a code begins with: its kind, the status of the whole, and that of HTTP
_GOOGLE_CODES: Mapping[tuple[str, ...], tuple[str, str, int]] = {
    ("RESOURCE_EXHAUSTED", "RESOURCE_TEMPORARILY", "EXCESSIVE"): ("quotaError", "RESOURCE_EXHAUSTED", 429),
    # Google tells an unknown developer token from one that is known and may not do this
    ("OAUTH", "NOT_ADS_USER", "ACCESS_TOKEN", "DEVELOPER_TOKEN_INVALID", "ORGANIZATION_NOT"): (
        *("authenticationError", "UNAUTHENTICATED"), 401
    ),
    (
        *("USER_PERMISSION", "ACTION_NOT", "CUSTOMER_NOT_ENABLED", "DEVELOPER_TOKEN", "PROJECT_DISABLED", "SERVICE"),
        "CLOUD_PROJECT",
    ): ("authorizationError", "PERMISSION_DENIED", 403),
    ("INVALID_PAGE", "EXPIRED_PAGE"): ("requestError", "INVALID_ARGUMENT", 400),
    ("INTERNAL", "TRANSIENT"): ("internalError", "INTERNAL", 500),
    ("RESOURCE_NOT_FOUND",): ("mutateError", "INVALID_ARGUMENT", 400),
    ("NON_MULTIPLE", "MONEY_AMOUNT"): ("campaignBudgetError", "INVALID_ARGUMENT", 400),
}  # fmt: skip
_GOOGLE = Wording(
    _google_revoked,
    _google_throttled,
    lambda: google_error("EXPIRED_PAGE_TOKEN", "The page token in the request is expired."),
    # a plan without a code has Meta's for an unknown error
    lambda code, _, message, status: google_error(
        "INTERNAL_ERROR" if code == "2" else code, message, status=status if code == "2" else None
    ),
)
WORDINGS: Mapping[str, Wording] = {
    "meta": _META,
    "stripe": _STRIPE,
    "shopify": _SHOPIFY,
    "google": _GOOGLE,
    "tiktok": _TIKTOK,
}
