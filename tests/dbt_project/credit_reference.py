"""Attribution a second time, naively: plain loops over one profile's records, fractions for weights and money.

It is written from docs/models.md and shares nothing with the models. Records are the rows of the inbound sets, with
`person` beside them: whose row it truly is (None = nobody known).
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, getcontext
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

from tests.dbt_project.reference_touches import Entity, Touch, seconds, touches_of

MODELS = ("last_touch", "first_touch", "last_non_direct", "linear", "time_decay")
LEVELS = ("campaign", "ad_set", "ad")
REASONS = ("paid_without_ad", "unknown_ad", "parent_only", "other_channel", "direct", "no_touch")
PAID = ("paid", "partially_paid", "partially_refunded", "refunded")
BEST = ("payments", "store", "order", "server_event", "crm", "chat", "file")
PATH_CAP = 500
getcontext().prec = 60

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Profile:
    """Settings of a profile, and its records by data set."""

    id: str
    time_zone: str
    currency: str
    digits: int
    lookback_days: int
    half_life_days: int
    inherits: bool
    records: Mapping[str, Sequence[Row]]
    rates: Mapping[tuple[date, str], Decimal]


@dataclass(frozen=True)
class Outcome:
    ref: str
    type: str
    person: int | None
    ts: int
    value: Decimal | None
    currency: str | None


Figures = dict[tuple[Any, ...], list[int]]


def public_id(profile: str, kind: str, key: str) -> str:
    """UUIDv8 of a warehouse thing, of the interface's section on ids."""
    digits = list(hashlib.md5(f"{profile}:{kind}:{key}".encode(), usedforsecurity=False).hexdigest())
    digits[12], digits[16] = "8", f"{int(digits[16], 16) & 3 | 8:x}"
    text = "".join(digits)
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def figures(profile: Profile) -> Figures:
    """{(model, level, day, entity id or reason): [conversions, cash, pipeline]} and {("all", day): [...]}."""
    told: Figures = defaultdict(lambda: [0, 0, 0])
    payments, paid_at = _payments(profile)
    touches = touches_of(profile.records, paid_at)
    outcomes = {outcome.ref: outcome for outcome in [*_plain(profile), *payments]}
    first_of = _renewals(profile, outcomes)
    for outcome in outcomes.values():
        day = _day(profile, outcome.ts)
        pays = outcome.type == "payment_received"
        money = _money(profile, outcome, day)
        _tell(told[("all", day)], money, pays, counts=True)
        first = first_of.get(outcome.ref, outcome.ref)
        path = _path(profile, touches, outcomes[first]) if first else []
        conversion_id = public_id(profile.id, "conversion", outcome.ref)
        for model in MODELS:
            parts = _split(profile, _weights(profile, model, path), money, conversion_id)
            for level in LEVELS:
                _credit(told, (model, level, day), parts, level, money, pays)
    return dict(told)


def _tell(cell: list[int], money: int, pays: bool, *, counts: bool) -> None:
    cell[0] += counts
    cell[1 if pays else 2] += money


def _credit(
    told: Figures, cell: tuple[Any, ...], parts: Mapping[Entity, int], level: str, money: int, pays: bool
) -> None:
    entities = {key for place in parts if (key := place.at(level))}
    for entity in entities:
        _tell(told[(*cell, entity)], 0, pays, counts=True)
    reasons = {place: place.reason_at(level) for place in parts if not place.at(level)} or {}
    for place, cents in parts.items():
        key = place.at(level) or reasons[place]
        if place.at(level) or pays:
            _tell(told[(*cell, key)], cents, pays, counts=False)
    if not entities:
        first = min(reasons.values(), key=REASONS.index, default="no_touch")
        _tell(told[(*cell, first)], 0 if parts or not pays else money, pays, counts=True)


def _day(profile: Profile, ts: int) -> date:
    return datetime.fromtimestamp(ts, ZoneInfo(profile.time_zone)).date()


