"""Random orders whose money is known, and what stores, processors, files, servers and people tell of it.

Orders are paid in one to three parts. Who tells of refunds may leave some out, as long as the net can be known: a
processor tells all of its payments, and of the others all is told by the store's total or by one source of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from orchestration.app_sets import land_calendar
from tests.dbt_project.project import DEFAULTS, Project

SEEDS = range(3)
ORDERS, BUYERS = 100, 9
# nobody else's rates are of these days
START = datetime(2025, 3, 3, 12, tzinfo=UTC)
DIGITS = {"USD": 2, "EUR": 2, "JPY": 0, "KWD": 3}
# the quotients are plain decimals
REPORTING = ("USD", "JPY", "KWD")
WORTH = {"USD": Decimal(1), "EUR": Decimal("1.25"), "KWD": Decimal(4), "JPY": Decimal("0.01")}
LESSER = ("server_event", "crm", "file")
STATUS = {0: "paid", 1: "partially_refunded"}

Row = dict[str, Any]


@dataclass
class Part:
    """One payment of an order, and what truly went back of it."""

    ref: str
    currency: str
    value: Decimal
    processed: bool
    backs: list[Decimal] = field(default_factory=list)
    by_hand: Decimal = Decimal(0)

    @property
    def net(self) -> Decimal:
        return max(self.value - sum(self.backs) - self.by_hand, Decimal(0))


@dataclass
class Order:
    """An order, its payments, and whether what is told says which of them lost what.

    `own` is what the store calls the payment where it has a name of its own for it.
    """

    name: str
    currency: str
    parts: list[Part]
    exact: bool = True
    own: str | None = None

    @property
    def net(self) -> Decimal:
        return sum((part.net for part in self.parts), Decimal(0))

    @property
    def buyer(self) -> str:
        return f"buyer {int(self.name[1:]) % BUYERS}"


@dataclass
class World:
    """A profile of orders; `batches` are landed one after the other, each a list of rows by set."""

    id: str
    currency: str
    orders: list[Order] = field(default_factory=list)
    batches: list[dict[str, list[Row]]] = field(default_factory=lambda: [{}, {}, {}])


def world(seed: int, orders: int = ORDERS) -> World:
    """World number `seed`."""
    random = Random(seed)
    made = World(f"01900000-0000-7000-8000-0000009{seed:05d}", REPORTING[seed % len(REPORTING)])
    for number in range(orders):
        _order(random, made, number)
    return made


def _amount(random: Random, currency: str, most: int = 200_000) -> Decimal:
    return Decimal(random.choice((1, 2, 100, random.randint(1, most)))).scaleb(-DIGITS[currency])


def _order(random: Random, made: World, number: int) -> None:
    order = Order(f"#{number}", random.choice(sorted(DIGITS)), [])
    in_store, processed = random.random() < 0.7, random.choice(("all", "none", "none", "some"))
    order.own = f"{random.choice('0z')}:{number}" if in_store and random.random() < 0.2 else None
    for turn in range(random.choice((1, 1, 2, 2, 3))):
        by_processor = processed == "all" or (processed == "some" and random.random() < 0.5)
        value = _amount(random, order.currency)
        part = Part(f"{random.choice('ax')}:{number}-{turn}", order.currency, value, by_processor)
        left = value
        for _ in range(random.choice((0, 0, 1, 1, 2))):
            back = left if random.random() < 0.4 else _share(random, left, order.currency)
            part.backs += [back] if back else []
            left -= back
        order.parts.append(part)
    if len(order.parts) == 1 and random.random() < 0.1:
        # a refund, and the same payment lost in a dispute
        order.parts[0].backs.append(order.parts[0].value)
    made.orders.append(order)
    named = _tell_payments(random, made, order, in_store)
    _tell_refunds(random, made, order, in_store, named)


def _share(random: Random, left: Decimal, currency: str) -> Decimal:
    minor = int(left.scaleb(DIGITS[currency]))
    return Decimal(random.randint(0, minor)).scaleb(-DIGITS[currency])


def _tell_payments(random: Random, made: World, order: Order, in_store: bool) -> list[str]:
    """Statements of the parts; gives names of the order that refunds of an order paid at once may use."""
    alone = len(order.parts) == 1
    names = []
    if in_store and alone and not order.parts[0].processed and not order.own and random.random() < 0.4:
        # nobody but the store knows of it
        order.parts[0].ref = own = f"store:{order.name[1:]}"
        if int(order.name[1:]) % 2:
            # paid in another way than by the card that failed
            failed = {"payment_ref": f"a:failed-{order.name}", "order_ref": order.name, "payment_status": "failed"}
            _conversion(random, made, order, f"failed {own}", source="payments", value=order.parts[0].value, **failed)
            order.parts[0].ref = f"order:{order.name}"
        return sorted({order.parts[0].ref, own})
    for part in order.parts:
        best = "payments" if part.processed else random.choice(LESSER)
        told = {"value": part.value, "payment_ref": part.ref, "order_ref": order.name}
        if in_store and int(order.name[1:]) % 3:
            # the store alone knows who bought
            told["person_key"] = None
        if alone and not in_store and not part.processed and random.random() < 0.3:
            part.ref, told["payment_ref"] = f"order:{order.name}", None
        _conversion(random, made, order, f"pay {part.ref}", source=best, **told)
        if part.processed and random.random() < 0.3:
            # an attempt that failed, and a lesser source that is wrong about what was paid
            failed = {**told, "payment_ref": f"a:failed-{part.ref}", "payment_status": "failed"}
            _conversion(random, made, order, f"failed {part.ref}", source="payments", **failed)
        for source in LESSER[LESSER.index(best) + 1 :] if best in LESSER else LESSER:
            if random.random() < 0.2:
                wrong = {**told, "value": part.value + 1}
                _conversion(random, made, order, f"{source} {part.ref}", source=source, **wrong)
    if alone:
        names = [order.parts[0].ref, f"order:{order.name}", *([order.own] if order.own else [])]
    return names


def _tell_refunds(random: Random, made: World, order: Order, in_store: bool, named: Sequence[str]) -> None:
    open_parts = [part for part in order.parts if not part.processed]
    if len(order.parts) > 1 and not in_store and len(open_parts) == len(order.parts) and random.random() < 0.5:
        # one source that knows the order and not its payments
        order.exact, source = False, random.choice(LESSER)
        for part in order.parts:
            _rows(random, made, order, part, source, [f"order:{order.name}"])
        return
    for part in order.parts:
        if part.processed:
            _rows(random, made, order, part, "payments", [part.ref])
    # of each part that no processor tells, one source tells all, or the store's total does
    by_rows = bool(open_parts) and (not in_store or random.random() < 0.4)
    for part in order.parts:
        names = list(named) or [part.ref]
        sources = random.sample(LESSER, random.choice((0, 1, 1, 2)))
        if by_rows and not part.processed:
            _rows(random, made, order, part, random.choice(LESSER), names)
        for source in sources:
            _rows(random, made, order, part, source, names, share=0.5)
    if in_store:
        total = sum((sum(part.backs, Decimal(0)) for part in order.parts), Decimal(0))
        # a store that is behind tells less than the rows do
        behind = by_rows or not open_parts
        told = total if not behind or random.random() < 0.6 else _share(random, total, order.currency)
        _store(random, made, order, told)
    order.exact = by_rows or len(open_parts) < 2
    for part in order.parts:
        if order.exact and part.net and random.random() < 0.15:
            part.by_hand = part.net if random.random() < 0.5 else _share(random, part.net, order.currency)
            if part.by_hand:
                hand = {"refunds_payment_ref": part.ref, "value": part.by_hand, "refund_kind": "manual"}
                _conversion(random, made, order, f"hand {part.ref}", source="crm", type="refund_issued", **hand)


def _rows(
    random: Random, made: World, order: Order, part: Part, source: str, names: Sequence[str], share: float = 1
) -> None:
    """Refunds of a part as a source tells them: all, or some, under the key that it has for each."""
    for turn, back in enumerate(part.backs):
        if random.random() < share:
            kind = random.choice((None, "refund", "dispute_lost"))
            row = {"refunds_payment_ref": random.choice(names), "value": back, "refund_kind": kind}
            _conversion(
                random, made, order, f"back {source} {part.ref} {turn}", source=source, type="refund_issued", **row
            )


def _conversion(random: Random, made: World, order: Order, key: str, **columns: Any) -> None:
    at = START + timedelta(minutes=random.randrange(60))
    row = {"conversion_key": key, "occurred_at": at.isoformat(), "currency": order.currency}
    row["person_key"] = order.buyer
    row |= {"conversion_type": columns.pop("type", "payment_received"), **columns}
    batch = random.randrange(3)
    made.batches[batch].setdefault("conversions", []).append(row)
    if batch and random.random() < 0.1:
        # told before, wrong
        made.batches[0].setdefault("conversions", []).append({**row, "value": row["value"] + 1})
    elif batch < 2 and random.random() < 0.1:
        made.batches[2].setdefault("conversions", []).append(row)


def _store(random: Random, made: World, order: Order, refunded: Decimal) -> None:
    total = sum((part.value for part in order.parts), Decimal(0))
    told = None if refunded == total and random.random() < 0.5 else refunded
    row = {"connection_ref": "shop", "order_id": order.name[1:], "order_ref": order.name, "total": total}
    row |= {"created_at": START.isoformat(), "currency": order.currency, "refunded_total": told}
    status = "refunded" if refunded >= total else STATUS[refunded > 0]
    row |= {"financial_status": status, "updated_at": START.isoformat()}
    row["person_key"] = order.buyer
    if random.random() < 0.3:
        before = {**row, "refunded_total": 0, "financial_status": "paid"}
        made.batches[0].setdefault("orders", []).append(before)
    row["payment_ref"] = order.own
    if not order.own and len(order.parts) > 1 and random.random() < 0.2:
        row["payment_ref"] = min(part.ref for part in order.parts)
    if random.random() < 0.1:
        row["cancelled_at"] = START.isoformat()
    made.batches[random.choice((1, 2))].setdefault("orders", []).append(row)


def land(project: Project, seeds: Sequence[int] = SEEDS, orders: int = ORDERS) -> None:
    """Land every world, and rates between all the currencies."""
    for one in (world(seed, orders) for seed in seeds):
        settings = {"profile_id": one.id, "time_zone": "UTC", "currency": one.currency}
        settings["currency_digits"] = DIGITS[one.currency]
        project.land("profiles", [{**DEFAULTS, **settings}], profile_id=None, batch=one.id)
        for turn, sets in enumerate(one.batches):
            for dataset, rows in sets.items():
                project.land(dataset, rows, profile_id=one.id, batch=f"turn{turn}")
    land_calendar(project.lake, "UTC")
    rates = [
        {"rate_date": START.date(), "base": base, "quote": quote, "rate": f"{WORTH[base] / WORTH[quote]:f}"}
        for base in WORTH
        for quote in WORTH
        if base != quote
    ]
    project.land("fx_rates", rates, profile_id=None, batch="payments")
