"""Keeping credentials out of messages and logs."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable

HIDDEN = "[redacted]"
_PARAMETER = re.compile(
    r"(?i)\b(access_token|refresh_token|fb_exchange_token|developer-token|appsecret_proof|(?:client_)?secret|api_key)"
    r"(\"?\s*[=:]\s*\"?)[^&\s\"',}]+"
)
_BEARER = re.compile(r"(?i)\b(bearer|oauth)\s+[^\s\"',}]+")
_SHAPED = re.compile(
    r"\b(?:sk|rk|whsec)_[A-Za-z0-9_]{8,}|\bshp[a-z]{2}_[A-Za-z0-9]{8,}|\bEAA[A-Za-z0-9]{16,}"
    r"|\bya29\.[\w.-]{8,}|\b1//[\w-]{16,}"
)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` without the given secrets, credential parameters, bearer tokens and strings shaped like vendors' keys."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, HIDDEN)
    text = _PARAMETER.sub(rf"\1\2{HIDDEN}", text)
    text = _BEARER.sub(rf"\1 {HIDDEN}", text)
    return _SHAPED.sub(HIDDEN, text)


class RedactingFilter(logging.Filter):
    """Rewrites a log record so that no credential reaches a handler."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = redact(record.getMessage()), ()
        return True


def guard_client_logs() -> None:
    """Redact what the HTTP client itself logs: it writes whole addresses, and Meta's proof travels in them."""
    for name in ("httpx", "httpcore", "httpcore.connection", "httpcore.http11"):
        logger = logging.getLogger(name)
        if not any(isinstance(one, RedactingFilter) for one in logger.filters):
            logger.addFilter(RedactingFilter())
