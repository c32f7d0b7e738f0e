"""The cases the ledger judges: every outcome with its money and its true path."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from zoneinfo import ZoneInfo

from sandbox.clock import local_date
from sandbox.exchange import Exchange
from sandbox.people import Touch
from sandbox.true_touches import true_touches
from sandbox.world import World

PATH_LIMIT = 500
PAID_ORDERS = ("paid", "partially_paid", "partially_refunded", "refunded")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a profile's figures are computed under; lookback and half-life in seconds."""

    profile_id: str
    time_zone: str
    currency: str
    lookback: int
    half_life: int


@dataclass(frozen=True, slots=True)
class Case:
    """One outcome: its public id, local day, money, and the path that is credited, seen from `path_at`."""

    id: str
    type: str
    day: date
    cash_minor: int
    pipeline_minor: int
    path: tuple[Touch, ...]
    path_at: int


def public_id(profile_id: str, kind: str, natural_key: str) -> str:
    """The UUIDv8 that the interface gives an object of the warehouse: MD5 with version and variant set."""
    digest = hashlib.md5(f"{profile_id}:{kind}:{natural_key}".encode(), usedforsecurity=False).hexdigest()
    variant = f"{int(digest[16], 16) & 3 | 8:x}"
    text = f"{digest[:12]}8{digest[13:16]}{variant}{digest[17:]}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


class _Paths:
    def __init__(self, touches: Iterable[Touch], lookback: int) -> None:
        self._lookback = lookback
        self._touches: dict[int, list[Touch]] = {}
        for touch in sorted(touches, key=lambda row: (row.at, row.key)):
            self._touches.setdefault(touch.person, []).append(touch)

    def before(self, person: int | None, at: int) -> tuple[Touch, ...]:
        """The person's touches in the closed window that ends at second `at`."""
        if person is None:
            return ()
        mine = self._touches.get(person, [])
        low = bisect_left(mine, at - self._lookback, key=lambda row: row.at)
        high = bisect_right(mine, at, key=lambda row: row.at)
        return tuple(mine[max(low, high - PATH_LIMIT) : high])


def cases_of(world: World, settings: Settings, exchange: Exchange) -> list[Case]:
    """Every outcome of the world: those without cash, payments at the processor, orders paid elsewhere."""
    zone = ZoneInfo(settings.time_zone)
    paths = _Paths(true_touches(world.touches, world.orders), settings.lookback)

    def money(minor: int | None, currency: str | None, day: date) -> int:
        if minor is None or currency is None:
            return 0
        return exchange.convert(minor, currency, settings.currency, day) or 0

    cases = []
    for row in world.outcomes:
        day, key = local_date(row.at, zone), public_id(settings.profile_id, "conversion", row.key)
        worth = money(row.value_minor, row.currency, day)
        cases.append(Case(key, row.type, day, 0, worth, paths.before(row.person, row.at), row.at))
    first_at = {row.subscription_id: row.at for row in world.payments if row.billing_reason == "create"}
    for payment in world.payments:
        if payment.status != "captured":
            continue
        day = local_date(payment.at, zone)
        key = public_id(settings.profile_id, "conversion", f"stripe:{payment.intent_id}")
        path_at = first_at[payment.subscription_id] if payment.billing_reason == "cycle" else payment.at
        cash = money(payment.net_minor, payment.currency, day)
        path = paths.before(payment.person, path_at)
        cases.append(Case(key, "payment_received", day, cash, 0, path, path_at))
    for order in world.orders:
        if order.intent_id is None and order.financial_status in PAID_ORDERS:
            day = local_date(order.created_at, zone)
            key = public_id(settings.profile_id, "conversion", f"store:{order.id}")
            cash = money(order.total_minor - order.refunded_minor, order.currency, day)
            path = paths.before(order.person, order.created_at)
            cases.append(Case(key, "payment_received", day, cash, 0, path, order.created_at))
    return cases


class Entities:
    """Where credit lands: the finest entity that a touch names and the accounts have, else a reason."""

    def __init__(self, world: World, profile_id: str) -> None:
        self._profile_id = profile_id
        self._parents: dict[tuple[str, str], dict[str, str]] = {}
        self._meanings: dict[str, tuple[dict[str, str], str]] = {}
        for campaign in world.campaigns:
            self._parents["campaign", campaign.id] = {"campaign": campaign.id}
        for ad_set in world.ad_sets:
            self._parents["ad_set", ad_set.id] = {"campaign": ad_set.campaign_id, "ad_set": ad_set.id}
        for ad in world.ads:
            self._parents["ad", ad.id] = {"campaign": ad.campaign_id, "ad_set": ad.ad_set_id, "ad": ad.id}

    def by_destination(self, path: Sequence[Touch], shares: Sequence[Fraction]) -> dict[str, Fraction]:
        """The path's weights summed per destination (public id), without those of weight zero."""
        summed: dict[str, Fraction] = {}
        for touch, share in zip(path, shares, strict=True):
            if share:
                name = self._destination(touch)
                summed[name] = summed.get(name, Fraction(0)) + share
        return summed

    def meaning(self, destination: str) -> tuple[dict[str, str], str]:
        """The entity a destination stands for at each level it has one, and the reason where it has none."""
        return self._meanings[destination]

    def _destination(self, touch: Touch) -> str:
        for level in ("ad", "ad_set", "campaign"):
            named = getattr(touch, f"{level}_id")
            if named is None:
                continue
            parents = self._parents.get((level, named)) if touch.ad_platform == "meta" else None
            if parents is None:
                return self._without_entity(f"unknown_ad:{touch.ad_platform or ''}")
            name = public_id(self._profile_id, level, f"{touch.ad_platform}:{named}")
            self._meanings[name] = (parents, "")
            return name
        if touch.is_paid:
            return self._without_entity(f"paid_without_ad:{touch.ad_platform or ''}")
        return self._without_entity("direct:" if touch.is_direct else "other_channel:")

    def _without_entity(self, key: str) -> str:
        name = public_id(self._profile_id, "destination", key)
        self._meanings[name] = ({}, key.partition(":")[0])
        return name
