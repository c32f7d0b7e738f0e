"""Which of a person's identifiers no record joins, and the statements that join them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields

from sandbox.people import Known, Link

KINDS = tuple(field.name for field in fields(Known))
Identifier = tuple[str, str]


def identifiers(known: Known) -> list[Identifier]:
    """The (kind, value) pairs a record carries."""
    return [(kind, value) for kind in KINDS if (value := getattr(known, kind)) is not None]


def components(records: Iterable[Known]) -> list[set[Identifier]]:
    """Identifiers joined by standing on one record, directly or through others, in order of first sight."""
    found: list[set[Identifier]] = []
    for known in records:
        names = set(identifiers(known))
        if not names:
            continue
        touching = [part for part in found if part & names]
        merged = names.union(*touching)
        found = [part for part in found if part not in touching]
        found.append(merged)
    return found


def missing_links(person: int, records: Sequence[tuple[Known, int]]) -> list[Link]:
    """The statements needed so that the person's records (with their seconds) are one person's.

    Each names an identifier of the part that has the e-mail address (else of the largest part), and one of another
    part, at the second when that one was first seen.
    """
    parts = components(known for known, _ in records)
    if len(parts) < 2:
        return []
    hub = max(parts, key=lambda part: (any(kind == "email" for kind, _ in part), len(part), min(part)))
    first_seen: dict[Identifier, int] = {}
    for known, at in records:
        for name in identifiers(known):
            first_seen[name] = min(at, first_seen.get(name, at))
    joint = min(hub, key=lambda name: (name[0] != "email", name))
    return [
        Link(person, *name, *joint, first_seen[name]) for name in sorted(min(part) for part in parts if part is not hub)
    ]
