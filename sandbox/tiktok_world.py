"""The shop's advertisers at TikTok, derived from the world: what they spend, and the sales they claim to have made.

Nobody of the world came by one of these ads, so all that TikTok claims here are sales of others: the world's own
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
from sandbox.ad_delivery import build_delivery, deduplicated_reach
from sandbox.ads import Ad, AdAccount, AdSet, Campaign, Creative, Delivery
from sandbox.clock import epoch
from sandbox.exchange import Exchange
from sandbox.world import World

ADVERTISERS = (
    AdAccount("7204815163000000041", "Alder & Finch, TikTok US", "USD", "America/New_York", 0.0, "tiktok"),
    AdAccount("7204815163000000077", "Alder & Finch, TikTok Europe", "EUR", "Europe/Madrid", 0.0, "tiktok"),
)
COUNTRIES = {ADVERTISERS[0].id: ("US", "CA"), ADVERTISERS[1].id: ("ES", "PT")}
PIXEL = "C7ALDERFINCH0SANDBOX"
LOOK_BACK_DAYS = 7
CLAIMED_SHARE = 0.22
_FIRST = 1_780_000_000_000_000


@dataclass(frozen=True, slots=True)
class Plan:
    """One planned campaign: advertiser's index, what TikTok calls its objective, budget per day in minor units.

    With `lifetime_minor` the campaign has that budget for all its time instead. `ad_groups` are names with their ads'.
    """

    advertiser: int
    name: str
    objective: str
    group: str
    status: str
    budget: int
    ad_groups: Mapping[str, tuple[str, ...]]
    lifetime_minor: int | None = None


PLANS = (
    Plan(
        0, "Shell season | Conversions US", "WEB_CONVERSIONS", "sales", "ACTIVE", 12000,
        {"Hikers 18-34": ("Rain test in ten seconds", "Packing the shell"), "Runners 25-44": ("Dawn run, one jacket",)},
    ),
    Plan(
        0, "Trail stories | Traffic", "TRAFFIC", "traffic", "ACTIVE", 7000,
        {"Broad 18-54": ("Three peaks, three days", "What is in my pack, carousel")},
    ),
    Plan(
        0, "Guides near you | Leads", "LEAD_GENERATION", "leads", "PAUSED", 8000,
        {"Within 50 miles": ("Meet the guides",)},
        lifetime_minor=900_000,
    ),
    Plan(0, "Summer last call", "WEB_CONVERSIONS", "sales", "DELETED", 9000, {"Everyone": ("Last pairs",)}),
    Plan(
        1, "Botas | Conversiones ES", "WEB_CONVERSIONS", "sales", "ACTIVE", 10000,
        {"Senderismo 18-44": ("Barro y lluvia", "Suela nueva, carrusel")},
    ),
)  # fmt: skip
_LABELS = "utm_source=tiktok&utm_medium=paid_social&utm_campaign=__CAMPAIGN_ID__"
WELL_TAGGED = f"{_LABELS}&ad_platform=tiktok&campaign_id=__CAMPAIGN_ID__&ad_set_id=__AID__&ad_id=__CID__"
# one campaign is tagged as people tag them
TAGS = {"Trail stories | Traffic": _LABELS}


@dataclass(frozen=True)
class Presence:
    """All that the shop has at TikTok; `deliveries` are final, by day and ad."""

    tree: AdTree
    deliveries: tuple[Delivery, ...]
    lifetime_budgets: Mapping[str, int]

    def seen(self, advertiser_id: str, since: date, until: date, as_of: date) -> Iterator[Delivery]:
        """An advertiser's ad-days of the closed range as TikTok shows them on `as_of`."""
        return derived.seen(self.deliveries, advertiser_id, since, until, as_of)


class Presences(derived.Derived[Presence]):
    """The presence of the world that is shown now, made when it is first asked for."""

    def __init__(self) -> None:
        super().__init__(build)


