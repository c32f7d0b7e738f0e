"""Conversions of the published snapshot as exports see them: what happened, what it is worth, who is found by what."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from api.served import ProfileFacts, Reader
from connectors.meta_conversions import Match

_SELECTED = """
select
    c.conversion_id, c.outcome_event_id, c.conversion_type, c.ts, c.source, c.is_cash,
    case when c.is_cash then c.cash_minor else c.pipeline_minor end as value_minor,
    m.email_sha256, m.phone_sha256, m.external_id_sha256, k.fbclid, k.clicked_s,
    coalesce(m.is_refused, false) as is_refused,
    case when c.is_cash then (
        select list(n.name order by n.name)
        from payment_names as n
        where n.profile_key = c.profile_key and n.payment_ref = c.conversion_ref
    ) end as other_names
from conversions as c
left join match_keys as m on m.profile_key = c.profile_key and m.person_key = c.person_key and not c.is_shared
left join conversion_clicks as k on k.profile_key = c.profile_key and k.conversion_key = c.conversion_key
where c.profile_key = $profile_key
"""
_SINCE = _SELECTED + " and c.ts >= $since and c.conversion_type = any($types) order by c.ts, c.conversion_id"
_NAMED = _SELECTED + " and c.conversion_id = any($ids)"
_IDENTIFIERS = """
select c.conversion_id, p.identifier_id
from conversions as c
inner join person_identifiers as p on p.profile_key = c.profile_key and p.person_key = c.person_key
where c.profile_key = $profile_key and c.conversion_id = any($ids)
"""


NOBODY = Match()


@dataclass(frozen=True, slots=True)
class Candidate:
    """One conversion that may be exported; `value` is in the reporting currency, None where it is not known.

    `other_names` are those under which its payment may have been a conversion before, as `conversion_ref`.
    """

    conversion_id: str
    event_id: str | None
    type: str
    occurred_at: datetime
    source: str = "server_event"
    is_cash: bool = False
    value: Decimal | None = None
    match: Match = NOBODY
    is_refused: bool = False
    other_names: tuple[str, ...] = ()
    is_test: bool = False
    is_retracted: bool = False
    is_duplicate: bool = False

    @property
    def is_chat(self) -> bool:
        return self.source == "chat" or self.type == "dm_started"


def since(reader: Reader, facts: ProfileFacts, at: datetime, types: Collection[str]) -> Iterator[Candidate]:
    """Conversions of these types from an instant on, oldest first."""
    bound = {"profile_key": facts.profile_key, "since": int(at.timestamp()), "types": list(types)}
    return (_candidate(row, facts) for row in reader.dicts(_SINCE, bound))


def named(reader: Reader, facts: ProfileFacts, ids: Collection[str]) -> dict[str, Candidate]:
    """By conversion id, those of these conversions that the snapshot holds."""
    rows = reader.dicts(_NAMED, {"profile_key": facts.profile_key, "ids": list(ids)})
    return {row["conversion_id"]: _candidate(row, facts) for row in rows}


def identifiers(reader: Reader, facts: ProfileFacts, ids: Collection[str]) -> Iterator[tuple[str, str]]:
    """(conversion id, identifier id) of everything that those who converted are known by."""
    rows = reader.rows(_IDENTIFIERS, {"profile_key": facts.profile_key, "ids": list(ids)})
    return ((conversion, identifier) for conversion, identifier in rows)


def _candidate(row: Mapping[str, Any], facts: ProfileFacts) -> Candidate:
    minor, clicked = row["value_minor"], row["clicked_s"]
    return Candidate(
        conversion_id=row["conversion_id"],
        event_id=row["outcome_event_id"],
        type=row["conversion_type"],
        occurred_at=datetime.fromtimestamp(row["ts"], UTC),
        source=row["source"],
        is_cash=row["is_cash"],
        value=None if minor is None else Decimal(minor).scaleb(-facts.digits),
        match=Match(
            row["email_sha256"],
            row["phone_sha256"],
            row["external_id_sha256"],
            row["fbclid"],
            None if clicked is None else datetime.fromtimestamp(clicked, UTC),
        ),
        is_refused=row["is_refused"],
        other_names=tuple(row["other_names"] or ()),
    )
