"""SQL behind the list of customers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from api.served import ProfileFacts, Reader
from api.windows import DateRange

_NEWEST = "select max(last_seen) from customers where profile_key = $profile_key"
_THERE = """and person_key in (
        select person_key from customer_days where profile_key = $profile_key and day between $day_from and $day_to
    )"""
_PAGE = """
select person_key, person_ref, first_seen, last_seen, conversions, cash_minor, touches, touch_channels,
    first_ad_external_id
from customers
where profile_key = $profile_key
    and last_seen >= $begin
    {there}
    and ($among is null or person_key = any($among))
    and ($after_seen is null or (-last_seen, person_ref) > (-$after_seen, $after_ref))
order by last_seen desc, person_ref
limit $most
"""


def page(
    reader: Reader,
    profile: ProfileFacts,
    window: DateRange,
    *,
    among: list[int] | None,
    most: int,
    after: Sequence[Any] | None,
) -> list[dict[str, Any]]:
    """Up to `most` people who were there in the window, last seen first; with `among` only those people.

    `after` is the `position` of the last row already given.
    """
    after_seen, after_ref = after or (None, "")
    begin, end = (int(instant.timestamp()) for instant in window.instants(profile.time_zone))
    ((newest,),) = reader.rows(_NEWEST, {"profile_key": profile.profile_key})
    # whoever was last seen in the window was there; days of those seen after it alone tell whether they were
    goes_on = newest is not None and newest >= end
    days = {"day_from": window.date_from, "day_to": window.date_to} if goes_on else {}
    return reader.dicts(
        _PAGE.format(there=_THERE if goes_on else ""),
        {
            "profile_key": profile.profile_key,
            "begin": begin,
            **days,
            "among": among,
            "after_seen": after_seen,
            "after_ref": after_ref,
            "most": most,
        },
    )


def position(row: dict[str, Any]) -> list[Any]:
    """Where the list goes on after this row."""
    return [row["last_seen"], row["person_ref"]]
