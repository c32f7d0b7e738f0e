"""The ledger of truth: what every served figure must be, computed from the true journeys alone.

Nothing here is shared with the pipeline: people are the true people, weights are exact fractions, and each rule
is written a second time from the published rules of attribution. Tests compare the marts with it to the cent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date

from sandbox.exchange import Exchange
from sandbox.ledger_cases import Case, Entities, Settings, cases_of
from sandbox.ledger_weights import MODELS, split, weights
from sandbox.world import World

LEVELS = ("campaign", "ad_set", "ad")
REASONS = ("paid_without_ad", "unknown_ad", "parent_only", "other_channel", "direct", "no_touch")


@dataclass(slots=True)
class Credit:
    """Whole outcomes by type, and money in minor units of the reporting currency."""

    counts: dict[str, int] = field(default_factory=dict)
    cash_minor: int = 0
    pipeline_minor: int = 0

    def count(self, type: str) -> None:
        self.counts[type] = self.counts.get(type, 0) + 1

    def pay(self, cash: int, pipeline: int) -> None:
        self.cash_minor += cash
        self.pipeline_minor += pipeline


@dataclass(slots=True)
class Delivered:
    """What an entity delivered; money in minor units of the reporting currency, claims as the platform makes them."""

    spend_minor: int = 0
    impressions: int = 0
    clicks: int = 0
    link_clicks: int = 0
    claimed_purchases: int = 0
    claimed_value_minor: int = 0


@dataclass(frozen=True, slots=True)
class _Share:
    """One case's part of one destination: the entity per level (or the reason where it names none), and money."""

    entities: dict[str, str]
    reason: str
    cash: int
    pipeline: int


class Ledger:
    """The truth for one profile; `levels` are campaign, ad_set and ad, ids are the platform's."""

    def __init__(
        self,
        world: World,
        profile_id: str,
        *,
        time_zone: str = "America/New_York",
        currency: str = "USD",
        lookback_days: int = 90,
        half_life_days: int = 7,
    ) -> None:
        self.world = world
        self.settings = Settings(profile_id, time_zone, currency, lookback_days * 86_400, half_life_days * 86_400)
        self._exchange = Exchange(world.rates)
        self._entities = Entities(world, profile_id)
        self._cases = cases_of(world, self.settings, self._exchange)
        self._shares = {model: [self._split(model, case) for case in self._cases] for model in MODELS}

    def credit(self, model: str, level: str, date_from: date, date_to: date) -> dict[str, Credit]:
        """Credit per entity over the closed range of local days; a case counts once for each entity it credits."""
        credited: dict[str, Credit] = {}
        for case, shares in self._within(model, date_from, date_to):
            for entity in {share.entities[level] for share in shares if level in share.entities}:
                credited.setdefault(entity, Credit()).count(case.type)
            for share in shares:
                if level in share.entities:
                    credited[share.entities[level]].pay(share.cash, share.pipeline)
        return credited

    def unattributed(self, model: str, level: str, date_from: date, date_to: date) -> dict[str, Credit]:
        """What fell on no entity of the level, by reason; counts are cases with no credit on any entity of it."""
        left: dict[str, Credit] = {}
        for case, shares in self._within(model, date_from, date_to):
            outside = [share for share in shares if level not in share.entities]
            reasons = {_reason(share) for share in outside}
            if len(outside) == len(shares):
                left.setdefault(min(reasons, key=REASONS.index), Credit()).count(case.type)
            for share in outside:
                left.setdefault(_reason(share), Credit()).pay(share.cash, share.pipeline)
        return left

    def totals(self, date_from: date, date_to: date) -> Credit:
        """Every outcome of the profile, attributed or not, and net cash."""
        total = Credit()
        for case in self._cases:
            if date_from <= case.day <= date_to:
                total.count(case.type)
                total.pay(case.cash_minor, case.pipeline_minor)
        return total

    def outcomes(self) -> dict[date, Credit]:
        """The profile's totals of each local day that has any."""
        days: dict[date, Credit] = {}
        for case in self._cases:
            day = days.setdefault(case.day, Credit())
            day.count(case.type)
            day.pay(case.cash_minor, case.pipeline_minor)
        return days

    def spend(self, level: str, date_from: date, date_to: date) -> dict[str, Delivered]:
        """Delivery per entity as the platform shows it at the world's `as_of`, converted and rounded per ad-day."""
        entities: dict[str, Delivered] = {}
        for day_rows in self.spend_by_day(level, date_from, date_to).items():
            (entity, _), row = day_rows
            total = entities.setdefault(entity, Delivered())
            for name in Delivered.__slots__:
                setattr(total, name, getattr(total, name) + getattr(row, name))
        return entities

    def spend_by_day(self, level: str, date_from: date, date_to: date) -> dict[tuple[str, date], Delivered]:
        """The same per (entity, account's day)."""
        rows: dict[tuple[str, date], Delivered] = {}
        for seen in self.world.delivery_seen(None, date_from, date_to):
            row = rows.setdefault((getattr(seen, f"{level}_id"), seen.day), Delivered())
            row.spend_minor += self._reporting(seen.spend_minor, seen.currency, seen.day)
            row.claimed_value_minor += self._reporting(seen.claimed_value_minor, seen.currency, seen.day)
            row.impressions += seen.impressions
            row.clicks += seen.clicks
            row.link_clicks += seen.link_clicks
            row.claimed_purchases += seen.claimed_purchases
        return rows

    def _reporting(self, minor: int, currency: str, day: date) -> int:
        return self._exchange.convert(minor, currency, self.settings.currency, day) or 0

    def _within(self, model: str, date_from: date, date_to: date) -> Iterator[tuple[Case, list[_Share]]]:
        for case, shares in zip(self._cases, self._shares[model], strict=True):
            if date_from <= case.day <= date_to:
                yield case, shares

    def _split(self, model: str, case: Case) -> list[_Share]:
        if not case.path:
            return [_Share({}, "no_touch", case.cash_minor, case.pipeline_minor)]
        by_destination = self._entities.by_destination(
            case.path, weights(model, case.path, case.path_at, self.settings.half_life)
        )
        names = list(by_destination)
        parts = [by_destination[name] for name in names]
        cash = split(case.cash_minor, parts, names, case.id)
        pipeline = split(case.pipeline_minor, parts, names, case.id)
        return [
            _Share(*self._entities.meaning(name), cash[index], pipeline[index]) for index, name in enumerate(names)
        ]  # fmt: skip


def _reason(share: _Share) -> str:
    return "parent_only" if share.entities else share.reason
