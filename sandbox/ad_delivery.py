"""What each ad delivers each day: budget, weekday, latent quality and fatigue, with noise."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from sandbox.ad_catalogue import AdTree
from sandbox.ads import Ad, AdSet, Campaign, Delivery

WEEKDAYS = (0.94, 0.92, 0.97, 1.0, 1.04, 1.1, 1.08)
COST_PER_THOUSAND = {"sales": 1150, "leads": 1400, "messaging": 980, "awareness": 420}
CLICK_RATE = {"sales": 0.014, "leads": 0.011, "messaging": 0.013, "awareness": 0.003}
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
    group = slot.campaign.objective_group
    impressions = max(1, round(spend / COST_PER_THOUSAND[group] * 1000 * rate_noise))
    tired = max(0.45, math.exp(-(day - slot.ad.first_day).days / FATIGUE_DAYS))
    link_clicks = round(impressions * CLICK_RATE[group] * slot.ad.quality * tired * rate_noise)
    clicks = min(impressions, round(link_clicks * 1.28))
    views = round(impressions * 0.31) if slot.is_video else None
    started = round(link_clicks * 0.3) if group == "messaging" else 0
    return Delivery(
        slot.ad.id, slot.ad_set.id, slot.campaign.id, slot.ad.account_id, day, slot.currency, spend, impressions,
        clicks, link_clicks, max(1, round(impressions * 0.87)), views, None if views is None else round(views * 0.35),
        round(clicks * 0.4), round(clicks * 0.05), round(clicks * 0.03), round(clicks * 0.04),
        started, round(started * 0.8), 0, 0, 0, drift,
    )  # fmt: skip


def deduplicated_reach(days: Iterable[Sequence[int]]) -> int:
    """People reached at least once: the best day's largest ad, plus a falling share of everyone else.

    `days` holds one sequence of ad reaches per day; the result is never under the largest nor over the sum.
    """
    per_day = [max(ads) + round(0.55 * (sum(ads) - max(ads))) for ads in days if ads]
    if not per_day:
        return 0
    return max(per_day) + round(0.35 * (sum(per_day) - max(per_day)))
