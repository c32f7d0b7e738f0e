"""How people arrive: which ad, or none, and what the visit tells about itself."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import accumulate
from random import Random

from sandbox.ad_catalogue import AdTree
from sandbox.ads import Ad, Delivery
from sandbox.crowd import token
from sandbox.people import Known, Person, Touch

# kind of arrival -> how many of a hundred
KINDS = {
    "ad": 48, "ad_alone": 6, "ad_set_only": 2, "campaign_only": 4, "unknown_ad": 3, "click_only": 6, "search_ad": 4,
    "organic": 10, "email": 6, "direct": 11,
}  # fmt: skip
UNSYNCED_CAMPAIGN = "120239999900008000"
UNSYNCED_ADS = tuple(f"12023999990000{index:04d}" for index in range(6))


class AdPicker:
    """Draws the ad somebody clicked on a day, by how often it was clicked there."""

    def __init__(self, tree: AdTree, deliveries: Sequence[Delivery]) -> None:
        group = {row.id: row.objective_group for row in tree.campaigns}
        self._ads = {ad.id: ad for ad in tree.ads}
        self._america = tree.accounts[0].id
        clicked: dict[tuple[date, bool, str], list[tuple[Ad, int]]] = {}
        for row in deliveries:
            if row.link_clicks:
                key = (row.day, row.account_id == self._america, group[row.campaign_id])
                clicked.setdefault(key, []).append((self._ads[row.ad_id], row.link_clicks))
        self._choices = {
            key: ([ad for ad, _ in rows], list(accumulate(clicks for _, clicks in rows)))
            for key, rows in clicked.items()
        }

    def pick(self, random: Random, at: int, person: Person, group: str) -> Ad | None:
        """An ad of the person's market and that objective delivered on the (UTC) day, else of sales, else None."""
        day = datetime.fromtimestamp(at, UTC).date()
        for wanted in (group, "sales"):
            choice = self._choices.get((day, person.country == "US", wanted))
            if choice is not None:
                ads, cumulated = choice
                return ads[bisect_left(cumulated, random.random() * cumulated[-1])]
        return None


def arrive(random: Random, person: Person, at: int, group: str, picker: AdPicker) -> Touch:
    """One visit to the shop's site at second `at`."""
    kind = random.choices(tuple(KINDS), tuple(KINDS.values()))[0]
    shown = "awareness" if group == "sales" and random.random() < 0.04 else group
    ad = picker.pick(random, at, person, shown)
    if ad is None and kind in ("ad", "ad_alone", "ad_set_only", "campaign_only"):
        kind = "organic"
    known = Known(anonymous_id=random.choice(person.anonymous_ids))
    touch = Touch(
        key=f"{random.getrandbits(64):016x}", person=person.index, at=at, millisecond=random.randrange(1000),
        session_id=f"s_{random.getrandbits(48):012x}", country=person.country, known=known,
    )  # fmt: skip
    return _with_source(random, touch, kind, ad, person)


def _with_source(random: Random, touch: Touch, kind: str, ad: Ad | None, person: Person) -> Touch:
    if kind == "direct":
        return replace(touch, is_direct=True)
    if kind == "organic":
        return replace(touch, referrer_host=random.choice(("search.example", "hikingforum.example")))
    if kind == "email":
        known = replace(touch.known, email=person.email)
        letter = f"trail-letter-{datetime.fromtimestamp(touch.at, UTC):%Y-%m}"
        return replace(touch, utm_source="newsletter", utm_medium="email", utm_campaign=letter, known=known)
    if kind == "search_ad":
        return replace(
            touch, ad_platform="google", is_paid=True, click_id_type="gclid", click_id=f"Cj0K{token(random, 40)}",
            utm_source="google", utm_medium="cpc", referrer_host="search.example",
        )  # fmt: skip
    paid = replace(
        touch, ad_platform="meta", is_paid=True, click_id_type="fbclid", click_id=f"IwAR{token(random, 44)}",
        utm_source="meta", utm_medium="paid_social", utm_campaign=ad.campaign_id if ad else None,
    )  # fmt: skip
    if kind == "click_only":
        return paid
    if kind == "unknown_ad":
        return replace(paid, ad_id=random.choice(UNSYNCED_ADS), utm_campaign=UNSYNCED_CAMPAIGN)
    return _naming(paid, kind, ad)


def _naming(touch: Touch, kind: str, ad: Ad | None) -> Touch:
    if ad is None:
        return touch
    if kind == "campaign_only":
        return replace(touch, campaign_id=ad.campaign_id, click_id=None, click_id_type=None)
    if kind == "ad_set_only":
        return replace(touch, ad_set_id=ad.ad_set_id, campaign_id=ad.campaign_id)
    if kind == "ad_alone":
        return replace(touch, ad_id=ad.id)
    return replace(touch, ad_id=ad.id, ad_set_id=ad.ad_set_id, campaign_id=ad.campaign_id)


def echoes(random: Random, touch: Touch, person: Person, group: str, picker: AdPicker) -> list[Touch]:
    """What life adds to a visit: the page reloaded, a second page of it, another arrival in the same second."""
    chance = random.random()
    if touch.click_id is not None and chance < 0.06:
        return [_again(random, touch, 600, session_id=f"s_{random.getrandbits(48):012x}")]
    if touch.ad_id is not None and touch.click_id is not None and chance < 0.12:
        return [_again(random, touch, 95, click_id=None, click_id_type=None)]
    if chance < 0.15:
        other = arrive(random, person, touch.at, group, picker)
        return [other]
    if chance < 0.17:
        return [replace(_again(random, touch, 0, session_id=f"s_{random.getrandbits(48):012x}"), ad_platform=None,
                        ad_id=None, ad_set_id=None, campaign_id=None, is_paid=False, is_direct=True,
                        click_id=None, click_id_type=None, utm_source=None, utm_medium=None,
                        utm_campaign=None, referrer_host=None)]  # fmt: skip
    return []


def _again(random: Random, touch: Touch, later: int, **changes: str | None) -> Touch:
    copy = replace(touch, key=f"{random.getrandbits(64):016x}", at=touch.at + later, millisecond=random.randrange(1000))
    return replace(copy, **changes)  # type: ignore[arg-type]
