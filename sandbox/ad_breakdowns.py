"""Where and to whom each ad was shown: every ad-day cut by country, by placement, or by audience segment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from random import Random

from sandbox.ad_catalogue import ACCOUNTS
from sandbox.ads import Delivery

# what a request may ask for together, as the API names it
COUNTRY, PLACEMENT, SEGMENT = ("country",), ("publisher_platform", "platform_position"), ("user_segment_key",)
OFFERED = (COUNTRY, PLACEMENT, SEGMENT)
COUNTRIES = {ACCOUNTS[0].id: ("US", "CA"), ACCOUNTS[1].id: ("ES", "FR", "PT")}
STILLS = (("facebook", "feed"), ("instagram", "feed"), ("instagram", "instagram_stories"))
VIDEOS = (("instagram", "instagram_reels"), ("facebook", "feed"), ("facebook", "facebook_reels"))
SEGMENTS = {
    "hot": (("existing",), ("engaged",), ("prospecting",)),
    "warm": (("engaged",), ("prospecting",), ("existing",)),
    "cold": (("prospecting",), ("engaged",), ("unknown",)),
}
# the commonest value's share of an ad; under 0.6 no value stands for the ad
LEAST, MOST = 0.45, 0.96


def cut(seed: int, row: Delivery, asked: Sequence[str], warmth: str) -> Iterator[tuple[tuple[str, ...], Delivery]]:
    """The ad-day in parts, with the values of `asked` for each; spend, impressions and clicks add up to the whole.

    An ad keeps its shares over its days. What is not shown to anybody has no part.
    """
    yield from shared_out(seed, row, tuple(asked), _values(row, tuple(asked), warmth))


def shared_out(
    seed: int, row: Delivery, asked: tuple[str, ...], values: Sequence[tuple[str, ...]]
) -> Iterator[tuple[tuple[str, ...], Delivery]]:
    """The same with the values given, the first of them being the ad's commonest."""
    shares = _shares(seed, row.ad_id, asked, len(values))
    shown = _split(row.impressions, shares)
    spend, clicks = (_split(n, [share if seen else 0 for share, seen in zip(shares, shown, strict=True)])
                     for n in (row.spend_minor, row.clicks))  # fmt: skip
    for index, value in enumerate(values):
        if shown[index]:
            yield value, replace(row, spend_minor=spend[index], impressions=shown[index], clicks=clicks[index])


def _values(row: Delivery, asked: tuple[str, ...], warmth: str) -> tuple[tuple[str, ...], ...]:
    if asked == COUNTRY:
        return tuple((country,) for country in COUNTRIES[row.account_id])
    if asked == SEGMENT:
        return SEGMENTS[warmth]
    return STILLS if row.video_3s_views is None else VIDEOS


@lru_cache(maxsize=8192)
def _shares(seed: int, ad_id: str, asked: tuple[str, ...], parts: int) -> tuple[float, ...]:
    random = Random(f"{seed}:{ad_id}:{asked}")  # noqa: S311 - a repeatable world, no secret
    most = random.uniform(LEAST, MOST)
    rest = [random.random() for _ in range(parts - 1)]
    return (most, *((1 - most) * one / sum(rest) for one in rest))


def _split(total: int, shares: Sequence[float]) -> list[int]:
    """Whole parts of `total` in about these shares; the first takes what rounding leaves."""
    others = [int(total * share) for share in shares[1:]]
    return [total - sum(others), *others]
