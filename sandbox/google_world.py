"""The shop's customers at Google Ads, derived from the world: what they spend, and the sales they claim a part in.

Nobody of the world came by one of these ads, so all that Google claims here are sales of others: the world's own
people, touches and figures stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from random import Random

from sandbox import derived
from sandbox.ad_catalogue import SHOP_HOST, AdTree
from sandbox.ad_delivery import build_delivery
from sandbox.ads import Ad, AdAccount, AdSet, Campaign, Creative, Delivery
from sandbox.clock import epoch
from sandbox.exchange import Exchange
from sandbox.world import World

CUSTOMERS = (
    AdAccount("4155550141", "Alder & Finch, Google US", "USD", "America/New_York", 0.0, "google"),
    AdAccount("4155550177", "Alder & Finch, Google Europe", "EUR", "Europe/Madrid", 0.0, "google"),
)
# the second customer is reached through this manager account alone
MANAGER = AdAccount("4155550100", "Alder & Finch, all markets", "USD", "America/New_York", 0.0, "google")
CLAIMED_SHARE = 0.3
LOOK_BACK_DAYS = 14
# claims are counted in these parts of one, since Google splits a sale over the ads before it
PARTS = 1000
# two campaigns live on one budget
SHARED_BUDGET = "90000000007"
# the channel whose campaigns have asset groups instead of ad groups
ASSETS = "PERFORMANCE_MAX"
_FIRST = 21_000_000_000


@dataclass(frozen=True, slots=True)
class Plan:
    """One planned campaign: customer's index, channel, bidding, minor units a day, ad groups with their headlines.

    One with `lifetime_minor` has that budget for all its time instead; `shares` says that its budget is shared.
    """

    customer: int
    name: str
    channel: str
    bidding: str
    status: str
    budget: int
    ad_groups: Mapping[str, tuple[str, ...]]
    lifetime_minor: int | None = None
    shares: bool = False


PLANS = (
    Plan(
        0, "Brand | Search US", "SEARCH", "TARGET_SPEND", "ENABLED", 4000,
        {"Alder & Finch": ("Mended for life", "The shell, from 89"), "Misspellings": ("Alder & Finch, official",)},
    ),
    Plan(
        0, "Waterproof shells | Search US", "SEARCH", "MAXIMIZE_CONVERSIONS", "ENABLED", 9000,
        {"Rain jackets": ("Three layers, one seam", "Dry on every ridge"), "Hiking shells": ("Made to be mended",)},
    ),
    Plan(
        0, "Packs | Search US", "SEARCH", "MAXIMIZE_CONVERSIONS", "ENABLED", 6000,
        {"Day packs": ("A pack for your back",)}, shares=True,
    ),
    Plan(
        0, "Boots | Search US", "SEARCH", "MAXIMIZE_CONVERSIONS", "PAUSED", 6000,
        {"Leather boots": ("Resoled, not replaced",)}, shares=True,
    ),
    Plan(
        0, "Brand film | Video US", "VIDEO", "TARGET_CPM", "ENABLED", 5000,
        {"Outdoor interest": ("Where it starts, film",)}, lifetime_minor=900_000,
    ),
    Plan(
        0, "Everything | Performance Max US", ASSETS, "MAXIMIZE_CONVERSIONS", "ENABLED", 7000,
        {"All products": ("All products",), "Gifts": ("Gifts",)},
    ),
    Plan(0, "Summer sale | Search US", "SEARCH", "TARGET_SPEND", "REMOVED", 5000, {"Sale": ("Last pairs",)}),
    Plan(
        1, "Botas | Búsqueda ES", "SEARCH", "MAXIMIZE_CONVERSIONS", "ENABLED", 8000,
        {"Botas de montaña": ("Hechas para el Pirineo", "Suela nueva, misma bota")},
    ),
)  # fmt: skip
GROUPS = {"TARGET_SPEND": "traffic", "MAXIMIZE_CONVERSIONS": "sales", "TARGET_CPM": "awareness"}
SUFFIX = (
    "utm_source=google&utm_medium=paid_search&utm_campaign={campaignid}"
    "&ad_platform=google&campaign_id={campaignid}&ad_set_id={adgroupid}&ad_id={creative}"
)
# one campaign is tagged as people tag them, in its template
TEMPLATES = {"Brand | Search US": "{lpurl}?utm_source=google&utm_medium=cpc&utm_term={keyword}"}


@dataclass(frozen=True)
class Holdings:
    """All that the shop has at Google; `deliveries` are final, by day and ad, their claims in `PARTS`."""

    tree: AdTree
    plans: Mapping[str, Plan]
    deliveries: tuple[Delivery, ...]

    def seen(self, customer_id: str, since: date, until: date, as_of: date) -> Iterator[Delivery]:
        """A customer's ad-days of the closed range as Google shows them on `as_of`."""
        return derived.seen(self.deliveries, customer_id, since, until, as_of)


