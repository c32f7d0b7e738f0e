"""The ad accounts of the world's shop: what its campaigns are called, and who sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from random import Random

from sandbox.ads import Ad, AdAccount, AdSet, Audience, Campaign, Creative
from sandbox.clock import epoch

SHOP_HOST = "alderfinch.example"

ACCOUNTS = (
    AdAccount("204815163000041", "Alder & Finch US", "USD", "America/New_York", view_through=22.0),
    AdAccount("204815163000077", "Alder & Finch Europe", "EUR", "Europe/Madrid", view_through=9.0),
)


@dataclass(frozen=True, slots=True)
class Plan:
    """One planned campaign: account index, daily budget in minor units, and its ad sets with their ads.

    Ads begin on one of a few days; with `until_days` on any day up to so many before the world's last.
    """

    account: int
    name: str
    objective: str
    group: str
    status: str
    budget: int
    ad_sets: tuple[tuple[str, str, tuple[str, ...]], ...]
    until_days: int | None = None


SALES, LEADS, TALK, AWARE = "OUTCOME_SALES", "OUTCOME_LEADS", "OUTCOME_ENGAGEMENT", "OUTCOME_AWARENESS"

PLANS = (
    Plan(
        0,
        "Autumn Shells | Prospecting US",
        SALES,
        "sales",
        "ACTIVE",
        9000,
        (
            ("Broad 25-54", "cold", ("Ridge walk, 15s video", "Rain test, side by side")),
            ("Lookalike 1% buyers", "warm", ("Founder on seams", "Three colours carousel", "Rain test, square")),
        ),
    ),
    Plan(
        0,
        "Retargeting | Viewed product 14d",
        SALES,
        "sales",
        "ACTIVE",
        4200,
        (
            ("Viewed, not bought", "hot", ("Still thinking?", "Free returns reminder")),
            ("Basket left 7d", "hot", ("Your basket is waiting", "Reviews that decided it")),
        ),
    ),
    Plan(
        0,
        "Guided Trips | Lead form",
        LEADS,
        "leads",
        "ACTIVE",
        5200,
        (
            ("Hikers within 50 miles", "cold", ("Sunrise group, video", "Meet the guides")),
            ("Past buyers", "warm", ("Bring the jacket you bought", "Weekend in the Whites")),
        ),
    ),
    Plan(
        0,
        "Message us | Fitting advice",
        TALK,
        "messaging",
        "ACTIVE",
        3600,
        (
            ("Boots and packs interest", "cold", ("Ask a fitter", "Which pack for my back?")),
            ("Engaged 90d", "warm", ("Send us your sizes", "Fitters online until 9")),
        ),
    ),
    Plan(
        0,
        "Trail Box | Subscription",
        SALES,
        "sales",
        "ACTIVE",
        3000,
        (("Gift givers", "cold", ("Unboxing in October", "Cancel whenever")),),
    ),
    Plan(
        0,
        "Summer Clearance",
        SALES,
        "sales",
        "ARCHIVED",
        6000,
        (("Everyone who visited 60d", "warm", ("Last pairs", "Up to 40 off")),),
    ),
    Plan(
        0,
        "Brand film | Reach",
        AWARE,
        "awareness",
        "PAUSED",
        2500,
        (("Outdoor interest, broad", "cold", ("Where it starts, 60s",)),),
    ),
    Plan(
        1,
        "Botas de montaña | Prospección ES",
        SALES,
        "sales",
        "ACTIVE",
        10400,
        (
            ("Intereses senderismo", "cold", ("Prueba en barro", "Suela a suela")),
            ("Similar compradores 2%", "warm", ("Hechas para el Pirineo", "Carrusel de otoño")),
        ),
    ),
    Plan(
        1,
        "Retargeting EU | Carrito",
        SALES,
        "sales",
        "ACTIVE",
        5600,
        (("Carrito 7 días", "hot", ("Tu carrito te espera", "Envío gratis desde 80")),),
    ),
    Plan(
        1,
        "Rutas guiadas | Formulario",
        LEADS,
        "leads",
        "ACTIVE",
        5000,
        (("Madrid 80 km", "cold", ("Fin de semana en Gredos", "Conoce a los guías")),),
    ),
    Plan(
        1,
        "Mensajes | Asesoría de talla",
        TALK,
        "messaging",
        "ACTIVE",
        4200,
        (("Interacción 90 días", "warm", ("Pregunta a un experto", "Tu talla en dos minutos")),),
    ),
    Plan(
        1,
        "Trail Box EU",
        SALES,
        "sales",
        "PAUSED",
        3000,
        (("Regalos", "cold", ("Caja de octubre", "Sin permanencia")),),
    ),
)
GOALS = {
    "sales": "OFFSITE_CONVERSIONS", "leads": "LEAD_GENERATION", "messaging": "CONVERSATIONS", "awareness": "REACH",
    "traffic": "LINK_CLICKS",
}  # fmt: skip
# how the people of an account's own audiences came into them
SUBTYPES = ("WEBSITE", "LOOKALIKE", "ENGAGEMENT")
CALLS = {
    "sales": "SHOP_NOW", "leads": "SIGN_UP", "messaging": "MESSAGE_PAGE", "awareness": "LEARN_MORE",
    "traffic": "LEARN_MORE",
}  # fmt: skip


_LABELS = "utm_source=meta&utm_medium=paid_social&utm_campaign={{campaign.id}}"
WELL_TAGGED = (
    f"{_LABELS}&ad_platform=meta&campaign_id={{{{campaign.id}}}}&ad_set_id={{{{adset.id}}}}&ad_id={{{{ad.id}}}}"
)
# some campaigns are tagged as people tag them
TAGS = {
    "Guided Trips | Lead form": f"{_LABELS}&utm_content={{{{ad.id}}}}",
    "Retargeting EU | Carrito": WELL_TAGGED.replace("utm_source=meta", "utm_source=Meta"),
    "Rutas guiadas | Formulario": WELL_TAGGED.replace("{{ad.id}}", "{{ad_id}}"),
    "Trail Box EU": "",
}


@dataclass(frozen=True, slots=True)
class AdTree:
    """Every entity of both accounts, parents before children."""

    accounts: tuple[AdAccount, ...]
    audiences: tuple[Audience, ...]
    campaigns: tuple[Campaign, ...]
    ad_sets: tuple[AdSet, ...]
    ads: tuple[Ad, ...]
    creatives: tuple[Creative, ...]


def build_ads(random: Random, today: date, days: int, plans: Sequence[Plan] = PLANS) -> AdTree:
    """Both accounts' entities, alive over the `days` days that end today."""
    start = today - timedelta(days=days - 1)
    campaigns: list[Campaign] = []
    ad_sets: list[AdSet] = []
    ads: list[Ad] = []
    creatives: list[Creative] = []
    for index, plan in enumerate(plans):
        campaign = _campaign(index, plan, start, today)
        campaigns.append(campaign)
        for position, (name, warmth, ad_names) in enumerate(plan.ad_sets):
            ad_set = _ad_set(campaign, plan, position, name, warmth)
            ad_sets.append(ad_set)
            for ad_position, ad_name in enumerate(ad_names):
                creative = _creative(ad_set, plan, ad_position, ad_name)
                creatives.append(creative)
                ads.append(_ad(random, ad_set, creative, plan, ad_position, ad_name, start, today))
    ads = [replace(ad, charm=round(min(2.0, max(0.5, random.lognormvariate(0, 0.3))), 3)) for ad in ads]
    return AdTree(ACCOUNTS, _audiences(), tuple(campaigns), tuple(ad_sets), tuple(ads), tuple(creatives))


