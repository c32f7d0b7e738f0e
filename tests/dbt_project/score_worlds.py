"""Random worlds of ads for the scores: profiles with delivery, splits, studies of nobody, and sales some days late."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from random import Random
from typing import Any

from orchestration.app_sets import land_calendar
from tests.dbt_project.project import DEFAULTS, Project

DAYS = 40
END = date(2026, 4, 30)
OBJECTIVES = ("sales", "leads", "messaging", "traffic", "awareness", None)


@dataclass
class Ad:
    """One ad and the sums that decide what it is compared with; `quality` multiplies all its rates."""

    id: str
    platform: str
    campaign: str
    ad_set: str
    objective: str
    format: str
    warmth: str | None
    quality: float
    days: dict[date, dict[str, Any]] = field(default_factory=dict)
    splits: list[tuple[date, str, str, int]] = field(default_factory=list)
    reach: dict[tuple[date, date], int] = field(default_factory=dict)


@dataclass(frozen=True)
class Sale:
    """One conversion, credited to `ad` by a click `seconds` before it, or to nobody; `is_priced` = has a known rate."""

    key: str
    ad: str | None
    day: date
    seconds: int
    kind: str
    cents: int
    is_priced: bool


@dataclass(frozen=True)
class World:
    """One profile of one workspace; its days are UTC and its money is US dollars."""

    id: str
    workspace: str
    ads: tuple[Ad, ...]
    sales: tuple[Sale, ...]
    times: int = 1


@cache
def worlds() -> tuple[World, ...]:
    """Many sales; the same with all money threefold; few sales beside many; few sales alone."""
    many = draw("scores-many", "w-1", seed=1, sales=160)
    return (
        many,
        World("scores-threefold", "w-2", many.ads, many.sales, times=3),
        draw("scores-few", "w-1", seed=2, sales=30),
        draw("scores-alone", "w-3", seed=3, sales=20),
    )


def draw(profile: str, workspace: str, *, seed: int, sales: int) -> World:
    """A world of a seed, with `sales` conversions of ads and some more of nobody."""
    random = Random(seed)
    ads = tuple(_ad(random, index) for index in range(48))
    for ad in ads:
        _deliver(random, ad, whole=seed == 1)
    return World(profile, workspace, ads, tuple(_sale(random, ads, index) for index in range(sales)))


def _ad(random: Random, index: int) -> Ad:
    campaign = index % 6
    return Ad(
        id=f"a{index}",
        platform="google" if campaign == 0 and index % 12 == 0 else "meta",
        campaign=f"c{campaign}" + ("g" if campaign == 0 and index % 12 == 0 else ""),
        ad_set=f"s{index}",
        objective=OBJECTIVES[campaign] or "unknown",
        format=random.choice(("video", "video", "image")),
        warmth=random.choice(("cold", "cold", "warm", None)),
        quality=random.lognormvariate(0, 0.4),
    )


def _deliver(random: Random, ad: Ad, *, whole: bool) -> None:
    first = random.randrange(DAYS)
    last = DAYS if ad.id in ("a0", "a1") else random.randrange(first, DAYS) + 1
    for number in range(first, last):
        day = END - timedelta(days=DAYS - 1 - number)
        ad.days[day] = _figures(random, ad)
        for dimension, values in (("geo", ("us", "mx")), ("placement", ("feed", "reels"))):
            if random.random() < 0.8:
                ad.splits.append((day, dimension, random.choice(values + values[:1] * 3), ad.days[day]["impressions"]))
        if ad.warmth is None and random.random() < 0.5:
            ad.splits.append((day, "audience", random.choice(("hot", "warm")), ad.days[day]["impressions"]))
    if whole or ad.id != "a4":
        for length in (7, 28):
            ad.reach[(END - timedelta(days=length - 1), END)] = random.randrange(1, 5_000)


def _figures(random: Random, ad: Ad) -> dict[str, Any]:
    spend = random.choice((0, random.randrange(1, 5_000), random.randrange(1, 5_000)))
    shown = random.choice((1, random.randrange(1, 3_000), random.randrange(1, 3_000)))
    clicks = _part(random, shown, 0.02 * ad.quality)
    chats = _part(random, spend, 0.002 * ad.quality) if ad.objective == "messaging" else None
    views = _part(random, shown, 0.3) if ad.format == "video" else None
    return {
        "spend": spend,
        "impressions": shown,
        "clicks": clicks + random.randrange(3),
        "link_clicks": None if ad.platform == "google" else clicks,
        "video_3s_views": views,
        "video_15s_views": None if views is None else _part(random, views, 0.4),
        "reactions": random.choice((None, _part(random, shown, 0.01))),
        "comments": random.choice((None, random.randrange(2))),
        "shares": random.randrange(2),
        "saves": None,
        "messaging_conversations_started_7d": chats,
        "messaging_first_replies": None if chats is None else _part(random, chats, 0.6),
        "platform_conversions": random.choice((None, "0.5", "1", "2")) if ad.objective != "traffic" else None,
    }


def _part(random: Random, of: int, rate: float) -> int:
    # millions of draws, of which each name that is looked up counts
    draw, below = random.random, min(rate, 1)
    return sum([draw() < below for _ in range(of)])


def _sale(random: Random, ads: tuple[Ad, ...], index: int) -> Sale:
    sellers = [ad for ad in ads if ad.objective in ("sales", "leads", "messaging")]
    ad = random.choices(sellers, weights=[ad.quality for ad in sellers])[0]
    clicked = random.choice(sorted(ad.days))
    seconds = int(random.expovariate(1 / 200_000))
    return Sale(
        key=f"sale{index}",
        ad=ad.id if random.random() < 0.9 else None,
        day=clicked + timedelta(days=seconds // 86_400),
        seconds=seconds,
        kind=random.choice(("payment_received", "payment_received", "lead_created", "dm_started")),
        cents=random.choice((0, random.randrange(500, 20_000), 250_000)),
        is_priced=index % 7 != 3,
    )


def land(project: Project) -> None:
    """Land every world."""
    land_calendar(project.lake, "UTC")
    for world in worlds():
        settings = {**DEFAULTS, "profile_id": world.id, "workspace_id": world.workspace, "time_zone": "UTC"}
        project.land("profiles", [settings], profile_id=None, batch=world.id)
        for dataset, records in _records(world).items():
            project.land(dataset, records, profile_id=world.id, batch="scores")


def _records(world: World) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {
        name: []
        for name in ("campaigns", "ad_sets", "ads", "creatives", "ad_delivery", "ad_delivery_breakdowns",
                     "entity_reach", "touches", "conversions")
    }  # fmt: skip
    for ad in world.ads:
        _land_ad(world, ad, found)
    for sale in world.sales:
        _land_sale(world, sale, found)
    return found


def _land_ad(world: World, ad: Ad, found: dict[str, list[dict[str, Any]]]) -> None:
    ids = {"platform": ad.platform, "ad_id": ad.id}
    own = {"platform": ad.platform, "campaign_id": ad.campaign, "status": "ACTIVE", "name": ad.id}
    # the platform's own word stands in for the group in one campaign
    goal = {"objective": "Outcome_Leads"} if ad.objective == "leads" else {"objective": "APP_INSTALLS"}
    if ad.objective not in ("leads", "unknown"):
        goal["objective_group"] = ad.objective
    found["campaigns"].append({**own, **goal, "ad_account_id": ad.platform})
    found["ad_sets"].append({**own, "ad_set_id": ad.ad_set, "audience_warmth": ad.warmth})
    found["ads"].append({**own, "ad_set_id": ad.ad_set, "ad_id": ad.id, "creative_id": ad.id})
    found["creatives"].append({"platform": ad.platform, "creative_id": ad.id, "format": ad.format})
    parents = {"ad_account_id": ad.platform, "ad_set_id": ad.ad_set, "campaign_id": ad.campaign, "currency": "USD"}
    for day, figures in ad.days.items():
        row = {**ids, **parents, "date": day.isoformat(), **figures, "spend": _amount(figures["spend"], world)}
        found["ad_delivery"].append(row)
    for day, dimension, value, shown in ad.splits:
        split = {"dimension": dimension, "value": value, "impressions": shown, "spend": "0"}
        found["ad_delivery_breakdowns"].append({**ids, "date": day.isoformat(), **split})
    for (first, last), reach in ad.reach.items():
        dates = {"date_from": first.isoformat(), "date_to": last.isoformat()}
        found["entity_reach"].append(
            {"platform": ad.platform, "level": "ad", "entity_id": ad.id, **dates, "reach": reach}
        )


def _land_sale(world: World, sale: Sale, found: dict[str, list[dict[str, Any]]]) -> None:
    at = datetime.combine(sale.day, time(12), tzinfo=UTC)
    platform = {ad.id: ad.platform for ad in world.ads}
    named: Mapping[str, Any] = {"ad_id": sale.ad, "ad_platform": platform[sale.ad]} if sale.ad else {"is_direct": True}
    touch = {"touch_key": sale.key, "occurred_at": (at - timedelta(seconds=sale.seconds)).isoformat()}
    found["touches"].append({**touch, "channel": "web", "origin": "web", "person_key": sale.key, **named})
    row = {"conversion_key": sale.key, "occurred_at": at.isoformat(), "person_key": sale.key}
    money = {}
    if sale.kind == "payment_received":
        currency = "USD" if sale.is_priced else "XAF"
        money = {"value": _amount(sale.cents, world), "currency": currency, "payment_ref": f"shop:{sale.key}"}
    found["conversions"].append({**row, "conversion_type": sale.kind, **money})


def _amount(cents: int, world: World) -> str:
    return f"{cents * world.times / 100:.2f}"
