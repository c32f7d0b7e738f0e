"""SQL behind pacing: one month of many profiles at once, with the figures of GET /campaigns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from api.served import ALL_OUTCOMES, PAYMENTS, Reader
from api.windows import DateRange

MODEL = "last_touch"
# the days whose mean is projected onto the days left
RECENT = 7


_FACTS = """
select profile_key, profile_id, time_zone, currency, currency_digits as digits, delivery_through, data_as_of
from profiles where profile_id = any($profile_ids)
"""

# a profile's month ends with its delivery: later spend is not complete, and cash is compared with what was spent.
# Without a full day of delivery no spend is complete, and cash is compared with nothing.
_SUMS = f"""
with asked as (
    select profile_key, least($date_to, coalesce(delivery_through, $date_to)) as until,
        case when delivery_through is not null then least($date_to, delivery_through) end as spent_until
    from profiles where profile_key = any($keys)
)
select profile_key, sum(spend) as spend_minor, sum(recent) as recent_minor, sum(cash) as cash_minor,
    sum(payments) as payments, sum(conversions) as conversions
from (
    select profile_key,
        case when day between $date_from and spent_until then spend_minor else 0 end as spend,
        case when day > spent_until - {RECENT} and day <= spent_until then spend_minor else 0 end as recent,
        0 as cash, 0 as payments, 0 as conversions
    from delivery_daily
    join asked using (profile_key)
    where level = 'campaign' and day between least($date_from, until - {RECENT}) and $date_to
    union all
    select profile_key, 0, 0, cash_minor, {PAYMENTS}, {ALL_OUTCOMES}
    from credit_daily
    join asked using (profile_key)
    where model = $model and level = 'campaign' and day between $date_from and until
) as days
group by profile_key
"""  # noqa: S608 - only names of `served.py` and a constant are set in; values are bound


@dataclass(frozen=True)
class Facts:
    """What the snapshot says of one profile."""

    profile_key: int
    profile_id: str
    time_zone: str
    currency: str
    digits: int
    delivery_through: date | None
    data_as_of: datetime | None


@dataclass(frozen=True)
class Sums:
    """Sums of the month in minor units; `recent_minor` is the spend of the last days of it with complete delivery."""

    spend_minor: int = 0
    recent_minor: int = 0
    cash_minor: int = 0
    payments: int = 0
    conversions: int = 0


def facts_of(reader: Reader, profile_ids: Sequence[str]) -> dict[str, Facts]:
    """By id, of the profiles that the snapshot knows."""
    return {row["profile_id"]: _facts(row) for row in reader.dicts(_FACTS, {"profile_ids": list(profile_ids)})}


def _facts(row: dict[str, Any]) -> Facts:
    # DuckDB's TIMESTAMP carries no zone; ours are UTC throughout
    as_of = row.pop("data_as_of")
    return Facts(**row, data_as_of=as_of and as_of.replace(tzinfo=UTC))


def sums_of(reader: Reader, facts: Sequence[Facts], month: DateRange) -> dict[int, Sums]:
    """By profile key; a profile without rows is absent. `month` may end before its last day."""
    bound: dict[str, Any] = {"date_from": month.date_from, "date_to": month.date_to, "model": MODEL}
    bound |= {"keys": [one.profile_key for one in facts]}
    return {row.pop("profile_key"): Sums(**row) for row in reader.dicts(_SUMS, bound)}