def _path(profile: Profile, touches: Sequence[Touch], outcome: Outcome) -> list[Touch]:
    oldest = outcome.ts - profile.lookback_days * 86_400
    mine = [touch for touch in touches if outcome.person is not None and touch.person == outcome.person]
    within = [touch for touch in mine if oldest <= touch.ts <= outcome.ts]
    return sorted(within, key=lambda touch: (touch.ts, not touch.is_direct, touch.key))[-PATH_CAP:]


def _weights(profile: Profile, model: str, path: Sequence[Touch]) -> dict[Entity, Fraction]:
    if not path:
        return {}
    weights: dict[Entity, Fraction] = defaultdict(Fraction)
    heard = [touch for touch in path if not touch.is_direct] or path
    if model == "linear":
        for touch in path:
            weights[touch.place] += Fraction(1, len(path))
    elif model == "time_decay":
        newest = max(touch.ts for touch in path)
        span = Decimal(profile.half_life_days * 86_400)
        raw = [Fraction(Decimal(2) ** (Decimal(touch.ts - newest) / span)) for touch in path]
        for touch, weight in zip(path, raw, strict=True):
            weights[touch.place] += weight / sum(raw)
    elif model == "first_touch":
        weights[min(path, key=lambda touch: (touch.ts, touch.is_direct, touch.key)).place] += 1
    else:
        among = heard if model == "last_non_direct" else path
        weights[max(among, key=lambda touch: (touch.ts, not touch.is_direct, touch.key)).place] += 1
    return dict(weights)


