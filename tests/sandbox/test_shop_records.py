"""The mark by which the demo knows its own world again."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from sandbox.shop_records import mark
from sandbox.world import build

TODAY = date(2026, 11, 16)


def test_the_same_world_has_the_same_mark_and_one_without_an_order_or_a_day_of_an_ad_another() -> None:
    world = build(7, TODAY, 40, 150)
    assert mark(world) == mark(build(7, TODAY, 40, 150))
    fewer_orders = replace(world, journeys=replace(world.journeys, orders=world.orders[1:]))
    fewer_days = replace(world, deliveries=world.deliveries[1:])
    assert len({mark(world), mark(fewer_orders), mark(fewer_days), mark(build(8, TODAY, 40, 150))}) == 4
