"""Who is to be erased: what the models found of the person, and how that is kept until it is taken out everywhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from api.erased import Person
from api.models import Erasure
from api.warehouse_ids import identifier_id


@dataclass
class Found:
    """A person to be erased as the models resolve everything landed: identifiers by kind, and by id.

    `rows` of the lake tell of the person, by data set; none are known before they were looked for.
    """

    person: Person
    values: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    rows: dict[str, int] | None = None

    def add(self, kind: str, value: str) -> None:
        """Take the identifier for the person's, and rename it wherever it stands."""
        self.person.ids |= {identifier_id(self.person.profile_id, kind, value)}
        self.values[kind].append(value)
        self.person.learn(kind, value)
        self.person.move(kind, value)

    def kept(self) -> dict[str, Any]:
        """All that is known of the person, as `Erasure.found` keeps it."""
        return {
            "values": dict(self.values),
            "own": sorted(self.person.own),
            "links": {column: sorted(known) for column, known in self.person.links.items()},
            "payments": sorted(self.person.payments),
            "rows": self.rows,
        }


def of(erasure: Erasure, told: Iterable[tuple[str, str, bool]]) -> Found:
    """The person of these (kind, value, whether others share it)."""
    found = Found(Person(erasure.profile_id, bytes.fromhex(erasure.secret or ""), frozenset()))
    for kind, value, is_shared in told:
        found.add(kind, value)
        if not is_shared:
            found.person.own |= {identifier_id(erasure.profile_id, kind, value)}
    return found


def again(erasure: Erasure, kept: Mapping[str, Any]) -> Found:
    """The person of an erasure that was broken off: what is renamed already tells nobody any more who that was."""
    found = of(erasure, [(kind, value, True) for kind, known in kept["values"].items() for value in known])
    person = found.person
    person.own, person.payments = frozenset(kept["own"]), set(kept["payments"])
    for column, known in kept["links"].items():
        person.links[column] = set(known)
        for value in known:
            person.learn(column, value)
    found.rows = kept["rows"]
    return found
