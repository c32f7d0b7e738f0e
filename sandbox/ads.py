"""The ad side of the world: accounts, campaigns, ad sets, ads, creatives, and what each ad delivered each day."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

REVISED_DAYS = 28


@dataclass(frozen=True, slots=True)
class AdAccount:
    """One ad account. `view_through` is how many purchases it claims per million impressions nobody clicked."""

    id: str
    name: str
    currency: str
    time_zone: str
    view_through: float
    platform: str = "meta"
    status: str = "ACTIVE"


@dataclass(frozen=True, slots=True)
class Campaign:
    """One campaign; times are epoch seconds, budgets minor units of the account's currency per day."""

    id: str
    account_id: str
    name: str
    status: str
    objective: str
    objective_group: str
    daily_budget_minor: int
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class Audience:
    """A custom audience of an account; `subtype` is Meta's: how its people came into it."""

    id: str
    account_id: str
    name: str
    subtype: str


@dataclass(frozen=True, slots=True)
class AdSet:
    """One ad set. `audience_warmth` is hot, warm or cold; a cold one is shown to no audience of the account's own."""

    id: str
    campaign_id: str
    account_id: str
    name: str
    status: str
    optimization_goal: str
    audience_warmth: str
    audience_id: str | None
    daily_budget_minor: int
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class Creative:
    """One creative, as an ad shows it."""

    id: str
    account_id: str
    format: str
    title: str
    body: str
    call_to_action: str
    landing_url: str
    video_id: str | None
    thumbnail_url: str
    updated_at: int


@dataclass(frozen=True, slots=True)
class Ad:
    """One ad. `quality` (0.4 to 1.8) and `charm` (0.5 to 2) are latent, no platform reports them.

    Quality moves everything, buyers most; charm moves views and clicks of people who then do not buy.
    """

    id: str
    ad_set_id: str
    campaign_id: str
    account_id: str
    name: str
    status: str
    creative_id: str
    landing_url: str
    url_tags: str
    quality: float
    first_day: date
    last_day: date
    created_at: int
    updated_at: int
    charm: float = 1.0


@dataclass(frozen=True, slots=True)
class Delivery:
    """One ad on one day of its account. Money is in minor units of the account's currency.

    `claimed_*` is what the platform says it sold: every clicked ad takes the whole sale, and views claim more.
    """

    ad_id: str
    ad_set_id: str
    campaign_id: str
    account_id: str
    day: date
    currency: str
    spend_minor: int
    impressions: int
    clicks: int
    link_clicks: int
    reach: int
    video_3s_views: int | None
    video_15s_views: int | None
    reactions: int
    comments: int
    shares: int
    saves: int
    messaging_started: int
    messaging_first_replies: int
    claimed_purchases: int
    claimed_value_minor: int
    claimed_leads: int
    drift: float

    def seen_at(self, as_of: date) -> Delivery | None:
        """The figures as the platform showed them on `as_of`: none before the day, final after 28 days.

        Spend and impressions start off by up to `drift` and settle; claims arrive late and only grow.
        """
        age = (as_of - self.day).days
        if age < 0:
            return None
        if age >= REVISED_DAYS:
            return self
        open_share = 1 - age / REVISED_DAYS
        early = 1 + self.drift * open_share
        late = 1 - 0.4 * open_share
        clicks = min(self.impressions, round(self.clicks * early))
        purchases = self._arrived("purchases", self.claimed_purchases, late)
        return replace(
            self,
            spend_minor=round(self.spend_minor * early),
            impressions=max(1, round(self.impressions * early)),
            clicks=clicks,
            link_clicks=min(clicks, round(self.link_clicks * early)),
            reach=max(1, round(self.reach * early)),
            claimed_purchases=purchases,
            claimed_value_minor=self.claimed_value_minor * purchases // max(1, self.claimed_purchases),
            claimed_leads=self._arrived("leads", self.claimed_leads, late),
        )

    def _arrived(self, kind: Literal["purchases", "leads"], claimed: int, late: float) -> int:
        """How many of the claims have arrived: that share of many, and of a single one all or nothing."""
        if not claimed:
            return 0
        drawn = hashlib.blake2b(f"{self.ad_id}:{self.day}:{kind}".encode(), digest_size=4).digest()
        return int(claimed * late + int.from_bytes(drawn) / 2**32)
