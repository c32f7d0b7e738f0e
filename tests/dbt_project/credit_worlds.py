"""Small random worlds for the reference: crowded times, shared ads, duplicates, refunds, renewals, two currencies."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from random import Random
from typing import Any

from orchestration.app_sets import land_calendar
from tests.dbt_project.credit_reference import Profile
from tests.dbt_project.project import DEFAULTS, Project

SEEDS = range(5)
ROBOT_WORLD = 4
KINDS = ("ad", "ad", "ad", "clicked", "direct", "organic", "paid")
START = datetime(2026, 3, 1, 4, 30, tzinfo=UTC)
TREE = {"meta": {"c1": {"s1": ["a1", "a2"], "s2": ["a3"]}, "c2": {"s3": ["a4"]}}, "google": {"c1": {"s9": ["a1"]}}}
PLAIN = ("lead_created", "appointment_booked", "quote_presented", "closed_won", "dm_started")
RATES = {
    (date(2026, 2, 27) + timedelta(days=7 * week), "EUR"): Decimal("1.0850") + week * Decimal("0.0125")
    for week in range(3)
}  # the days from 21 March on have no rate


class Draw:
    """One world; every record has its true person beside it."""

    def __init__(self, random: Random, people: int) -> None:
        self.random, self.people = random, people
        self.records: dict[str, list[dict[str, Any]]] = {
            name: [] for name in ("touches", "conversions", "orders", "recurring_payments", "identities", "campaigns",
                                  "ad_sets", "ads")
        }  # fmt: skip

    def at(self) -> str:
        """A time that others are likely to have too, or to be minutes from."""
        step = self.random.choice((0, 0, 60, 600, 1_799, 1_800))
        moment = self.random.randrange(6) * 5 * 86_400 + self.random.randrange(3) * 3_600 + step
        return (START + timedelta(seconds=moment, milliseconds=self.random.choice((0, 0, 999)))).isoformat()

    def somebody(self) -> dict[str, Any]:
        person = self.random.randrange(self.people)
        names = {"person_key": f"k{person}", "email": f"p{person}@example.com", "anonymous_id": f"a{person}"}
        kept = self.random.sample(sorted(names), self.random.randint(1, 3))
        return {"person": person, **{name: names[name] for name in kept}}

    def robot(self) -> dict[str, Any]:
        return {"person": 0, "anonymous_id": "a0"}

    def nobody(self) -> dict[str, Any]:
        return {"person": None}

    def ad(self) -> dict[str, Any]:
        platform = self.random.choice(sorted(TREE))
        campaign = self.random.choice(sorted(TREE[platform]))
        ad_set, ads = self.random.choice(sorted(TREE[platform][campaign].items()))
        ids = {"campaign_id": campaign, "ad_set_id": ad_set, "ad_id": self.random.choice(ads)}
        chosen = self.random.choice((("ad_id",), tuple(ids), ("ad_set_id",), ("campaign_id",)))
        named = {name: ids[name] for name in chosen}
        if self.random.random() < 0.1:
            named = {"ad_id": "unsynced"}
        return {"ad_platform": platform, **named}

    def click(self) -> dict[str, Any]:
        kind, prefix = self.random.choice((("fbclid", "f"), ("gclid", "g")))
        return {"click_id_type": kind, "click_id": f"{prefix}{self.random.randrange(8)}"}


def world(seed: int) -> Profile:
    """World number `seed`: a profile with its own settings and its own records."""
    draw = Draw(Random(seed), people=5 + seed % 3)
    _entities(draw)
    for index in range(60):
        _touch(draw, index, draw.somebody(), KINDS)
    # more touches than a path may have, in one world
    for index in range(1_000, 2_600 if seed == ROBOT_WORLD else 1_000):
        _touch(draw, index, draw.robot(), ("direct", "organic", "organic", "ad"))
    for index in range(40):
        _outcome(draw, index)
    for index in range(14):
        _order(draw, index)
    return Profile(
        id=f"01900000-0000-7000-8000-00000000{seed:04d}",
        time_zone=("UTC", "America/New_York", "Asia/Kolkata")[seed % 3],
        currency="USD",
        digits=2,
        lookback_days=(90, 12, 5, 1)[seed % 4],
        half_life_days=(7, 1, 90)[seed % 3],
        inherits=seed % 5 != 0,
        records=draw.records,
        rates=RATES,
    )


def _entities(draw: Draw) -> None:
    for platform, campaigns in TREE.items():
        for campaign, ad_sets in campaigns.items():
            own = {"platform": platform, "campaign_id": campaign, "status": "ACTIVE", "name": campaign}
            draw.records["campaigns"].append({**own, "ad_account_id": "1"})
            for ad_set, ads in ad_sets.items():
                draw.records["ad_sets"].append({**own, "ad_set_id": ad_set})
                draw.records["ads"].extend({**own, "ad_set_id": ad_set, "ad_id": ad} for ad in ads)
    for person in range(draw.people):
        pairs = (("person_key", f"k{person}"), ("email", f"p{person}@example.com"), ("anonymous_id", f"a{person}"))
        for (kind_a, a), (kind_b, b) in pairwise(pairs):
            pair = {"kind_a": kind_a, "value_a": a, "kind_b": kind_b, "value_b": b}
            draw.records["identities"].append({**pair, "observed_at": START.isoformat()})


def _touch(draw: Draw, index: int, person: dict[str, Any], kinds: Sequence[str]) -> None:
    kind = draw.random.choice(kinds)
    told: dict[str, Any] = {
        "ad": draw.ad,
        "clicked": lambda: {**draw.ad(), **draw.click()},
        "direct": lambda: {"is_direct": True},
        "organic": lambda: {"referrer_host": "search.example"},
        "paid": draw.click,
    }[kind]()
    session = {"session_id": f"s{draw.random.randrange(4)}"} if draw.random.random() < 0.4 else {}
    # the producer's keys do not follow time, and are not all of one length
    key = f"{draw.random.choice('aZb')}{index}"
    row = {"touch_key": key, "occurred_at": draw.at(), "channel": "web", "origin": "web"}
    # a click id alone does not say that somebody paid: posts that people share carry them too
    is_paid = kind == "clicked" or (kind == "paid" and index % 4 != 0)
    row |= {**person, **told, **session, "is_paid": is_paid}
    draw.records["touches"].append(row)


def _outcome(draw: Draw, index: int) -> None:
    random = draw.random
    row = {"conversion_key": f"c{index}", "occurred_at": draw.at(), "currency": random.choice(("USD", "EUR"))}
    row |= draw.somebody() if random.random() < 0.9 else draw.nobody()
    if random.random() < 0.3:
        own = random.choice((draw.ad(), {**draw.ad(), **draw.click()}))
        row |= {**own, **({"touch_at": draw.at()} if random.random() < 0.5 else {})}
    kind = random.choice(("plain", "pay", "pay", "refund", "renew"))
    amount = random.choice(("0.01", "100", "33.335", f"{random.randrange(1, 999)}.{random.randrange(100):02d}"))
    if kind == "plain":
        row |= {"conversion_type": random.choice(PLAIN), "value": random.choice((None, amount))}
    elif kind == "refund":
        number = random.randrange(20)
        row |= {"conversion_type": "refund_issued", "value": amount, "refunds_payment_ref": f"x:{number}"}
        row["currency"] = _currency(number)
    else:
        _payment(draw, row, amount, renews=kind == "renew")
    draw.records["conversions"].append(row)


def _payment(draw: Draw, row: dict[str, Any], amount: str, *, renews: bool) -> None:
    random = draw.random
    # renewals are numbered from 10 on, so that none is another's first payment
    number = random.randrange(10, 20) if renews else random.randrange(20)
    order = {"order_ref": f"#{random.randrange(12)}"} if number % 2 == 0 and random.random() < 0.5 else {}
    ref = None if order and random.random() < 0.3 else f"x:{number}"
    status = random.choice(("captured", "captured", "captured", "authorized", "failed"))
    source = random.choice(("payments", "store", "server_event", "crm", "file"))
    row |= {"conversion_type": "payment_received", "value": amount, "payment_ref": ref, "payment_status": status}
    row |= {"source": source, "currency": _currency(number), **order}
    known = {told["payment_ref"] for told in draw.records["recurring_payments"]}
    if renews and ref and ref not in known:
        first = f"x:{random.choice((*range(10), 99))}"
        link = {"payment_ref": ref, "first_payment_ref": first, "subscription_ref": "s"}
        draw.records["recurring_payments"].append(
            {**link, "sequence_no": 2, "billing_reason": random.choice(("cycle", "cycle", "update"))}
        )


def _currency(number: int) -> str:
    """Of payment `number`: all that speak of it agree, since refunds in another currency have a test of their own."""
    return "EUR" if number % 2 else "USD"


def _order(draw: Draw, index: int) -> None:
    random = draw.random
    status = random.choice(("paid", "partially_paid", "partially_refunded", "refunded", "pending", "voided"))
    row = {"connection_ref": "shop", "order_id": str(index), "order_ref": f"#{index}", "financial_status": status}
    row |= {"created_at": draw.at(), "updated_at": START.isoformat(), "total": "80.05", **draw.somebody()}
    # an import may say no more than that it was refunded
    row["refunded_total"] = {"partially_refunded": "30.00", "refunded": "80.05" if index % 2 else None}.get(status)
    # of what was not paid up a deposit may have come, and one in three stores does not say
    row["paid_total"] = (None, "35.01", "80.05")[index % 3]
    row["currency"] = "USD"
    if random.random() < 0.4:
        row |= {**draw.ad(), **draw.click(), "touch_at": draw.at()}
    draw.records["orders"].append(row)


def land(project: Project) -> None:
    """Land every world, and the rates they share."""
    for profile in map(world, SEEDS):
        settings = {"profile_id": profile.id, "time_zone": profile.time_zone, "lookback_days": profile.lookback_days}
        settings |= {"half_life_days": profile.half_life_days, "inherit_recurring": profile.inherits}
        project.land("profiles", [{**DEFAULTS, **settings}], profile_id=None, batch=profile.id)
        land_calendar(project.lake, profile.time_zone)
        for dataset, records in profile.records.items():
            rows = [{name: value for name, value in row.items() if name != "person"} for row in records]
            project.land(dataset, rows, profile_id=profile.id)
    rates = [{"rate_date": day, "base": base, "quote": "USD", "rate": rate} for (day, base), rate in RATES.items()]
    project.land("fx_rates", rates, profile_id=None, batch="worlds")