def _audiences() -> tuple[Audience, ...]:
    return tuple(
        Audience(_audience_id(account, subtype), account.id, f"{account.name}, {subtype.lower()}", subtype)
        for account in ACCOUNTS
        for subtype in SUBTYPES
    )


def _audience_id(account: AdAccount, subtype: str) -> str:
    return f"{120250000000000000 + int(account.id[-4:]) * 10 + SUBTYPES.index(subtype)}"


def _shown_to(account: AdAccount, name: str, warmth: str) -> str | None:
    if warmth == "cold":
        return None
    alike = name.startswith(("Lookalike", "Similar"))
    return _audience_id(account, "WEBSITE" if warmth == "hot" else "LOOKALIKE" if alike else "ENGAGEMENT")


def _campaign(index: int, plan: Plan, start: date, today: date) -> Campaign:
    created = epoch(start) - 86_400 * (3 + 2 * index)
    updated = epoch(today) - 86_400 * (1 + index)
    number = f"{120210000000010000 + index + 1}"
    account = ACCOUNTS[plan.account].id
    return Campaign(
        number, account, plan.name, plan.status, plan.objective, plan.group, plan.budget, created, updated
    )  # fmt: skip


def _ad_set(campaign: Campaign, plan: Plan, position: int, name: str, warmth: str) -> AdSet:
    share = plan.budget // len(plan.ad_sets)
    number = f"{120220000000000000 + int(campaign.id[-4:]) * 100 + position + 1}"
    audience = _shown_to(ACCOUNTS[plan.account], name, warmth)
    return AdSet(
        number, campaign.id, campaign.account_id, name, campaign.status, GOALS[plan.group], warmth, audience,
        share, campaign.created_at, campaign.updated_at,
    )  # fmt: skip


def _creative(ad_set: AdSet, plan: Plan, position: int, name: str) -> Creative:
    number = f"{120240000000000000 + int(ad_set.id[-8:]) * 10 + position + 1}"
    form = "video" if "video" in name or "film" in plan.name else "carousel" if "arousel" in name else "image"
    url = f"https://{SHOP_HOST}/{'es/' if plan.account else ''}{plan.group}"
    video = f"7{number[-12:]}" if form == "video" else None
    return Creative(
        number, ad_set.account_id, form, name, f"{name}. Made to be mended.", CALLS[plan.group], url, video,
        f"https://{SHOP_HOST}/thumbnails/{number}.jpg", ad_set.updated_at,
    )  # fmt: skip


def _ad(
    random: Random, ad_set: AdSet, creative: Creative, plan: Plan, position: int, name: str, start: date, today: date
) -> Ad:
    days = (today - start).days
    number = f"{120230000000000000 + int(ad_set.id[-8:]) * 10 + position + 1}"
    begins = random.choice([0, 0, 0, days // 6, days // 3])
    if plan.until_days is not None:
        begins = random.randint(0, days - plan.until_days)
    first = start + timedelta(days=begins)
    last = {"ARCHIVED": start + timedelta(days=days // 3), "PAUSED": today - timedelta(days=days // 4)}.get(
        plan.status, today
    )
    status = plan.status
    if status == "ACTIVE" and random.random() < 0.12:
        status, last = "PAUSED", today - timedelta(days=random.randint(5, 25))
    quality = round(min(1.8, max(0.4, random.lognormvariate(0, 0.35))), 3)
    return Ad(
        number, ad_set.id, ad_set.campaign_id, ad_set.account_id, name, status, creative.id, creative.landing_url,
        TAGS.get(plan.name, WELL_TAGGED), quality, first, last, ad_set.created_at + 3600 * position, ad_set.updated_at,
    )  # fmt: skip
