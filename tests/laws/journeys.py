"""Journeys by the million: ties, refunds, renewals, four currencies of three sizes, people without a touch; seeded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from data_contracts.contract import load
from orchestration.app_sets import land_calendar
from orchestration.batch_file import raw_schema
from orchestration.lake import Lake
from tests.dbt_project.project import DEFAULTS
from tests.laws.landing import START, landing_number, profile_id, write
from tests.laws.worlds import ADS, DAY, HOUR

FIRST = int(START.timestamp())
DAYS = 120
CONVERSIONS_PER_PERSON, TOUCHES_PER_PERSON = 4, 6
DIGITS = {"USD": 2, "EUR": 2, "JPY": 0, "KWD": 3}
ZONES = ("UTC", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe")
# ten-thousandths of a reporting unit for one unit of another currency; constant, so that no day matters
RATES = {
    "USD": {"EUR": 10_850, "JPY": 67, "KWD": 32_611},
    "EUR": {"USD": 9_217, "JPY": 62, "KWD": 30_057},
    "JPY": {"USD": 1_500_313, "EUR": 1_627_837, "KWD": 4_893_771},
    "KWD": {"USD": 3_066, "EUR": 3_327, "JPY": 20},
}
PLAIN = np.array(["lead_created", "appointment_booked", "quote_presented", "closed_won", "dm_started"])
Columns = dict[str, Any]


@dataclass(frozen=True)
class Expected:
    """What integers alone say of one profile: its outcomes, and its net cash in minor units."""

    outcomes: int
    cash_minor: int


def generate(lake: Lake, *, conversions: int, seed: int) -> dict[str, Expected]:
    """Land four profiles with `conversions` outcomes in all; gives what is expected by profile id."""
    lake.prepare()
    profiles, rates, expected = [], [], {}
    for number, (currency, digits) in enumerate(DIGITS.items()):
        owner = profile_id(number)
        own = {"currency": currency, "currency_digits": digits, "time_zone": ZONES[number]}
        own |= {"lookback_days": (90, 30, 7, 365)[number], "half_life_days": (7, 1, 90, 30)[number]}
        profiles.append((None, {**DEFAULTS, "profile_id": owner, **own}))
        land_calendar(lake, ZONES[number])
        rates += [(base, currency, rate) for base, rate in RATES[currency].items()]
        share = conversions // 4 + (number < conversions % 4)
        numbers = np.random.default_rng([seed, number])
        expected[owner] = _profile(lake, owner, currency, share, numbers)
    write(lake, "profiles", profiles)
    days = [(START.date().toordinal() + day) for day in range(-7, DAYS + 60, 7)]
    priced = [
        {"rate_date": START.date().fromordinal(day), "base": base, "quote": quote, "rate": f"{rate / 10_000:.4f}"}
        for day in days
        for base, quote, rate in rates
    ]
    write(lake, "fx_rates", [(None, row) for row in priced])
    return expected


def _profile(lake: Lake, owner: str, currency: str, count: int, numbers: np.random.Generator) -> Expected:
    people = max(count // CONVERSIONS_PER_PERSON, 1)
    _write(lake, owner, "touches", _touches(numbers, people))
    outcomes, expected = _outcomes(numbers, people, count, currency)
    for dataset, columns in (*outcomes.items(), *_account().items()):
        _write(lake, owner, dataset, columns)
    return expected


def _times(numbers: np.random.Generator, count: int) -> Any:
    # quarters of hours make ties common, the odd second makes them uncertain
    return FIRST + numbers.integers(0, DAYS * 96, count) * (HOUR // 4) + numbers.integers(0, 2, count)


def _touches(numbers: np.random.Generator, people: int) -> Columns:
    count = people * TOUCHES_PER_PERSON
    kinds = numbers.integers(0, 8, count)
    ads = np.array([*sorted(ADS), "unsynced"])[numbers.integers(0, len(ADS) + 1, count)]
    named = kinds < 5
    return {
        "touch_key": [f"t{n}" for n in range(count)],
        "occurred_at": _times(numbers, count) * 1_000_000,
        "person_key": [f"p{person}" for person in numbers.integers(0, people, count)],
        "channel": ["web"] * count,
        "origin": ["web"] * count,
        "ad_platform": np.where(named, "meta", None),
        "ad_id": np.where(named, ads, None),
        "is_direct": kinds == 5,
        "is_paid": named | (kinds == 6),
    }


def _outcomes(
    numbers: np.random.Generator, people: int, count: int, currency: str
) -> tuple[dict[str, Columns], Expected]:
    paid = numbers.random(count) < 0.6
    renewal = paid & (numbers.random(count) < 0.2)
    codes = np.where(numbers.random(count) < 0.5, currency, np.array(sorted(DIGITS))[numbers.integers(0, 4, count)])
    worth = numbers.integers(0, 200_000, count) // np.where(numbers.random(count) < 0.2, 50_000, 1)
    back = np.where(paid & (numbers.random(count) < 0.1), numbers.integers(0, worth + 1), 0)
    firsts = np.flatnonzero(paid & ~renewal)
    refs = [f"x:{n}" for n in range(count)]
    rows = {
        "conversion_key": [f"c{n}" for n in range(count)],
        "occurred_at": _times(numbers, count) * 1_000_000,
        "person_key": [f"p{person}" for person in numbers.integers(0, people + people // 8 + 1, count)],
        "conversion_type": np.where(paid, "payment_received", PLAIN[numbers.integers(0, 5, count)]),
        "value": _amounts(worth),
        "currency": codes,
        "payment_ref": [ref if is_paid else None for ref, is_paid in zip(refs, paid, strict=True)],
        "payment_status": np.where(paid, "captured", None),
        "source": ["payments"] * count,
    }
    returned, again = np.flatnonzero(back), np.flatnonzero(renewal)
    refunds = {
        "conversion_key": [f"b{n}" for n in returned],
        "occurred_at": (_times(numbers, len(returned)) + 200 * DAY) * 1_000_000,
        "conversion_type": ["refund_issued"] * len(returned),
        "value": _amounts(back[returned]),
        "currency": codes[returned],
        "refunds_payment_ref": [refs[n] for n in returned],
    }
    recurring = {
        "payment_ref": [refs[n] for n in again],
        "first_payment_ref": [refs[n] for n in numbers.choice(firsts, len(again))] if len(firsts) else [],
        "subscription_ref": ["s"] * len(again),
        "sequence_no": np.full(len(again), 2),
        "billing_reason": ["cycle"] * len(again),
    }
    cash = _minor(worth[paid] - back[paid], codes[paid], currency)
    merged = {name: [*values, *refunds.get(name, [None] * len(returned))] for name, values in rows.items()}
    merged["refunds_payment_ref"] = [*[None] * count, *refunds["refunds_payment_ref"]]
    return {"conversions": merged, "recurring_payments": recurring}, Expected(count, int(cash.sum()))


def _amounts(hundredths: Any) -> list[str]:
    return [f"{one // 100}.{one % 100:02d}" for one in hundredths.tolist()]


def _minor(hundredths: Any, codes: Any, currency: str) -> Any:
    """Minor units of the reporting currency, half to even, in integers throughout."""
    rates = np.array([10_000 if code == currency else RATES[currency][code] for code in codes.tolist()])
    scaled, unit = hundredths * rates * 10 ** DIGITS[currency], 1_000_000
    whole, rest = np.divmod(scaled, unit)
    return whole + ((2 * rest > unit) | ((2 * rest == unit) & (whole % 2 == 1)))


def _account() -> dict[str, Columns]:
    sets = dict(ADS.values())
    campaigns = sorted(set(sets.values()))

    def entities(**columns: list[str]) -> Columns:
        first = next(iter(columns.values()))
        return {"platform": ["meta"] * len(first), "name": first, "status": ["ACTIVE"] * len(first), **columns}

    return {
        "campaigns": entities(campaign_id=campaigns, ad_account_id=["1"] * len(campaigns)),
        "ad_sets": entities(ad_set_id=[*sets], campaign_id=[*sets.values()]),
        "ads": entities(
            ad_id=[*ADS], ad_set_id=[one for one, _ in ADS.values()], campaign_id=[one for _, one in ADS.values()]
        ),
    }


def _write(lake: Lake, owner: str, dataset: str, columns: Columns) -> None:
    """Write columns as the lake would hold them; a million rows are typed here and not judged one by one."""
    count = len(next(iter(columns.values())))
    stamps: Columns = {"_profile_id": [owner] * count, "_source": ["laws"] * count, "_batch": ["laws"] * count}
    stamps |= {
        "_seq": np.full(count, landing_number(lake), np.int64),
        "_line": np.arange(count),
        "_deleted": np.zeros(count, bool),
    }
    told = {**columns, **stamps, "_loaded_at": np.full(count, FIRST * 1_000_000)}
    schema = raw_schema(load(dataset))
    arrays = [
        pa.array(told[field.name]).cast(field.type) if field.name in told else pa.nulls(count, field.type)
        for field in schema
    ]
    path = lake.root / "raw" / dataset / owner / "laws" / "laws.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), path)
