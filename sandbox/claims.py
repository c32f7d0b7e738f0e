"""What the ad platform claims: every clicked ad takes the whole sale for seven days, and views take more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from random import Random

from sandbox.ads import AdAccount, Delivery
from sandbox.exchange import Exchange
from sandbox.money import Payment
from sandbox.people import Outcome, Touch

CLICK_WINDOW = 7 * 86_400
VIEWED_SALE_MINOR = 9_400


def claim(
    random: Random,
    deliveries: Sequence[Delivery],
    accounts: Iterable[AdAccount],
    touches: Iterable[Touch],
    payments: Iterable[Payment],
    outcomes: Iterable[Outcome],
    exchange: Exchange,
) -> list[Delivery]:
    """The deliveries with claims, dated on the day of the click; refunds change nothing here."""
    clicks = _clicks(touches)
    currency = {account.id: account.currency for account in accounts}
    of_ad = {row.ad_id: currency[row.account_id] for row in deliveries}
    sales: dict[tuple[str, date], list[int]] = {}
    for payment in payments:
        if payment.status == "captured" and payment.person is not None:
            for ad, day in _clicked(clicks, payment.person, payment.at):
                value = exchange.convert(payment.amount_minor, payment.currency, of_ad.get(ad, "USD"), day)
                sales.setdefault((ad, day), []).append(value or 0)
    leads: dict[tuple[str, date], int] = {}
    for outcome in outcomes:
        if outcome.type == "lead_created" and outcome.person is not None:
            for key in _clicked(clicks, outcome.person, outcome.at):
                leads[key] = leads.get(key, 0) + 1
    views = {account.id: account.view_through for account in accounts}
    return [_claimed(random, row, sales, leads, views[row.account_id]) for row in deliveries]


def _clicks(touches: Iterable[Touch]) -> dict[int, list[tuple[int, str]]]:
    clicks: dict[int, list[tuple[int, str]]] = {}
    for touch in touches:
        if touch.ad_platform == "meta" and touch.ad_id is not None:
            clicks.setdefault(touch.person, []).append((touch.at, touch.ad_id))
    return clicks


def _clicked(clicks: dict[int, list[tuple[int, str]]], person: int, at: int) -> list[tuple[str, date]]:
    """Each ad the person clicked in the seven days before, once, with the day of its last click."""
    latest: dict[str, int] = {}
    for moment, ad in clicks.get(person, []):
        if at - CLICK_WINDOW <= moment <= at:
            latest[ad] = max(moment, latest.get(ad, 0))
    return [(ad, datetime.fromtimestamp(moment, UTC).date()) for ad, moment in latest.items()]


def _claimed(
    random: Random,
    row: Delivery,
    sales: dict[tuple[str, date], list[int]],
    leads: dict[tuple[str, date], int],
    view_through: float,
) -> Delivery:
    values = sales.get((row.ad_id, row.day), [])
    viewed = int(row.impressions * view_through / 1e6 + random.random())
    return replace(
        row,
        claimed_purchases=len(values) + viewed,
        claimed_value_minor=sum(values) + viewed * VIEWED_SALE_MINOR,
        claimed_leads=leads.get((row.ad_id, row.day), 0),
    )
