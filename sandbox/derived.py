"""What the platforms that the demo does not connect have, made from the world that is shown."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Generic, Protocol, TypeVar

from sandbox.ad_catalogue import AdTree
from sandbox.ads import Ad, AdAccount, AdSet, Campaign, Creative, Delivery
from sandbox.world import World

Made = TypeVar("Made")


class Planned(Protocol):
    """A campaign as it is planned: its ad groups by name, each with the names of its ads."""

    @property
    def ad_groups(self) -> Mapping[str, Sequence[str]]: ...


Plan = TypeVar("Plan", bound=Planned)


class Derived(Generic[Made]):
    """What `build` makes of the world that is shown now, made when it is first asked for."""

    def __init__(self, build: Callable[[World], Made]) -> None:
        self._build = build
        self._made: tuple[AdTree, Made] | None = None

    def of(self, world: World) -> Made:
        """The same for the same world, as of whichever day it is seen."""
        if self._made is None or self._made[0] is not world.tree:
            self._made = (world.tree, self._build(world))
        return self._made[1]


def seen(deliveries: Sequence[Delivery], account_id: str, since: date, until: date, as_of: date) -> Iterator[Delivery]:
    """An account's ad-days of the closed range, of all by day, as its platform shows them on `as_of`."""
    low = bisect_left(deliveries, since, key=lambda row: row.day)
    high = bisect_right(deliveries, until, key=lambda row: row.day)
    for row in deliveries[low:high]:
        shown = row.seen_at(as_of) if row.account_id == account_id else None
        if shown is not None:
            yield shown


def tree_of(
    accounts: Sequence[AdAccount],
    plans: Iterable[Plan],
    campaign_of: Callable[[int, Plan], Campaign],
    ad_set_of: Callable[[Campaign, Plan, int, str], AdSet],
    ad_of: Callable[[AdSet, Plan, int, str], tuple[Ad, Creative]],
) -> AdTree:
    """What is planned as a tree in the order of the plans, whose parts each platform numbers and words from 1 on."""
    campaigns, ad_sets, ads, creatives = list[Campaign](), list[AdSet](), list[Ad](), list[Creative]()
    for number, plan in enumerate(plans, 1):
        campaigns.append(campaign_of(number, plan))
        for place, (name, ad_names) in enumerate(plan.ad_groups.items(), 1):
            ad_sets.append(ad_set_of(campaigns[-1], plan, place, name))
            for position, ad_name in enumerate(ad_names, 1):
                ad, creative = ad_of(ad_sets[-1], plan, position, ad_name)
                ads.append(ad)
                creatives.append(creative)
    return AdTree(tuple(accounts), (), tuple(campaigns), tuple(ad_sets), tuple(ads), tuple(creatives))
