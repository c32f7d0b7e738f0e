"""Small worlds written by hand, for rules whose answer can be worked out on paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache

from sandbox.ads import Ad
from sandbox.clock import epoch
from sandbox.journeys import Journeys
from sandbox.ledger import Ledger
from sandbox.money import Order, Payment
from sandbox.people import Known, Outcome, Touch
from sandbox.world import World, build

TODAY = date(2026, 11, 16)
NOW = epoch(TODAY)
DAY = 86_400
PROFILE = "01900000-0000-7000-8000-000000000d01"


@lru_cache(maxsize=1)
def stage() -> World:
    """A world's ads and rates, with nobody in it."""
    return replace(build(seed=7, today=TODAY, days=150, people=100), journeys=Journeys((), (), (), (), (), (), (), ()))


def ads() -> dict[str, Ad]:
    """Ads A, B, C and D, each of another campaign."""
    firsts = {ad.campaign_id: ad for ad in reversed(stage().ads)}
    return dict(zip("ABCD", sorted(firsts.values(), key=lambda ad: ad.id), strict=False))


def touch(letter: str, before: float, key: str | None = None, **more: object) -> Touch:
    """A touch `before` seconds before now: ads A to D, `d` direct, `o` organic; of person 0."""
    row = Touch(key=key or f"{NOW - before:.0f}{letter}", person=0, at=int(NOW - before))
    if letter == "d":
        row = replace(row, is_direct=True)
    elif letter != "o":
        ad = ads()[letter]
        row = replace(
            row, ad_platform="meta", ad_id=ad.id, ad_set_id=ad.ad_set_id, campaign_id=ad.campaign_id, is_paid=True
        )
    return replace(row, **more)  # type: ignore[arg-type]


def payment(amount: int = 100_00, at: int = NOW, number: str = "1", **more: object) -> Payment:
    """A captured payment of person 0 in US dollars."""
    row = Payment(f"pi_{number}", f"ch_{number}", 0, at, amount, "USD", "captured", Known())
    return replace(row, **more)  # type: ignore[arg-type]


def ledger(
    touches: Sequence[Touch],
    payments: Sequence[Payment] = (),
    outcomes: Sequence[Outcome] = (),
    orders: Sequence[Order] = (),
    **settings: object,
) -> Ledger:
    """The ledger of a world in which only this happened."""
    journeys = Journeys((), tuple(touches), tuple(outcomes), (), tuple(payments), (), tuple(orders), ())
    return Ledger(replace(stage(), journeys=journeys), PROFILE, **settings)  # type: ignore[arg-type]
