"""dbt's messages and lines are what they are without us."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import pytest
from dbt.adapters.events import types as of_adapters
from dbt.events import types
from dbt_common.events import base_types, logger
from dbt_common.events.base_types import EventLevel, msg_from_base_event
from dbt_common.events.event_manager import EventManager
from dbt_common.events.types import Formatting, PrintEvent
from google.protobuf.json_format import ParseDict, ParseError  # type: ignore[import-untyped]

from orchestration import dbt_events
from orchestration.dbt_events import filled, tell_at_once

NODE = {
    "node_path": "marts/touches.sql",
    "node_name": "touches",
    "unique_id": "model.touchledger.touches",
    "resource_type": "model",
    "materialized": "table",
    "node_status": "started",
    "node_started_at": "2026-11-25T13:00:00.000001",
    "node_finished_at": "",
    "meta": {"grain": ["profile_key", "touch"], "rows": 3, "is_kept": True, "none": None, "of": {"deep": 1.5}},
    "node_relation": {"database": "warehouse", "schema": "marts", "alias": "touches", "relation_name": "touches"},
    "node_checksum": "00",
}
RESULT = {
    "status": "success",
    "message": "OK",
    "timing_info": [
        {"name": "execute", "started_at": "2026-11-25T13:00:00.000001Z", "completed_at": "2026-11-25T13:00:01Z"}
    ],
    "thread": "Thread-1",
    "execution_time": 1.25,
    "num_failures": 0,
}
MESSAGES = [
    (of_adapters.SQLQuery, {"conn_name": "model.touches", "sql": "select 'ö'", "node_info": NODE}),
    (of_adapters.SQLQueryStatus, {"status": "OK", "elapsed": 0.125, "node_info": NODE}),
    (of_adapters.SQLQueryStatus, {"status": "OK", "elapsed": 2}),
    (types.NodeFinished, {"node_info": NODE, "run_result": RESULT}),
    (types.NodeStart, {"node_info": {}}),
    (types.LogModelResult, {"description": "touches", "status": "OK", "index": 1, "total": 2, "execution_time": None}),
    (types.CommandCompleted, {"command": "build", "completed_at": "2026-11-25T13:00:00Z", "elapsed": 1}),
]  # fmt: skip


def _empty(event: type[Any]) -> Any:
    return getattr(event.PROTO_TYPES_MODULE, event.__name__)()


@pytest.mark.parametrize(("event", "values"), MESSAGES)
def test_a_message_is_the_one_that_the_reader_of_json_makes(event: type[Any], values: dict[str, Any]) -> None:
    read = ParseDict(values, _empty(event))
    assert filled(values, _empty(event)) == read
    assert filled(values, _empty(event)).SerializeToString(deterministic=True) == read.SerializeToString(
        deterministic=True
    )


def test_an_instant_given_as_text_is_that_instant() -> None:
    info: dict[str, Any] = {"name": "Note", "ts": "2026-11-25T13:00:00.123456Z", "pid": 7, "extra": {"run": "1"}}
    values = {"info": info}
    empty = types.CommandCompleted.PROTO_TYPES_MODULE.CommandCompletedMsg
    assert filled(values, empty()) == ParseDict(values, empty())
    assert filled(values, empty()).info.ts.nanos == 123456000
    for text in ("2026-11-25T13:00:00Z", "2026-11-25T13:00:00.5+01:00", "1969-12-31T23:59:59.999999Z"):
        values["info"] = {"ts": text}  # in forms that dbt does not use, and before the first second
        assert filled(values, empty()) == ParseDict(values, empty())


@pytest.mark.parametrize("values", [{"no_such_field": 1}, {"sql": 1}, {"node_info": "text"}])
def test_what_fits_no_message_is_refused_in_the_readers_words(values: dict[str, Any]) -> None:
    with pytest.raises(ParseError) as words:
        ParseDict(values, _empty(of_adapters.SQLQuery))
    with pytest.raises(ParseError, match=re.escape(str(words.value))):
        filled(values, _empty(of_adapters.SQLQuery))


@pytest.fixture
def untold(monkeypatch: pytest.MonkeyPatch) -> None:
    """dbt as it was before `tell_at_once`, again after the test."""
    for owner, name in ((base_types, "ParseDict"), (logger._Logger, "write_line")):
        monkeypatch.setattr(owner, name, getattr(owner, name))


class Composing(logger._JsonLogger):
    """A console's log that knows of which events it made a line."""

    def __init__(self, stream: io.StringIO, level: EventLevel) -> None:
        super().__init__(logger.LoggerConfig(name="of_test", level=level, output_stream=stream))
        self.composed: list[str] = []

    def create_line(self, msg: Any) -> str:
        self.composed.append(msg.info.name)
        return super().create_line(msg)


def _lines(level: EventLevel) -> tuple[list[str], list[str]]:
    """What is written and what is composed."""
    stream, manager = io.StringIO(), EventManager()
    console = Composing(stream, level)
    manager.loggers.append(console)
    manager.fire_event(of_adapters.SQLQuery(conn_name="model.touches", sql="select 1"))
    manager.fire_event(Formatting("in short"), level=EventLevel.INFO)
    manager.fire_event(Formatting("badly"), level=EventLevel.WARN)
    manager.fire_event(PrintEvent(msg="printed"))
    return [json.loads(line)["info"]["msg"] for line in stream.getvalue().splitlines()], console.composed


@pytest.mark.usefixtures("untold")
@pytest.mark.parametrize(("level", "dropped"), [("debug", 0), ("info", 1), ("warn", 2), ("error", 3)])
def test_only_lines_that_are_written_are_composed(level: str, dropped: int) -> None:
    before, composed = _lines(EventLevel(level))
    assert (len(before), len(composed)) == (4 - dropped, 4)
    tell_at_once()
    assert _lines(EventLevel(level)) == (before, composed[dropped:])


@pytest.mark.usefixtures("untold")
def test_a_query_is_told_without_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"conn_name": "model.touches", "sql": "select 1", "node_info": NODE}
    read = ParseDict(values, _empty(of_adapters.SQLQuery))
    tell_at_once()
    monkeypatch.delattr(dbt_events, "ParseDict")
    told = msg_from_base_event(of_adapters.SQLQuery(**values))
    assert (told.data, told.info.name, told.info.level) == (read, "SQLQuery", "debug")
