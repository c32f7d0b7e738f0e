"""What each ad delivers each day: budget, weekday, audience, latent quality and fatigue; what people do is drawn."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from sandbox.ad_catalogue import AdTree
from sandbox.ads import Ad, AdSet, Campaign, Delivery

WEEKDAYS = (0.94, 0.92, 0.97, 1.0, 1.04, 1.1, 1.08)
COST_PER_THOUSAND = {"sales": 1150, "leads": 1400, "messaging": 980, "awareness": 420, "traffic": 640}
CLICK_RATE = {"sales": 0.014, "leads": 0.011, "messaging": 0.013, "awareness": 0.003, "traffic": 0.018}
# people who know the shop cost more to reach, and click more whatever the ad
WARM_COST = {"hot": 1.6, "warm": 1.2, "cold": 1.0}
WARM_CLICKS = {"hot": 1.7, "warm": 1.25, "cold": 0.9}
FATIGUE_DAYS = 70


@dataclass(frozen=True, slots=True)
class _Slot:
    ad: Ad
    ad_set: AdSet
    campaign: Campaign
    currency: str
    siblings: int
    is_video: bool


def build_delivery(random: Random, tree: AdTree, today: date, days: int, people: int) -> list[Delivery]:
    """Final figures of every ad-day before claims, by day and ad; budgets scale with the number of people."""
    slots = _slots(tree)
    scale = people / 2200
    rows: list[Delivery] = []
    for offset in range(days - 1, -1, -1):
        day = today - timedelta(days=offset)
        rows.extend(row for slot in slots if (row := _ad_day(random, slot, day, scale)) is not None)
    return rows


def _slots(tree: AdTree) -> list[_Slot]:
    campaigns = {row.id: row for row in tree.campaigns}
    ad_sets = {row.id: row for row in tree.ad_sets}
    currency = {row.id: row.currency for row in tree.accounts}
    videos = {row.id for row in tree.creatives if row.format == "video"}
    siblings: dict[str, int] = {}
    for ad in tree.ads:
        siblings[ad.ad_set_id] = siblings.get(ad.ad_set_id, 0) + 1
    return [
        _Slot(ad, ad_sets[ad.ad_set_id], campaigns[ad.campaign_id], currency[ad.account_id],
              siblings[ad.ad_set_id], ad.creative_id in videos)
        for ad in tree.ads
    ]  # fmt: skip


def _ad_day(random: Random, slot: _Slot, day: date, scale: float) -> Delivery | None:
    noise, rate_noise, quiet = random.uniform(0.72, 1.12), random.uniform(0.85, 1.15), random.random()
    drift = random.uniform(-0.03, 0.05)
    if not slot.ad.first_day <= day <= slot.ad.last_day or quiet < 0.02:
        return None
    spend = max(1, round(slot.ad_set.daily_budget_minor / slot.siblings * noise * WEEKDAYS[day.weekday()] * scale))
    group, warmth = slot.campaign.objective_group, slot.ad_set.audience_warmth
    impressions = max(1, round(spend / COST_PER_THOUSAND[group] / WARM_COST[warmth] * 1000 * rate_noise))
    tired = max(0.45, math.exp(-(day - slot.ad.first_day).days / FATIGUE_DAYS))
    quality, charm = slot.ad.quality, slot.ad.charm
    clicked = CLICK_RATE[group] * WARM_CLICKS[warmth] * quality**0.7 * charm * tired * rate_noise
    link_clicks = min(impressions, _drawn(random, impressions * clicked))
    clicks = min(impressions, link_clicks + _drawn(random, link_clicks * 0.28))
    views = min(impressions, _drawn(random, impressions * 0.31 * (quality * charm) ** 0.4)) if slot.is_video else None
    stayed = None if views is None else min(views, _drawn(random, views * 0.33 * quality**0.4))
    started = min(link_clicks, _drawn(random, link_clicks * 0.3 * quality**0.5)) if group == "messaging" else 0
    reactions, comments, shares, saves = (_drawn(random, clicks * rate) for rate in (0.4, 0.05, 0.03, 0.04))
    return Delivery(
        slot.ad.id, slot.ad_set.id, slot.campaign.id, slot.ad.account_id, day, slot.currency, spend, impressions,
        clicks, link_clicks, max(1, round(impressions * 0.87)), views, stayed, reactions, comments, shares, saves,
        started, min(started, _drawn(random, started * 0.8)), 0, 0, 0, drift,
    )  # fmt: skip


def _drawn(random: Random, mean: float) -> int:
    """A Poisson draw; from 30 on by its normal form."""
    if mean >= 30:
        return max(0, round(random.gauss(mean, math.sqrt(mean))))
    count, left = -1, math.exp(-mean)
    product = 1.0
    while product > left:
        product *= random.random()
        count += 1
    return max(count, 0)


def deduplicated_reach(days: Iterable[Sequence[int]]) -> int:
    """People reached at least once: the best day's largest ad, plus a falling share of everyone else.

    `days` holds one sequence of ad reaches per day; the result is never under the largest nor over the sum.
    """
    per_day = [max(ads) + round(0.55 * (sum(ads) - max(ads))) for ads in days if ads]
    if not per_day:
        return 0
    return max(per_day) + round(0.35 * (sum(per_day) - max(per_day)))