def build(world: World) -> Presence:
    """The presence in a world; the same world has the same."""
    days = (world.today - world.first_day).days + 1
    random = Random(f"{world.seed}:tiktok")  # noqa: S311 - a repeatable world, no secret
    tree = derived.tree_of(ADVERTISERS, PLANS, partial(_campaign, world), _ad_set, partial(_ad, random, world, days))
    people = len(world.people)
    delivered = build_delivery(Random(f"{world.seed}:tiktok delivery"), tree, world.today, days, people)  # noqa: S311
    claimed = _claimed(Random(f"{world.seed}:tiktok claims"), delivered, tree, world)  # noqa: S311
    names = {plan.name: plan.lifetime_minor for plan in PLANS if plan.lifetime_minor}
    lifetime = {row.id: names[row.name] for row in tree.campaigns if row.name in names}
    return Presence(tree, tuple(claimed), lifetime)


def reach(found: Sequence[Delivery]) -> int:
    """People reached at least once by all of these ad-days."""
    days: dict[date, list[int]] = {}
    for row in found:
        days.setdefault(row.day, []).append(row.reach)
    return deduplicated_reach(list(days.values()))


def _campaign(world: World, number: int, plan: Plan) -> Campaign:
    created = epoch(world.first_day) - 86_400 * number
    updated = epoch(world.today) - 86_400 * number
    return Campaign(
        f"{_FIRST + number * 10_000}", ADVERTISERS[plan.advertiser].id, plan.name, plan.status, plan.objective,
        plan.group, plan.budget, created, updated,
    )  # fmt: skip


def _ad_set(campaign: Campaign, plan: Plan, place: int, name: str) -> AdSet:
    goals = {"sales": "CONVERT", "traffic": "CLICK", "leads": "LEAD_GENERATION"}
    return AdSet(
        f"{int(campaign.id) + place * 100}", campaign.id, campaign.account_id, name, _below(plan.status),
        goals[plan.group], "cold", None, plan.budget // len(plan.ad_groups), campaign.created_at, campaign.updated_at,
    )  # fmt: skip


def _ad(
    random: Random, world: World, days: int, ad_set: AdSet, plan: Plan, position: int, name: str
) -> tuple[Ad, Creative]:
    number = f"{int(ad_set.id) + position}"
    form = "carousel" if "carousel" in name or "carrusel" in name else "video"
    url = f"https://{SHOP_HOST}/{'es/' if plan.advertiser else ''}{plan.group}"
    video = f"v10{number}" if form == "video" else None
    creative = Creative(
        number, ad_set.account_id, form, name, f"{name}. Made to be mended.", "SHOP_NOW", url, video, "",
        ad_set.updated_at,
    )  # fmt: skip
    first = world.first_day + timedelta(days=random.choice((0, 0, days // 4)))
    stopped = {"PAUSED": world.today - timedelta(days=days // 5), "DELETED": world.first_day + timedelta(days // 3)}
    quality = round(min(1.8, max(0.4, random.lognormvariate(0, 0.35))), 3)
    ad = Ad(
        number, ad_set.id, ad_set.campaign_id, ad_set.account_id, name, _below(plan.status), number, url,
        TAGS.get(plan.name, WELL_TAGGED), quality, first, stopped.get(plan.status, world.today),
        ad_set.created_at + 60 * position, ad_set.updated_at,
    )  # fmt: skip
    return ad, creative


def _below(status: str) -> str:
    """The own status of what is in a campaign of that status: only the campaign was stopped."""
    return status if status == "DELETED" else "ACTIVE"


def _claimed(random: Random, delivered: Sequence[Delivery], tree: AdTree, world: World) -> list[Delivery]:
    """The deliveries, with a share of the world's sales each claimed by an ad that was shown in the week before."""
    selling = {row.id for row in tree.campaigns if row.objective_group == "sales"}
    exchange, rows = Exchange(world.rates), list(delivered)
    shown: dict[date, list[int]] = {}
    for place, row in enumerate(rows):
        if row.campaign_id in selling:
            shown.setdefault(row.day, []).append(place)
    for payment in world.payments:
        drawn, back, which = random.random(), random.randrange(LOOK_BACK_DAYS), random.random()
        day = datetime.fromtimestamp(payment.at, UTC).date() - timedelta(days=back)
        if payment.status != "captured" or drawn >= CLAIMED_SHARE or day not in shown:
            continue
        place = shown[day][int(which * len(shown[day]))]
        row = rows[place]
        value = exchange.convert(payment.amount_minor, payment.currency, row.currency, day) or 0
        rows[place] = replace(
            row,
            claimed_purchases=row.claimed_purchases + 1,
            claimed_value_minor=row.claimed_value_minor + value,
        )
    return rows
