"""What any ad platform must offer, whatever its wire protocol looks like."""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Literal, NamedTuple, Protocol

from connectors.errors import Malformed

Row = dict[str, Any]
Window = tuple[date, date]
Level = Literal["campaign", "ad_set", "ad"]
BudgetType = Literal["daily", "lifetime"]
FINAL = frozenset({"ARCHIVED", "DELETED"})


@dataclass(frozen=True, slots=True)
class LiveState:
    """One campaign, ad set or ad as its platform shows it now.

    `status` is what somebody set it to, `effective_status` what comes of it and of its parents; `campaign_statuses`
    are both of the campaign above it. None where the platform told none. Budgets are minor units (ISO 4217) of the
    account's `currency`, and move in whole `budget_step_minor`.
    """

    level: Level
    platform_id: str
    account_id: str
    name: str
    status: str | None
    effective_status: str | None
    campaign_statuses: tuple[str | None, ...]
    currency: str
    daily_budget_minor: int | None
    lifetime_budget_minor: int | None
    budget_step_minor: int = 1

    @property
    def is_final(self) -> bool:
        """Whether it is archived or deleted, by itself."""
        return bool(FINAL & {self.status, self.effective_status})

    @property
    def is_in_final_campaign(self) -> bool:
        return bool(FINAL & set(self.campaign_statuses))

    def budget(self, kind: BudgetType) -> int | None:
        """Its own budget of a type, in minor units."""
        return self.daily_budget_minor if kind == "daily" else self.lifetime_budget_minor


@dataclass(frozen=True, slots=True)
class Access:
    """What opens one ad account. `reached_through` is the account above it that the token belongs to, if one is.

    `currency` is the account's where it is known.
    """

    base_url: str
    token: str = field(repr=False)
    account_id: str
    currency: str | None = None
    is_sandbox: bool = False
    reached_through: str | None = None


@dataclass(frozen=True, slots=True)
class LinkedAd:
    """Where an ad sends people: its landing URL, and the parameters that the platform appends.

    An asset group of Google's, which stands for an ad, has macros of its own.
    """

    ad_id: str
    name: str
    campaign_name: str
    landing_url: str | None
    url_tags: str | None
    is_asset_group: bool = False


class Studies(NamedTuple):
    """An account's studies: their experiments and experiment_arms rows, the ids of those unread, and what was odd."""

    rows: Mapping[str, list[Row]]
    unread: Sequence[str] = ()
    odd: Malformed | None = None


class AdPlatform(Protocol):
    """One ad account. Rows carry the columns of the inbound contracts; every method may raise a ConnectorError."""

    platform: str

    def entities(self) -> dict[str, list[Row]]:
        """The latest state of everything, by data set: ad_accounts, campaigns, ad_sets, ads, creatives."""

    def delivery(self, day_from: date, day_to: date) -> Iterator[tuple[date, list[Row]]]:
        """Every day of the closed range, in order, with its ad_delivery rows.

        A day is yielded only when all its rows are there; a day without delivery comes with an empty list.
        """

    def breakdowns(self, day_from: date, day_to: date) -> Iterator[Row]:
        """ad_delivery_breakdowns rows of the closed range, by week: delivery by place, placement and audience."""

    def studies(self, today: date) -> Studies:
        """What can be read of the account's studies; `today` is the day it is at the platform."""

    def reach(self, windows: Iterable[Window]) -> Iterator[Row]:
        """entity_reach rows: the platform's deduplicated reach of exactly each window, for every level."""


class LiveAdPlatform(Protocol):
    """One ad account asked and changed while somebody waits; every method may raise a ConnectorError.

    Changes are absolute, so that repeating one whose answer was lost does no harm. They name the level too: at some
    platforms an id alone does not tell of which it is.
    """

    platform: str

    def state(self, level: Level, platform_id: str) -> LiveState | None:
        """What is there now; None for an id that the token cannot see or that is of another level.

        The account it is in may be another one that the same token opens: compare `account_id`.
        """

    def pause(self, level: Level, platform_id: str) -> None:
        """Stop it; returns when the platform has confirmed."""

    def resume(self, level: Level, platform_id: str) -> None:
        """Let it run; returns when the platform has confirmed."""

    def set_budget(self, level: Level, platform_id: str, kind: BudgetType, amount_minor: int) -> None:
        """Give it a budget of a type it has.

        Raises Refused with the reason budget_too_low under the platform's minimum, budget_between_steps for an amount
        that is no multiple of what it counts the currency in.
        """

    def linked_ads(self) -> list[LinkedAd]:
        """Every ad of the account that is neither archived nor deleted, with where it leads."""


class SyncedAdPlatform(AdPlatform, LiveAdPlatform, Protocol):
    """One ad account, pulled by runs and asked while somebody waits."""


def reach_windows(day_from: date, day_to: date) -> list[Window]:
    """The windows whose reach is kept for a range: each day, the 7 and 28 days ending on it, and its months.

    A month that is not over ends on `day_to`.
    """
    days = [day for day, _ in days_of(day_from, day_to)]
    trailing = [(day - timedelta(days=length - 1), day) for length in (1, 7, 28) for day in days]
    months = {day.replace(day=1): min(last_of_month(day), day_to) for day in days}
    return sorted({*trailing, *months.items()})


def last_of_month(day: date) -> date:
    """The last day of the month that `day` is in."""
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])


def days_of(day_from: date, day_to: date) -> list[Window]:
    """Each day of the closed range, as a window of its own."""
    count = (day_to - day_from).days + 1
    return [(day, day) for day in (day_from + timedelta(days=offset) for offset in range(count))]


def chunks(day_from: date, day_to: date, length: int) -> Iterator[Window]:
    """The closed range in consecutive windows of at most `length` days."""
    start = day_from
    while start <= day_to:
        stop = min(day_to, start + timedelta(days=length - 1))
        yield start, stop
        start = stop + timedelta(days=1)


def halves(day_from: date, day_to: date) -> tuple[Window, Window]:
    """The closed range of at least two days in two windows, the first no shorter."""
    middle = day_from + (day_to - day_from) // 2
    return (day_from, middle), (middle + timedelta(days=1), day_to)
