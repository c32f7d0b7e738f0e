"""Random orders are worth what was paid and not taken back, whoever tells of it, and every mart says the same."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from tests.dbt_project import payment_worlds
from tests.dbt_project.payment_worlds import DIGITS, WORTH, Order, World
from tests.dbt_project.project import Project

WORLDS = [payment_worlds.world(seed) for seed in payment_worlds.SEEDS]
_PAYMENTS = """
select payment_ref, value - refunded as net, cash_minor
from marts.payments
inner join intermediate.int_profiles using (profile_key)
inner join marts.conversions on payments.profile_key = conversions.profile_key and conversion_ref = payment_ref
where profile_id = '{id}'
"""
_BEYOND = """
select payment_ref, refunded_beyond from marts.payments
inner join intermediate.int_profiles using (profile_key)
where profile_id = '{id}'
"""
_PAYERS = """
select payment_ref, person_ref from marts.payments
inner join intermediate.int_profiles using (profile_key)
where profile_id = '{id}'
"""
# the same money by conversion, by day, by where its credit went, and by who paid
_SUMS = """
with own as (select profile_key from intermediate.int_profiles where profile_id = '{id}')
select sum(cash_minor) from marts.conversions inner join own using (profile_key)
union all select sum(cash_minor) from marts.outcomes_daily inner join own using (profile_key)
union all select sum(cash_minor) from marts.customers inner join own using (profile_key)
union all
select sum(cash_minor) from marts.unattributed_daily inner join own using (profile_key)
where model = 'linear' and level = 'ad'
"""

Told = dict[str, tuple[Decimal, int]]


def _told(credited: Project, world: World) -> Told:
    return {ref: (net, cash) for ref, net, cash in credited.rows(_PAYMENTS.format(id=world.id))}


def _refs(orders: list[Order]) -> list[str]:
    return [part.ref for order in orders for part in order.parts]


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.currency)
def test_an_order_is_worth_what_its_payments_took_and_did_not_give_back(world: World, credited: Project) -> None:
    told = _told(credited, world)
    assert sorted(told) == sorted(_refs(world.orders))
    for order in world.orders:
        assert sum(told[part.ref][0] for part in order.parts) == order.net, order


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.currency)
def test_where_it_is_told_which_payment_gave_back_each_has_its_own_cents(world: World, credited: Project) -> None:
    told = _told(credited, world)
    for part in (part for order in world.orders if order.exact for part in order.parts):
        net, cash = told[part.ref]
        worth = Fraction(WORTH[part.currency]) / Fraction(WORTH[world.currency])
        assert net == part.net, part
        assert cash == round(Fraction(part.net) * worth * 10 ** DIGITS[world.currency]), part


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.currency)
def test_conversions_days_credit_and_customers_have_the_same_cash(world: World, credited: Project) -> None:
    cash = sum(cash for _, cash in _told(credited, world).values())
    assert credited.rows(_SUMS.format(id=world.id)) == [(cash,)] * 4


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.currency)
def test_what_comes_off_another_payment_of_the_order_is_not_told_as_too_much(world: World, credited: Project) -> None:
    beyond = dict(credited.rows(_BEYOND.format(id=world.id)))
    assert {beyond[ref] for ref in _refs([order for order in world.orders if len(order.parts) > 1])} == {0}


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.currency)
def test_each_payment_of_an_order_is_its_buyers(world: World, credited: Project) -> None:
    payers = dict(credited.rows(_PAYERS.format(id=world.id)))
    buyers = {order.buyer: {payers[part.ref] for part in order.parts} for order in world.orders}
    assert all(len(people) == 1 and None not in people for people in buyers.values())
    assert len(set().union(*buyers.values())) == len(buyers)


def test_what_was_taken_back_and_what_is_left_of_a_payment_are_what_was_captured(credited: Project) -> None:
    rows = credited.rows("""
        select conversions.cash_minor, conversions.refunded_minor,
            round_even(payments.value * power(10, profiles.currency_digits), 0)
        from marts.conversions as conversions
        join marts.profiles using (profile_key)
        join marts.payments as payments
            on payments.profile_key = conversions.profile_key and payments.payment_ref = conversions.conversion_ref
        where conversions.is_cash and payments.currency = profiles.currency
    """)
    assert any(refunded > cash > 0 for cash, refunded, _ in rows)
    assert all(cash + refunded == captured for cash, refunded, captured in rows)


def test_the_worlds_contain_what_they_are_for() -> None:
    orders = [order for world in WORLDS for order in world.orders]
    parts = [part for order in orders for part in order.parts]
    assert {len(order.parts) for order in orders} == {1, 2, 3}
    assert {order.exact for order in orders if len(order.parts) > 1} == {True, False}
    assert any(part.by_hand for part in parts) and any(part.processed for part in parts)
    assert any(order.own for order in orders if len(order.parts) == 1)
    assert any(not order.net for order in orders if len(order.parts) > 1)
