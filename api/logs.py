"""Logs: one JSON line each, and one place where secrets, e-mails and phone numbers are taken out."""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TextIO

import structlog
from flask import Response, g, request

from api import context
from api.credentials import PATTERN
from connectors.redaction import HIDDEN, redact

# query values that name a person, and those with which a provider sends somebody back: who has them can take the place
UNTOLD = frozenset({"email", "phone", "customer_key", "search", "code", "auth_code", "state"})
SENSITIVE = re.compile(r"(?i)authorization|password|secret|token|cookie")
# what could begin an address is taken whole, and looked at once: 8,000 letters without an address took half a second
EMAIL = re.compile(r"([\w.+-]++)((?:@|%40)[\w-]+(?:\.[\w-]+)+)?")
# nothing that is taken out looks so: ids, paths, methods and choices, which most values of a log are
HARMLESS = re.compile(
    r"req_[0-9a-f]{32}|[a-z0-9-]*(?:/[a-z0-9-]+)*|[A-Z]{1,8}"
    r"|(?!(?:sk|rk|whsec|shp[a-z]{2})_)[a-z]{1,10}(?:_[a-z]{1,10}){1,2}"
)
PHONE = re.compile(r"(?:\+|%2B)[1-9]\d{7,14}\b")

ACCESS = logging.getLogger("api.access")


class Line(logging.LogRecord):
    """The line of one request: its message is the event, redacted and in order, with which nothing is left to do."""

    def __init__(self, event: Mapping[str, Any]) -> None:
        super().__init__(ACCESS.name, logging.INFO, __file__, 0, event, None, None)


class Formatter(structlog.stdlib.ProcessorFormatter):
    """Writes the line of a request as the processors would, which take ten times as long."""

    _written = json.JSONEncoder().encode

    def format(self, record: logging.LogRecord) -> str:
        return self._written(record.msg) if isinstance(record, Line) else super().format(record)


def configure(level: str = "INFO", stream: TextIO | None = None) -> None:
    """Send our logs and those of libraries, redacted, to `stream` (standard error unless given)."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.format_exc_info,
        take_out_secrets,
        # what we add ourselves holds no secret
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    last: list[Any] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.JSONRenderer(),
    ]
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(Formatter(foreign_pre_chain=shared, processors=last))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    # a handler that fails would print the record's arguments, which nobody has redacted
    logging.raiseExceptions = False


def guard_console() -> None:
    """Redact what our loggers print in a process in which nobody calls `configure`, as those of Dagster are."""
    if structlog.is_configured():
        return
    # without this the printer shows a failure by itself, with the values of its variables
    told: list[Any] = [structlog.processors.format_exc_info, take_out_secrets]
    *shared, printed = structlog.get_config()["processors"]
    structlog.configure(processors=[*shared, *told, printed])


def take_out_secrets(_logger: Any, _method: str, event: Any) -> Any:
    """The structlog processor: every text of the event, and every value under a sensitive name."""
    return {name: HIDDEN if _is_sensitive(str(name)) else clean(value) for name, value in event.items()}


def clean(value: Any) -> Any:
    """The same value without credentials, e-mail addresses and phone numbers."""
    if isinstance(value, str):
        if HARMLESS.fullmatch(value):
            return value
        text = PATTERN.sub(lambda found: f"{found.group(1)}_{HIDDEN}", value)
        text = redact(text)
        if "@" in text or "%40" in text:
            text = EMAIL.sub(_without_address, text)
        return PHONE.sub(HIDDEN, text)
    if isinstance(value, Mapping):
        return take_out_secrets(None, "", value)
    if isinstance(value, (list, tuple)):
        return [clean(item) for item in value]
    return value


def _without_address(found: re.Match[str]) -> str:
    return HIDDEN if found[2] else found[1]


@lru_cache(maxsize=512)
def _is_sensitive(name: str) -> bool:
    return SENSITIVE.search(name) is not None


def _path() -> str:
    # who has a token of an address has what it opens
    opened = request.url_rule if "token" in (request.view_args or {}) else None
    return opened.rule if opened else request.path


def start_clock() -> None:
    """Before each request."""
    g.started = time.perf_counter()


def access(response: Response) -> Response:
    """After each request: one line with what was asked, by whom, and how it ended."""
    if not ACCESS.isEnabledFor(logging.INFO):
        return response
    principal, ended = g.get("principal"), time.perf_counter()
    profile = principal.reach.profile if principal else None
    query = {name: HIDDEN if name in UNTOLD else values for name, values in request.args.lists()}
    # what callers do not write themselves holds no secret
    event = {
        "request_id": context.request_id(),
        "method": clean(request.method),
        "path": clean(_path()),
        "query": take_out_secrets(None, "", query),
        "status": response.status_code,
        "milliseconds": round((ended - g.get("started", ended)) * 1000, 1),
        "key_id": principal.id if principal else None,
        "profile_id": profile.id if profile else None,
        "event": "request",
        "level": "info",
        "logger": ACCESS.name,
        "timestamp": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
    }
    ACCESS.handle(Line(event))
    return response
