"""What an event calls its person, as a record of the set personal_names: it names nobody by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DATASET = "personal_names"
NAMES = ("first_name", "last_name")
# by which of them the person is known, that is who the name is of
KINDS = ("external_id", "email", "phone", "anonymous_id")

Record = dict[str, Any]


def personal_names(
    *, key: str, at: str, origin: str, who: Mapping[str, Any], names: Mapping[str, str | None]
) -> list[Record]:
    """The record of an event, `at` in ISO 8601 and `origin` server or browser.

    None where it tells no name, or nothing by which `who`, which may hold other columns too, is known.
    """
    said = {name: told for name in NAMES if (told := names.get(name))}
    whose = {kind: who[kind] for kind in KINDS if who.get(kind)}
    return [{"name_key": key, "told_at": at, "event_origin": origin, **whose, **said}] if said and whose else []