class Shelf(derived.Derived[Holdings]):
    """The holdings of the world that is shown now, made when they are first asked for."""

    def __init__(self) -> None:
        super().__init__(build)


def build(world: World) -> Holdings:
    """The holdings in a world; the same world has the same."""
    days = (world.today - world.first_day).days + 1
    random = Random(f"{world.seed}:google")  # noqa: S311 - a repeatable world, no secret
    tree = derived.tree_of(CUSTOMERS, PLANS, partial(_campaign, world), _ad_set, partial(_ad, random, world, days))
    people = len(world.people)
    delivered = build_delivery(Random(f"{world.seed}:google delivery"), tree, world.today, days, people)  # noqa: S311
    claimed = _claimed(Random(f"{world.seed}:google claims"), delivered, tree, world)  # noqa: S311
    plans = {row.id: plan for row, plan in zip(tree.campaigns, PLANS, strict=True)}
    return Holdings(tree, plans, tuple(claimed))


def _campaign(world: World, number: int, plan: Plan) -> Campaign:
    created, updated = epoch(world.first_day) - 86_400 * number, epoch(world.today) - 86_400 * number
    return Campaign(
        f"{_FIRST + number * 10_000}", CUSTOMERS[plan.customer].id, plan.name, plan.status, plan.channel,
        GROUPS[plan.bidding], plan.budget, created, updated,
    )  # fmt: skip


def _ad_set(campaign: Campaign, plan: Plan, place: int, name: str) -> AdSet:
    return AdSet(
        f"{int(campaign.id) + 100_000_000_000 + place * 100}", campaign.id, campaign.account_id, name,
        _below(plan.status), plan.bidding, "cold", None, plan.budget // len(plan.ad_groups), campaign.created_at,
        campaign.updated_at,
    )  # fmt: skip


def _ad(
    random: Random, world: World, days: int, ad_set: AdSet, plan: Plan, position: int, headline: str
) -> tuple[Ad, Creative]:
    # an asset group has no ads: it is what delivers
    number = ad_set.id if plan.channel == ASSETS else f"{int(ad_set.id) + 500_000_000_000 + position}"
    form = "video" if plan.channel == "VIDEO" else "text"
    url = f"https://{SHOP_HOST}/{'es/' if plan.customer else ''}sales"
    video = f"yt{number}" if form == "video" else None
    creative = Creative(
        number, ad_set.account_id, form, headline, f"{headline}. Made to be mended.", "", url, video, "",
        ad_set.updated_at,
    )  # fmt: skip
    first = world.first_day + timedelta(days=random.choice((0, 0, days // 4)))
    stopped = {"PAUSED": world.today - timedelta(days=days // 5), "REMOVED": world.first_day + timedelta(days // 3)}
    quality = round(min(1.8, max(0.4, random.lognormvariate(0, 0.35))), 3)
    ad = Ad(
        number, ad_set.id, ad_set.campaign_id, ad_set.account_id, headline, _below(plan.status), number, url,
        SUFFIX, quality, first, stopped.get(plan.status, world.today), ad_set.created_at + 60 * position,
        ad_set.updated_at,
    )  # fmt: skip
    return ad, creative


def _below(status: str) -> str:
    """The own status of what is in a campaign of that status: only the campaign was stopped."""
    return status if status == "REMOVED" else "ENABLED"


def _claimed(random: Random, delivered: Sequence[Delivery], tree: AdTree, world: World) -> list[Delivery]:
    """The deliveries, with a share of the world's sales each claimed in parts by two ads that were shown before it."""
    selling = {row.id for row in tree.campaigns if row.objective_group != "awareness"}
    exchange, rows = Exchange(world.rates), list(delivered)
    shown: dict[date, list[int]] = {}
    for place, row in enumerate(rows):
        rows[place] = replace(row, claimed_leads=row.link_clicks // 4 * PARTS)
        if row.campaign_id in selling:
            shown.setdefault(row.day, []).append(place)
    for payment in world.payments:
        drawn, first, split = random.random(), random.random(), random.randint(1, PARTS - 1)
        sold = datetime.fromtimestamp(payment.at, UTC).date()
        days = [sold - timedelta(days=random.randrange(LOOK_BACK_DAYS)) for _ in range(2)]
        if payment.status != "captured" or drawn >= CLAIMED_SHARE or not all(day in shown for day in days):
            continue
        for day, part in zip(days, (split, PARTS - split), strict=True):
            place = shown[day][int(first * len(shown[day]))]
            row = rows[place]
            value = exchange.convert(payment.amount_minor, payment.currency, row.currency, day) or 0
            rows[place] = replace(
                row,
                claimed_purchases=row.claimed_purchases + part,
                claimed_value_minor=row.claimed_value_minor + value * part // PARTS,
            )
    return rows
