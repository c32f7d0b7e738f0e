from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest

from sandbox.ads import REVISED_DAYS
from sandbox.clock import epoch
from sandbox.kinship import components, missing_links
from sandbox.ledger import Ledger
from sandbox.people import Known, Link
from sandbox.world import World, WorldHolder, build
from tests.factories.journeys import PROFILE, TODAY


@pytest.fixture(scope="module")
def world() -> World:
    return build(seed=7, today=TODAY, days=60, people=400)


def test_the_same_seed_makes_the_same_world_and_another_seed_another(world: World) -> None:
    assert build(seed=7, today=TODAY, days=60, people=400) == world
    assert build(seed=8, today=TODAY, days=60, people=400) != world


def test_every_kind_of_record_occurs(world: World) -> None:
    for name in ("people", "touches", "outcomes", "links", "payments", "subscriptions", "orders", "products"):
        assert getattr(world, name), name
    assert {row.type for row in world.outcomes} == {
        "appointment_attended",
        "appointment_booked",
        "closed_won",
        "dm_started",
        "lead_created",
        "quote_presented",
    }
    assert {row.status for row in world.payments} == {"captured", "authorized", "failed"}
    assert {row.currency for row in world.payments} == {"USD", "EUR", "GBP", "JPY"}
    assert {row.via for row in world.touches} == {"web", "referral", "record"}
    assert {row.gateway for row in world.orders} == {"stripe", "paypal", "manual"}


def test_a_click_on_a_synced_ad_carries_the_campaign_as_the_ads_links_do(world: World) -> None:
    by_ad = {ad.id: ad.campaign_id for ad in world.tree.ads}
    arrived = [row for row in world.touches if row.via == "web" and row.ad_id in by_ad]
    assert len(arrived) > 100
    assert {row.utm_campaign == by_ad[str(row.ad_id)] for row in arrived} == {True}


def test_nothing_happens_after_the_present(world: World) -> None:
    present = epoch(TODAY) + 43_200
    moments = [row.at for row in (*world.touches, *world.outcomes, *world.payments)]
    moments += [refund.at for row in world.payments for refund in row.refunds]
    assert max(moments) <= present


def test_no_two_people_share_an_identifier(world: World) -> None:
    names = Counter(
        name
        for row in world.people
        for name in (row.email, row.phone, row.external_id, row.payment_customer_id, *row.anonymous_ids)
    )
    assert names.most_common(1)[0][1] == 1


def test_records_and_statements_together_make_one_person_of_everybody_with_an_outcome(world: World) -> None:
    records: dict[int, list[Known]] = {}
    captured = [row for row in world.payments if row.status == "captured"]
    for row in (*world.touches, *world.outcomes, *world.orders, *captured):
        if row.person is not None:
            records.setdefault(row.person, []).append(row.known)
    stated = Counter(row.person for row in world.links)
    for link in world.links:
        records[link.person].append(Known(**{link.kind_a: link.value_a, link.kind_b: link.value_b}))
    outcomes = {row.person for row in (*world.outcomes, *captured, *world.orders)} - {None}
    parted = [person for person in outcomes if len(components(records[person])) > 1]
    assert parted == []
    assert 0 < len(stated) < len(outcomes)


def test_identifiers_of_one_kind_on_both_sides_of_a_statement_may_differ() -> None:
    phone, visit, mail = Known(phone="+1"), Known(anonymous_id="a"), Known(anonymous_id="b", email="e@example.com")
    assert missing_links(3, [(visit, 5), (phone, 7), (mail, 9)]) == [
        Link(3, "anonymous_id", "a", "email", "e@example.com", 5),
        Link(3, "phone", "+1", "email", "e@example.com", 7),
    ]
    assert missing_links(3, [(visit, 5), (replace(visit, email="x"), 7)]) == []


