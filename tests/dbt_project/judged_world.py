"""A world whose ads are known: quality sells, charm is clicked, and who knows the shop does both whatever the ad."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from random import Random
from typing import Any

from tests.dbt_project.project import DEFAULTS, Project
from tests.factories.hostile import landed

PROFILE = "judged"
END = date(2026, 4, 30)
ADS, DAYS = 120, 28
# impressions for a currency unit, clicks and sales against the cold, by warmth
AUDIENCES = {"cold": (90.0, 0.9, 0.8), "warm": (75.0, 1.25, 1.1), "hot": (56.0, 1.7, 1.6)}


@dataclass(frozen=True)
class KnownAd:
    """One ad; `spend` is a day's, in currency units. Quality and charm are what no platform reports."""

    id: str
    warmth: str
    format: str
    spend: float
    quality: float
    charm: float


def ads(seed: int = 11) -> list[KnownAd]:
    """Small and large budgets, in every audience and two formats."""
    random = Random(seed)
    return [
        KnownAd(
            f"j{index}",
            ("cold", "warm", "hot")[index % 3],
            ("video", "image")[index // 3 % 2],
            round(random.lognormvariate(2.2, 0.8), 2),
            random.lognormvariate(0, 0.35),
            random.lognormvariate(0, 0.3),
        )
        for index in range(ADS)
    ]


def names() -> dict[str, str]:
    """What the ads are called: hostile names in turn, which no model may trip over."""
    hostile = list(landed().values())
    return {ad.id: hostile[number % len(hostile)] for number, ad in enumerate(ads(11))}


def land(project: Project, seed: int = 11) -> None:
    """Land the profile with what its ads delivered and sold."""
    random, known, called = Random(seed + 1), ads(seed), names()
    settings = {**DEFAULTS, "profile_id": PROFILE, "workspace_id": "w-judged", "time_zone": "UTC"}
    project.land("profiles", [settings], profile_id=None, batch=PROFILE)
    own = {"platform": "meta", "name": "n", "status": "ACTIVE", "campaign_id": "jc"}
    found: dict[str, list[dict[str, Any]]] = {
        "campaigns": [{**own, "ad_account_id": "ja", "objective_group": "sales"}],
        "ad_sets": [{**own, "ad_set_id": f"js-{one}", "audience_warmth": one} for one in AUDIENCES],
        "ads": [
            {**own, "ad_set_id": f"js-{ad.warmth}", "ad_id": ad.id, "creative_id": ad.id, "name": called[ad.id]}
            for ad in known
        ],
        "creatives": [{"platform": "meta", "creative_id": ad.id, "format": ad.format} for ad in known],
    }
    days = [END - timedelta(days=number) for number in range(DAYS)]
    rows = [_ad_day(random, ad, day) for ad in known for day in days]
    found["ad_delivery"] = [row for row, _ in rows]
    found["conversions"] = [sale for _, sales in rows for sale in sales]
    for dataset, records in found.items():
        project.land(dataset, records, profile_id=PROFILE, batch="judged")


def _ad_day(random: Random, ad: KnownAd, day: date) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    per_unit, clicked, bought = AUDIENCES[ad.warmth]
    shown = max(1, round(ad.spend * per_unit * random.uniform(0.8, 1.2)))
    clicks = min(shown, _drawn(random, shown * 0.012 * clicked * ad.quality**0.7 * ad.charm))
    views = min(shown, _drawn(random, shown * 0.3 * (ad.quality * ad.charm) ** 0.4))
    place = {"platform": "meta", "ad_id": ad.id, "ad_set_id": f"js-{ad.warmth}", "campaign_id": "jc"}
    row = {
        **place, "ad_account_id": "ja", "date": day.isoformat(), "currency": "USD", "spend": f"{ad.spend:.2f}",
        "impressions": shown, "clicks": clicks, "link_clicks": clicks,
    }  # fmt: skip
    if ad.format == "video":
        row |= {"video_3s_views": views, "video_15s_views": _drawn(random, views * 0.3)}
    count = min(clicks, _drawn(random, clicks * 0.01 * bought * ad.quality / ad.charm**0.3))
    return row, [_sale(random, ad, day, number) for number in range(count)]


def _sale(random: Random, ad: KnownAd, day: date, number: int) -> dict[str, Any]:
    at = datetime.combine(day, time(12, number), UTC)
    name = f"{ad.id}-{day}-{number}"
    return {
        "conversion_key": name, "payment_ref": f"stripe:{name}", "conversion_type": "payment_received",
        "source": "server_event",
        "occurred_at": at.isoformat(), "email": f"{name}@example.com", "currency": "USD",
        "value": f"{random.lognormvariate(4, 0.5):.2f}", "ad_platform": "meta", "ad_id": ad.id,
        "ad_set_id": f"js-{ad.warmth}", "campaign_id": "jc", "touch_at": (at - timedelta(hours=2)).isoformat(),
    }  # fmt: skip


def _drawn(random: Random, mean: float) -> int:
    """A Poisson draw."""
    count, left, product = 0, math.exp(-mean), random.random()
    while product > left:
        product *= random.random()
        count += 1
    return count
