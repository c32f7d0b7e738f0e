"""SQL behind the list of visitors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from api.served import ProfileFacts, Reader
from api.windows import DateRange

_PAGE = """
select visitor_id, person_key, person_ref, last_seen, sessions, pageviews, channel, source, country, device
from visitors
where profile_key = $profile_key
    and visitor_key in (
        select visitor_key from visitor_days where profile_key = $profile_key and day between $day_from and $day_to
    )
    and ($after_seen is null or (-last_seen, visitor_id) > (-$after_seen, $after_id))
order by last_seen desc, visitor_id
limit $most
"""


def page(
    reader: Reader, profile: ProfileFacts, window: DateRange, *, most: int, after: Sequence[Any] | None
) -> list[dict[str, Any]]:
    """Up to `most` browsers that sent anything in the window, last seen first.

    `after` is the `position` of the last row already given.
    """
    after_seen, after_id = after or (None, "")
    return reader.dicts(
        _PAGE,
        {
            "profile_key": profile.profile_key,
            "day_from": window.date_from,
            "day_to": window.date_to,
            "after_seen": after_seen,
            "after_id": after_id,
            "most": most,
        },
    )


def position(row: dict[str, Any]) -> list[Any]:
    """Where the list goes on after this row."""
    return [row["last_seen"], row["visitor_id"]]
