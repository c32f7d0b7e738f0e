"""The query language of Google Ads, as far as somebody here asks in it: SELECT, FROM, WHERE with AND."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_QUERY = re.compile(
    r"\s*SELECT\s+(?P<fields>[\w.,\s]+?)\s+FROM\s+(?P<resource>\w+)(?:\s+WHERE\s+(?P<where>.+?))?\s*", re.S
)
_TEXT = r"'[^']*'"
_CONDITION = re.compile(
    rf"\s*(?P<field>[\w.]+)\s*(?:(?P<sign>!=|=)\s*(?P<value>{_TEXT}|\w+)"
    rf"|\s+BETWEEN\s+(?P<low>{_TEXT})\s+AND\s+(?P<high>{_TEXT})|\s+IN\s*\((?P<list>[^)]*)\))\s*(?:AND\b|$)"
)


class BadQuery(ValueError):
    """A query that Google refuses, with the code of its own error."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Query:
    """One query: the fields it selects, the resource it is about, and each condition as field, kind and values."""

    fields: tuple[str, ...]
    resource: str
    conditions: tuple[tuple[str, str, tuple[str, ...]], ...]

    def asked(self, prefix: str) -> bool:
        """Whether a field that begins so is selected."""
        return any(name.startswith(prefix) for name in self.fields)

    def dates(self) -> tuple[str, str] | None:
        """The closed range of days that is asked for."""
        found = [values for name, kind, values in self.conditions if (name, kind) == ("segments.date", "BETWEEN")]
        return (found[0][0], found[0][1]) if found else None

    def admits(self, row: Mapping[str, Any]) -> bool:
        """Whether a row meets all conditions."""
        return all(_meets(str(looked_up(row, name)), kind, values) for name, kind, values in self.conditions)

    def picked(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The selected fields of a row; what it has not is absent."""
        told: dict[str, Any] = {}
        for name in self.fields:
            value = looked_up(row, name)
            if value is None:
                continue
            *above, last = path(name)
            node = told
            for part in above:
                node = node.setdefault(part, {})
            node[last] = value
        return told


def parsed(text: str) -> Query:
    """A query. Raises BadQuery."""
    found = _QUERY.fullmatch(text)
    if found is None:
        raise BadQuery("UNEXPECTED_INPUT", "Error in query: unexpected input.")
    fields = tuple(name.strip() for name in found["fields"].split(","))
    return Query(fields, found["resource"], tuple(_conditions(found["where"] or "")))


def path(name: str) -> list[str]:
    """`ad_group_ad.ad.final_urls` as REST spells the way to it: adGroupAd, ad, finalUrls."""
    return [re.sub(r"_(\w)", lambda letter: letter[1].upper(), part) for part in name.split(".")]


def looked_up(row: Mapping[str, Any], name: str) -> Any:
    """A field of a nested row; None where it has none."""
    node: Any = row
    for part in path(name):
        node = node.get(part) if isinstance(node, Mapping) else None
    return node


def _conditions(where: str) -> list[tuple[str, str, tuple[str, ...]]]:
    found: list[tuple[str, str, tuple[str, ...]]] = []
    at = 0
    while at < len(where):
        one = _CONDITION.match(where, at)
        if one is None:
            raise BadQuery("UNEXPECTED_INPUT", f"Error in WHERE clause near {where[at : at + 20]!r}.")
        at = one.end()
        if one["low"]:
            found.append((one["field"], "BETWEEN", (one["low"].strip("'"), one["high"].strip("'"))))
        elif one["list"] is not None:
            found.append((one["field"], "IN", tuple(part.strip(" '") for part in one["list"].split(","))))
        else:
            found.append((one["field"], one["sign"], (one["value"].strip("'"),)))
    return found


def _meets(value: str, kind: str, wanted: tuple[str, ...]) -> bool:
    if kind == "BETWEEN":
        return wanted[0] <= value <= wanted[1]
    told = [one.lower() for one in wanted]
    return (value.lower() in told) is (kind != "!=")