def test_orders_paid_at_the_processor_name_a_captured_payment_of_what_the_buyer_saw(world: World) -> None:
    payments = {row.intent_id: row for row in world.payments}
    paid = [row for row in world.orders if row.intent_id is not None]
    assert paid
    for order in paid:
        payment = payments[order.intent_id or ""]
        assert payment.status == "captured"
        assert (payment.amount_minor, payment.currency) == (order.presented_total_minor, order.presented_currency)
        assert sum(line.price_minor * line.quantity for line in order.lines) == order.subtotal_minor


def test_refunds_never_take_back_more_than_was_paid(world: World) -> None:
    refunded = [row for row in world.payments if row.refunds]
    assert refunded
    for row in refunded:
        assert sum(refund.amount_minor for refund in row.refunds) <= row.amount_minor


def test_renewals_follow_a_first_payment_in_order(world: World) -> None:
    for row in world.subscriptions:
        chain = [payment for payment in world.payments if payment.subscription_id == row.id]
        assert [payment.sequence_no for payment in chain] == list(range(1, len(chain) + 1))
        assert chain[0].billing_reason == "create"


def test_the_platform_claims_sales_that_last_click_would_not_give_it(world: World) -> None:
    credited = Ledger(world, PROFILE).credit("last_touch", "campaign", world.first_day, TODAY)
    true = sum(row.counts.get("payment_received", 0) for row in credited.values())
    assert sum(row.claimed_purchases for row in world.deliveries) > true > 0


def test_the_last_28_days_are_revised_and_older_days_are_final(world: World) -> None:
    seen = list(world.delivery_seen(None, world.first_day, TODAY))
    changed = [now.day for now, final in zip(seen, world.deliveries, strict=True) if now != final]
    assert changed
    assert min(changed) > TODAY - timedelta(days=28)
    later = replace(world, as_of=TODAY + timedelta(days=28))
    assert list(later.delivery_seen(None, world.first_day, TODAY)) == list(world.deliveries)


def test_days_after_the_clock_are_not_delivered_yet(world: World) -> None:
    holder = WorldHolder(world)
    holder.see_as_of(TODAY - timedelta(days=10))
    days = {row.day for row in holder.world.delivery_seen(None, world.first_day, TODAY)}
    assert max(days) == TODAY - timedelta(days=10)


def test_claims_of_a_day_only_grow_while_they_settle(world: World) -> None:
    for row in world.deliveries:
        seen = [one for age in range(REVISED_DAYS + 1) if (one := row.seen_at(row.day + timedelta(days=age)))]
        for claims in (
            [one.claimed_purchases for one in seen],
            [one.claimed_value_minor for one in seen],
            [one.claimed_leads for one in seen],
        ):
            assert claims == sorted(claims)
        assert seen[-1] == row
        assert not any(one.claimed_value_minor for one in seen if not one.claimed_purchases)


def test_claims_of_recent_days_are_most_of_what_they_come_to(world: World) -> None:
    for told in ("claimed_purchases", "claimed_leads"):
        final = sum(getattr(row, told) for row in world.deliveries)
        for age, share in ((0, 0.6), (14, 0.8)):
            early = sum(getattr(row.seen_at(row.day + timedelta(days=age)), told) for row in world.deliveries)
            assert abs(early / final - share) < 0.1, (told, age, early, final)


@pytest.mark.parametrize("level", ["account", "campaign", "ad_set", "ad"])
def test_reach_of_a_window_lies_between_its_best_ad_day_and_the_sum(world: World, level: str) -> None:
    week = TODAY - timedelta(days=6)
    rows = list(world.delivery_seen(None, week, TODAY))
    for entity in {getattr(row, f"{level}_id") for row in rows}:
        daily = [row.reach for row in rows if getattr(row, f"{level}_id") == entity]
        assert max(daily) <= world.reach(level, entity, week, TODAY) <= sum(daily)


def test_reach_of_an_unknown_ad_is_nothing(world: World) -> None:
    assert world.reach("ad", "1", TODAY, TODAY) == 0
