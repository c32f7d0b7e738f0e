"""What dbt tells of its nodes and queries, made into messages and lines by the shortest way.

A small build tells some 3,600 things. protobuf's reader of JSON, which is written in Python, made two messages of each,
and each became a line of JSON before the console's log, which has nothing below `info`, dropped it: a quarter of what
dbt's own code took.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from google.protobuf.json_format import ParseDict  # type: ignore[import-untyped]
from google.protobuf.timestamp_pb2 import Timestamp  # type: ignore[import-untyped]


def tell_at_once() -> None:
    """Let this process's dbt make its messages by their constructors, and only the lines that are written."""
    from dbt_common.events import base_types, logger

    write, levels = logger._Logger.write_line, logger._log_level_map

    def write_line(self: Any, message: Any) -> None:
        level = levels[base_types.EventLevel(message.info.level)]
        if self._python_logger is None or self._python_logger.isEnabledFor(level) or logger._is_print_event(message):
            write(self, message)

    base_types.ParseDict = filled  # type: ignore[attr-defined]
    logger._Logger.write_line = write_line  # type: ignore[assignment, method-assign]


def filled(values: dict[str, Any], message: Any) -> Any:
    """The empty message with these values, by its constructor; read as JSON where that takes one of them otherwise."""
    given = values
    if "ts" in values.get("info", ()):
        # every event has one, as a text
        instant = _instant(values["info"]["ts"])
        given = {**values, "info": {**values["info"], "ts": instant}}
    try:
        return type(message)(**given)
    except (AttributeError, TypeError, ValueError):
        return ParseDict(values, message)


def _instant(text: str) -> Timestamp:
    # as dbt writes it; protobuf goes through all the forms that a text may have, which takes ten times as long
    instant = Timestamp()
    if len(text) == len("2026-11-25T13:00:00.123456Z"):
        instant.FromDatetime(datetime.fromisoformat(text))
    else:
        instant.FromJsonString(text)
    return instant
