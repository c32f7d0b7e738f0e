"""SQL behind the overview: spend, outcomes and what no campaign was credited with, of one profile and model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from api.served import ALL_OUTCOMES, PAYMENTS, REASONS, ProfileFacts, Reader
from api.windows import DateRange

# every campaign's spend counts once at campaign level, and what a campaign got is all there is less what none got
_BY_DAY = f"""
select day, 'spend' as part, spend_minor as minor, 0 as payments, 0 as outcomes
from delivery_daily
where profile_key = $profile_key and level = 'campaign' and day between $date_from and $date_to
union all
select day, 'all', cash_minor, {PAYMENTS}, {ALL_OUTCOMES}
from outcomes_daily
where profile_key = $profile_key and day between $date_from and $date_to
union all
select day, reason, cash_minor, {PAYMENTS}, {ALL_OUTCOMES}
from unattributed_daily
where profile_key = $profile_key and model = $model and level = 'campaign' and day between $date_from and $date_to
"""  # noqa: S608 - only names of `served.py` are set in; values are bound

_DAYS = f"select day, part, sum(minor), sum(payments), sum(outcomes) from ({_BY_DAY}) as days group by day, part"  # noqa: S608
_WINDOWS = f"""
select day >= $turn, part, sum(minor), sum(payments), sum(outcomes)
from ({_BY_DAY}) as days
group by all
"""  # noqa: S608 - as above


@dataclass(frozen=True)
class Amounts:
    """Cash or spend in minor units, payments, and conversions of every kind."""

    minor: int = 0
    payments: int = 0
    outcomes: int = 0

    def __add__(self, other: Amounts) -> Amounts:
        return Amounts(self.minor + other.minor, self.payments + other.payments, self.outcomes + other.outcomes)

    def __sub__(self, other: Amounts) -> Amounts:
        return Amounts(self.minor - other.minor, self.payments - other.payments, self.outcomes - other.outcomes)


@dataclass
class Sums:
    """What one window or day holds, by part: `spend`, `all`, and each reason without credit."""

    parts: dict[str, Amounts] = field(default_factory=dict)

    def of(self, *names: str) -> Amounts:
        """The sum of these parts; one without rows is zero."""
        total = Amounts()
        for name in names:
            total += self.parts.get(name, Amounts())
        return total

    @property
    def attributed(self) -> Amounts:
        """All less what no campaign was credited with."""
        return self.of("all") - self.of(*REASONS)


def two_windows(
    reader: Reader, profile: ProfileFacts, model: str, previous: DateRange, current: DateRange
) -> tuple[Sums, Sums]:
    """Sums of the window before and of the window, which follow on each other."""
    bound = {**_bound(profile, model, DateRange(previous.date_from, current.date_to)), "turn": current.date_from}
    found = _collected(reader.rows(_WINDOWS, bound))
    return found.get(False, Sums()), found.get(True, Sums())


def by_day(reader: Reader, profile: ProfileFacts, model: str, window: DateRange) -> Mapping[date, Sums]:
    """Sums of each day that has any."""
    return _collected(reader.rows(_DAYS, _bound(profile, model, window)))


def _bound(profile: ProfileFacts, model: str, window: DateRange) -> dict[str, object]:
    dates = {"date_from": window.date_from, "date_to": window.date_to}
    return {"profile_key": profile.profile_key, "model": model, **dates}


def _collected(rows: Iterable[tuple[Any, ...]]) -> dict[Any, Sums]:
    found: dict[Any, Sums] = {}
    for key, part, *amounts in rows:
        found.setdefault(key, Sums()).parts[str(part)] = Amounts(*map(int, amounts))
    return found