def _split(profile: Profile, weights: Mapping[Entity, Fraction], money: int, conversion_id: str) -> dict[Entity, int]:
    exact = {place: weight * money for place, weight in weights.items()}
    cents = {place: part.numerator // part.denominator for place, part in exact.items()}

    def turn(place: Entity) -> tuple[int, str]:
        destination = place.public_id(profile.id, public_id)
        tie = hashlib.md5(f"{conversion_id}:{destination}".encode(), usedforsecurity=False).hexdigest()
        return -round((exact[place] - cents[place]) * 1_000_000), tie

    for place in sorted(exact, key=turn)[: money - sum(cents.values()) if exact else 0]:
        cents[place] += 1
    return cents


def _money(profile: Profile, outcome: Outcome, day: date) -> int:
    if outcome.value is None or outcome.currency is None:
        return 0
    dated = [(on, rate) for (on, base), rate in profile.rates.items() if base == outcome.currency]
    usable = [(on, rate) for on, rate in dated if 0 <= (day - on).days <= 7]
    rate = Decimal(1) if outcome.currency == profile.currency else max(usable, default=(None, None))[1]
    if rate is None:
        return 0
    return round(Fraction(outcome.value) * Fraction(rate) * 10**profile.digits)


def _plain(profile: Profile) -> list[Outcome]:
    rows = profile.records["conversions"]
    return [
        Outcome(row["conversion_key"], row["conversion_type"], row["person"], seconds(row["occurred_at"]),
                _decimal(row.get("value")), row.get("currency"))
        for row in rows if row["conversion_type"] not in ("payment_received", "refund_issued")
    ]  # fmt: skip


def _decimal(value: object) -> Decimal | None:
    return None if value is None else Decimal(str(value))


def _claims(profile: Profile) -> list[dict[str, Any]]:
    """Everything that says it was paid: (source, ref or None, order, ...)."""
    stated = [
        {**row, "key": f"conversion:{row['conversion_key']}", "ts": seconds(row["occurred_at"]), "refunded": Decimal(0),
         "value": _decimal(row["value"]), "captured": row["payment_status"] == "captured"}
        for row in profile.records["conversions"] if row["conversion_type"] == "payment_received"
    ]  # fmt: skip
    ordered = [
        {**row, "key": f"order:shop:{row['order_id']}", "ts": seconds(row["created_at"]), "source": "order",
         "value": _worth(row), "captured": True, "refunded": _taken(row)}
        for row in profile.records["orders"] if row["financial_status"] in PAID
    ]  # fmt: skip
    return stated + ordered


def _taken(order: Row) -> Decimal:
    told = _decimal(order["refunded_total"])
    all_of_it = _worth(order) if order["financial_status"] == "refunded" else Decimal(0)
    return all_of_it if told is None else told


def _worth(order: Row) -> Decimal:
    total, paid = Decimal(order["total"]), _decimal(order["paid_total"])
    return total if order["financial_status"] == "paid" or not paid else min(total, paid)


def _name(claim: Row, claims: Sequence[Row]) -> str:
    if claim.get("payment_ref"):
        return str(claim["payment_ref"])
    same = [other for other in claims if other.get("order_ref") == claim["order_ref"]]
    named = [other for other in same if other.get("payment_ref")]
    # an attempt that failed is not what the order was paid with, least of all where its store says that it was paid
    captured, not_failed = (
        [one for one in named if one["captured"]],
        [one for one in named if one["payment_status"] != "failed"],
    )
    is_paid = any(other["captured"] and other["source"] in ("order", "store") for other in same)
    if chosen := captured or not_failed or ([] if is_paid else named):
        return str(min(other["payment_ref"] for other in chosen))
    told = any(other["source"] != "order" for other in same)
    return f"order:{claim['order_ref']}" if told else f"store:{claim['order_id']}"


def _rank(claim: Row) -> tuple[Any, ...]:
    return BEST.index(claim["source"]), not claim["captured"], claim["ts"], claim["key"]


def _totals(ref: str, claims: Sequence[Row]) -> list[Row]:
    """What tells of orders as a whole that this payment and others paid: whose they are is told of each."""
    parts = [claim for claim in claims if claim.get("payment_ref") and claim.get("order_ref")]
    orders = {claim["order_ref"] for claim in parts if claim["payment_ref"] == ref}
    paid = {(claim["order_ref"], claim["payment_ref"]) for claim in parts if claim["captured"]}
    in_parts = {order for order in orders if sum(of == order for of, _ in paid) > 1}
    return [claim for claim in claims if claim.get("order_ref") in in_parts and not claim.get("payment_ref")]


def _payments(profile: Profile) -> tuple[list[Outcome], dict[str, tuple[int, int | None]]]:
    """Payments, and when the payment happened that each claim speaks of, and who paid it."""
    claims = _claims(profile)
    named: dict[str, list[Row]] = defaultdict(list)
    for claim in claims:
        named[_name(claim, claims)].append(claim)
    payments, paid = [], {}
    for ref, same in named.items():
        best = min(same, key=_rank)
        if best["captured"]:
            spoken = sorted([*same, *_totals(ref, claims)], key=_rank)
            person = next((row["person"] for row in spoken if row["person"] is not None), None)
            net = max(best["value"] - _refunds(profile, ref, best, same), Decimal(0))
            payments.append(Outcome(ref, "payment_received", person, best["ts"], net, best["currency"]))
            paid |= {claim["key"]: (best["ts"], person) for claim in same}
    return payments, paid


def _refunds(profile: Profile, ref: str, best: Row, same: Sequence[Row]) -> Decimal:
    rows = [row for row in profile.records["conversions"] if row["conversion_type"] == "refund_issued"]
    taken = sum((Decimal(str(row["value"])) for row in rows if row["refunds_payment_ref"] == ref), Decimal(0))
    totals = [Decimal(one["refunded"]) for one in same if one["currency"] == best["currency"]]
    return max(taken, *totals) if best["source"] in ("store", "order") else taken


def _renewals(profile: Profile, outcomes: Mapping[str, Outcome]) -> dict[str, str | None]:
    if not profile.inherits:
        return {}
    rows = profile.records["recurring_payments"]
    return {
        row["payment_ref"]: row["first_payment_ref"] if row["first_payment_ref"] in outcomes else None
        for row in rows
        if row["billing_reason"] == "cycle"
    }
