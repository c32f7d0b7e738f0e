"""The usual refusals of every operation, found by asking it as it was asked before with one thing wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.recording.recorder import PLACES, Asked, Recorder
from tests.recording.who import Who

UNKNOWN = "01900000-0000-7000-8000-00000000ffff"
MOST = 2
# what says no more than every other operation of its kind does
PLAIN = {"internal_error", "rate_limit_exceeded"}


def refuse_the_rest(recorder: Recorder, who: Who) -> None:
    """Give each operation that was asked up to two refusals; those that a scene kept come first."""
    for name, asked in sorted(recorder.asked.items()):
        for wrong in _wrongs(recorder, name, asked, who):
            if len(recorder.kept[name].get("refusals", [])) >= MOST:
                break
            answer = recorder.send(name, wrong)
            if 400 <= answer.status_code < 500 and answer.get_json()["error"]["code"] not in PLAIN:
                recorder.keep_refusal(name, answer)


def _wrongs(recorder: Recorder, name: str, asked: Asked, who: Who) -> Iterator[Asked]:
    _, _, operation = recorder.operations[name]
    if isinstance(asked.body, dict) and asked.body:
        schema = recorder.schema(operation["requestBody"]["content"]["application/json"]["schema"])
        yield from (replace(asked, body=body) for body in _wrong_bodies(recorder, schema, asked.body))
    if "date_from" in asked.query and "date_to" in asked.query:
        turned = {"date_from": asked.query["date_to"], "date_to": asked.query["date_from"]}
        yield replace(asked, query={**asked.query, **turned})
    for parameter in operation["parameters"]:
        if parameter["in"] == "query" and parameter["name"] not in ("profile_id", "cursor"):
            for value in _wrong(parameter["schema"], asked.query.get(parameter["name"])):
                yield replace(asked, query={**asked.query, parameter["name"]: value})
    parts = [one["name"] for one in operation["parameters"] if one["in"] == "path"]
    if parts:
        known = {**PLACES, **asked.at}[parts[-1]]
        yield replace(asked, at={**asked.at, parts[-1]: UNKNOWN if len(known) == len(UNKNOWN) else f"{known}0"})
    if asked.by is not None:
        yield replace(asked, by=who.narrow, headers={})
        yield replace(asked, by=who.viewer)
        yield replace(asked, by=None)


def _wrong_bodies(recorder: Recorder, schema: dict[str, Any], body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    required = [name for name in schema.get("required", []) if name in body]
    for name in body:
        member = recorder.schema(schema.get("properties", {}).get(name, {}))
        for value in _wrong(member, body[name]):
            yield {**body, name: value}
    for name in required:
        yield {key: value for key, value in body.items() if key != name}
    first = next(iter(body))
    yield {**body, f"{first}s": body[first]}


def _wrong(schema: dict[str, Any], value: Any) -> Iterator[Any]:
    """Values beside those that the schema allows, as people get them wrong."""
    items = schema.get("items", {})
    if isinstance(value, list) and value and isinstance(value[0], str) and "enum" in items:
        yield [*value[:-1], value[-1][:-1]]
    if "enum" in schema:
        known = [one for one in schema["enum"] if isinstance(one, str)]
        yield from ([known[0][:-1]] if known else [])
    if "maximum" in schema:
        yield schema["maximum"] + 1
    if schema.get("format") in ("uuid", "email", "date", "date-time") and isinstance(value, str):
        yield value[:-2]
    if isinstance(value, str) and "@" in value:
        yield value.replace("@", " at ")
    if isinstance(value, bool):
        yield "yes"
    if isinstance(value, str) and "pattern" in schema:
        yield f"{value} !"
