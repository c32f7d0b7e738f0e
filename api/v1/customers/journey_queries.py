"""SQL behind the customer's journey: whose alias it is, and what that person did."""

from __future__ import annotations

from typing import Any

from api.served import ProfileFacts, Reader
from api.v1.conversions.queries import CONVERSION, DESTINATIONS, TOUCH

NEWEST = 100

_OF_IDENTIFIER = "select person_key from person_identifiers where profile_key = $profile_key and identifier_id = $name"
_OF_ALIAS = "select person_key from person_identifiers where profile_key = $profile_key and alias_ref = $name"

_TOUCHES = f"""
select {TOUCH}
from touches
{DESTINATIONS}
where touches.profile_key = $profile_key and touches.person_key = $person_key and touches.position > $after
order by touches.position
limit $most
"""  # noqa: S608 - only names of the served tables are set in; values are bound

_CONVERSIONS = f"""
select {CONVERSION}, count(*) over () as conversions_total
from conversions
where profile_key = $profile_key and person_key = $person_key
order by ts desc, conversion_id, conversion_key
limit {NEWEST}
"""  # noqa: S608 - as above


def person_of_identifier(reader: Reader, profile: ProfileFacts, identifier_id: str) -> int | None:
    """The person who has this identifier, or None."""
    return _only(reader.rows(_OF_IDENTIFIER, {"profile_key": profile.profile_key, "name": identifier_id}))


def person_of_alias(reader: Reader, profile: ProfileFacts, alias_ref: str) -> int | None:
    """The person who has, or ever had, this id: after a merge the one who holds the identifier it was made of."""
    return _only(reader.rows(_OF_ALIAS, {"profile_key": profile.profile_key, "name": alias_ref}))


def _only(found: list[tuple[Any, ...]]) -> int | None:
    return int(found[0][0]) if found else None


def touches(reader: Reader, profile: ProfileFacts, person_key: int, *, after: int, most: int) -> list[dict[str, Any]]:
    """Up to `most` touches of a person behind position `after`, in order of time."""
    bound = {"profile_key": profile.profile_key, "person_key": person_key, "after": after, "most": most}
    return reader.dicts(_TOUCHES, bound)


def conversions(reader: Reader, profile: ProfileFacts, person_key: int) -> tuple[list[dict[str, Any]], int]:
    """The newest conversions of a person, newest first, and how many there are in all."""
    found = reader.dicts(_CONVERSIONS, {"profile_key": profile.profile_key, "person_key": person_key})
    return found, int(found[0]["conversions_total"]) if found else 0
