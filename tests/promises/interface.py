"""What version 1 has promised its clients, a line for each thing, and what of it a change would take back.

`python -m tests.promises.interface` adds to `v1.txt` what is new. It writes nothing and names what is in the way where
something that a client may send or read would go; `--all` writes that too.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from api import errors
from tests.factories.deployments import application, settings_of

RECORD = Path(__file__).parent / "v1.txt"
ADVICE = """\
These take back what version 1 has promised (+ is newly asked of a client, - is gone for it):
  {}
Leave it as it was, or say in CHANGELOG.md what a client must change and write it down by
`python -m tests.promises.interface --all`."""
METHODS = ("get", "post", "put", "patch", "delete")
CEILINGS = ("maxLength", "maxItems", "maxProperties", "maximum", "exclusiveMaximum")
FLOORS = ("minLength", "minItems", "minProperties", "minimum", "exclusiveMinimum")
BOUNDS = (*CEILINGS, *FLOORS, "pattern", "format")
SENT, SCOPE = "must be sent", "needs the scope"
ASKS = {SENT, SCOPE, *BOUNDS}
ANSWERS, OR = "answers", " or "


class Line(NamedTuple):
    """One promise: of an operation, a schema or a member (`of`), what (`says`) and how much or which (`value`)."""

    of: str
    says: str
    value: str


def lines_of(document: dict[str, Any]) -> set[Line]:
    """All promises of an OpenAPI document, and the status of each error code."""
    lines = {Line(code, "is", str(error.status)) for code, error in errors.CATALOGUE.items()}
    sent, answered = set[str](), set[str]()
    for path, operations in document["paths"].items():
        for method in METHODS:
            if method in operations:
                lines.update(_operation(f"{method.upper()} {path}", operations[method], sent, answered))
    schemas = document["components"]["schemas"]
    for begun, told in ((sent, _sent), (answered, _read)):
        known, waiting = set(begun), sorted(begun)
        while waiting:
            inner = set[str]()
            name = waiting.pop()
            lines.update(told(name, schemas[name], inner))
            waiting += inner - known
            known |= inner
    return lines


def broken(kept: set[Line], now: set[Line]) -> list[str]:
    """What a client of `kept` may no longer rely on under `now` (-), and what is asked of it that was not (+)."""
    known, before = {one.of for one in kept}, {one[:2]: one.value for one in kept}
    after = {one[:2]: one.value for one in now}
    gone = {one for one in kept - now if one.says not in ASKS and not _eased(one, after.get(one[:2]))}
    more = {one for one in now - kept if one.says in ASKS and one.of in known and not _eased(one, before.get(one[:2]))}
    return sorted([f"- {' '.join(one)}" for one in gone] + [f"+ {' '.join(one)}" for one in more])


def _eased(one: Line, other: str | None) -> bool:
    """Whether what the line says is no worse for a client beside `other`, what it said or says else."""
    if other is None or one.says not in {*CEILINGS, *FLOORS, ANSWERS}:
        return False
    if one.says == ANSWERS:
        return set(other.split(OR)) <= set(one.value.split(OR))
    return float(one.value) >= float(other) if one.says in CEILINGS else float(one.value) <= float(other)


def _operation(name: str, told: dict[str, Any], sent: set[str], answered: set[str]) -> Iterator[Line]:
    yield Line(name, "is", "there")
    for one in told["security"]:
        yield Line(name, "opens to", " ".join(sorted(one)) or "anybody")
    if told.get("x-scope"):
        yield Line(name, SCOPE, told["x-scope"])
    for one in told.get("parameters", ()):
        if "$ref" not in one:
            yield from _sent(f"{name} {one['in']} {one['name']}", one["schema"], sent)
            if one["in"] == "query" and one["required"]:
                yield Line(name, SENT, one["name"])
    body = told.get("requestBody", {})
    if body.get("required"):
        yield Line(name, SENT, "body")
    for media, content in body.get("content", {}).items():
        yield from _sent(f"{name} {media}", content.get("schema", {}), sent)
    for status, response in told["responses"].items():
        if status < "4":
            yield Line(name, f"{ANSWERS} with", status)
            for media, content in response.get("content", {}).items():
                yield from _read(f"{name} {status} {media}", content.get("schema", {}), answered)


def _kinds(told: dict[str, Any]) -> set[str]:
    """The types there, a schema by its name."""
    if "$ref" in told:
        return {told["$ref"].rpartition("/")[2]}
    kinds = told.get("type", () if "anyOf" in told else "any")
    return {kinds} if isinstance(kinds, str) else set(kinds)


def _inside(name: str, told: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Each member, an item and a value of a map, by its name, and whether it is always there."""
    for member, inner in told.get("properties", {}).items():
        yield f"{name}.{member}", inner, member in told.get("required", ())
    if "items" in told:
        yield f"{name}[]", told["items"], True
    if isinstance(told.get("additionalProperties"), dict):
        yield f"{name}{{}}", told["additionalProperties"], True


def _sent(name: str, told: dict[str, Any], inner: set[str]) -> Iterator[Line]:
    """What may be sent there, and what has to be."""
    inner.update(_kinds(told) if "$ref" in told else ())
    takes = [*sorted(_kinds(told)), *map(repr, told.get("enum", ()))]
    yield from (Line(name, "takes", one) for one in takes)
    yield from (Line(name, bound, str(told[bound])) for bound in BOUNDS if bound in told)
    if "default" in told:
        yield Line(name, "is by default", repr(told["default"]))
    yield from (Line(name, SENT, member) for member in told.get("required", ()))
    for one in told.get("anyOf", ()):
        yield from _sent(name, one, inner)
    for at, value, _ in _inside(name, told):
        yield from _sent(at, value, inner)


def _read(name: str, told: dict[str, Any], inner: set[str], *, is_sure: bool = True) -> Iterator[Line]:
    """What is read there. A further value of a choice may come as a further member may, so none is promised."""
    ways = [told, *told.get("anyOf", ())]
    kinds = set().union(*map(_kinds, ways))
    yield Line(name, ANSWERS, OR.join(sorted(kinds if is_sure else {*kinds, "nothing"})))
    for one in ways:
        inner.update(_kinds(one) if "$ref" in one else ())
        for at, value, is_there in _inside(name, one):
            yield from _read(at, value, inner, is_sure=is_there)


def of_today() -> set[Line]:
    """The promises of the code as it is."""
    with tempfile.TemporaryDirectory() as folder:
        return lines_of(application(settings_of(Path(folder))).test_client().get("/openapi.json").get_json())


def kept() -> set[Line]:
    """Those that are written down."""
    return {Line(*line.split("\t")) for line in RECORD.read_text().splitlines()}


def main() -> None:
    """Write down what is new, or say what cannot be."""
    now = of_today()
    found = broken(kept(), now) if RECORD.exists() and sys.argv[1:] != ["--all"] else []
    if found:
        sys.exit(ADVICE.format("\n  ".join(found)))
    RECORD.write_text("".join(f"{line}\n" for line in sorted("\t".join(one) for one in now)))


if __name__ == "__main__":
    main()
