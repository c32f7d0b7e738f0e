"""Many profiles in one lake: one file per data set holds the records of all worlds, judged as every record is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from data_contracts.contract import Contract, load
from data_contracts.judge import Judged, judge
from orchestration.app_sets import land_calendar
from orchestration.batch_file import raw_schema
from orchestration.lake import Lake
from tests.dbt_project.project import DEFAULTS
from tests.laws.worlds import ADS, DAY, PAYMENT, Outcome, Touch, World

START = datetime(2026, 1, 5, tzinfo=UTC)
# long after whatever a world tells of
LANDED = START + timedelta(days=5_000)
BEFORE, AFTER = 400, 1_700
EUR_RATE = "1.0850"

Rows = dict[str, list[dict[str, Any]]]


def profile_id(number: int) -> str:
    """Id of profile number `number` of a lake."""
    return f"01900000-0000-7000-8000-{number:012d}"


def land(lake: Lake, worlds: Iterable[World]) -> None:
    """Land each world as the profile of its number, and a constant rate for every day of them."""
    lake.prepare()
    told: dict[str, list[tuple[str | None, dict[str, Any]]]] = {"profiles": [], "fx_rates": _rates()}
    zones = set()
    for number, world in enumerate(worlds):
        owner = profile_id(number)
        told["profiles"].append((None, {**DEFAULTS, "profile_id": owner, **_settings(world)}))
        zones.add(world.time_zone)
        for dataset, rows in rows_of(world).items():
            told.setdefault(dataset, []).extend((owner, row) for row in rows)
    for zone in sorted(zones):
        land_calendar(lake, zone)
    for dataset, owned in told.items():
        write(lake, dataset, owned)


def landing_number(lake: Lake) -> int:
    """Of the next raw file: as in a lake that was landed in, no two files share one."""
    return len(list(lake.root.glob("raw/*/*/*/*.parquet"))) + 1


def write(lake: Lake, dataset: str, owned: Iterable[tuple[str | None, Mapping[str, Any]]]) -> None:
    """Write records with their profiles as one raw file; every one must be good."""
    pairs = list(owned)
    contract = load(dataset)
    judged = judge(contract, [record for _, record in pairs], now=LANDED)
    assert not judged.rejected, judged.rejected[:3]
    table = raw_table(contract, judged, [owner for owner, _ in pairs], batch="laws", landing=landing_number(lake))
    pq.write_table(table, raw_path(lake, dataset, batch="laws"))


def raw_table(
    contract: Contract,
    judged: Judged,
    owners: Sequence[str | None],
    *,
    batch: str,
    landing: int,
    loaded_at: datetime = LANDED,
) -> pa.Table:
    """The good ones of records as rows of a raw file; `owners` are the profiles of all records, good or not."""
    count = len(judged.lines)
    stamps: dict[str, list[Any]] = {
        "_profile_id": [owners[line - 1] for line in judged.lines], "_source": ["laws"] * count,
        "_batch": [batch] * count, "_seq": [landing] * count, "_line": judged.lines, "_loaded_at": [loaded_at] * count,
    }  # fmt: skip
    schema = raw_schema(contract)
    values = {**judged.columns, **stamps}
    return pa.Table.from_arrays([pa.array(values[field.name], field.type) for field in schema], schema=schema)


def raw_path(lake: Lake, dataset: str, *, batch: str) -> Path:
    """Where a file of many profiles lies, in a folder that is there."""
    path = lake.root / "raw" / dataset / "_shared" / "laws" / f"{batch}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def rows_of(world: World) -> Rows:
    """The world's records as rows of the inbound sets, in the order that the world asks for."""
    rows = _account(world.prefix)
    rows["touches"] = [_touch(world.prefix, touch) for touch in world.touches]
    rows["conversions"] = [row for outcome in world.outcomes for row in _conversions(world.prefix, outcome)]
    rows["recurring_payments"] = [
        {"payment_ref": _ref(world.prefix, one.key), "first_payment_ref": _ref(world.prefix, one.renews),
         "subscription_ref": "s", "sequence_no": 2, "billing_reason": "cycle"}
        for one in world.outcomes if one.renews
    ]  # fmt: skip
    rows["ad_delivery"] = _claims(world)
    for dataset, kept in rows.items():
        rows[dataset] = kept * world.copies
        if world.shuffle is not None:
            Random(world.shuffle).shuffle(rows[dataset])
    return rows


def _settings(world: World) -> dict[str, Any]:
    return {
        "time_zone": world.time_zone,
        "lookback_days": world.lookback_days,
        "half_life_days": world.half_life_days,
    }


def _rates() -> list[tuple[str | None, dict[str, Any]]]:
    days = [START.date() + timedelta(days=n) for n in range(-BEFORE, AFTER, 7)]
    return [(None, {"rate_date": day, "base": "EUR", "quote": "USD", "rate": EUR_RATE}) for day in days]


def _account(prefix: str) -> Rows:
    ads, sets = ADS.items(), dict(ADS.values())
    own = {"platform": "meta", "status": "ACTIVE", "name": "n"}
    return {
        "campaigns": [
            {**own, "campaign_id": prefix + one, "ad_account_id": "1"} for one in sorted(set(sets.values()))
        ],
        "ad_sets": [{**own, "ad_set_id": prefix + one, "campaign_id": prefix + of} for one, of in sets.items()],
        "ads": [
            {**own, "ad_id": prefix + one, "ad_set_id": prefix + s, "campaign_id": prefix + c} for one, (s, c) in ads
        ],
    }  # fmt: skip


def _when(at: int) -> str:
    return (START + timedelta(seconds=at)).isoformat()


def _touch(prefix: str, touch: Touch) -> dict[str, Any]:
    level, _, named = touch.place.partition(":")
    told: dict[str, Any] = {"is_direct": level == "direct", "is_paid": level == "paid" or bool(named)}
    if named:
        told |= {"ad_platform": "meta", f"{level}_id": prefix + named}
    row = {"touch_key": prefix + touch.key, "occurred_at": _when(touch.at), "channel": "web", "origin": "web"}
    return {**row, **told, "person_key": f"{prefix}k{touch.person}"}


def _conversions(prefix: str, outcome: Outcome) -> list[dict[str, Any]]:
    row: dict[str, Any] = {"conversion_key": prefix + outcome.key, "conversion_type": outcome.type}
    row |= {"occurred_at": _when(outcome.at), "currency": outcome.currency if outcome.cents is not None else None}
    row["value"] = None if outcome.cents is None else _amount(outcome.cents)
    row["person_key"] = None if outcome.person is None else f"{prefix}k{outcome.person}"
    if outcome.type != PAYMENT:
        return [row]
    row |= {"payment_ref": _ref(prefix, outcome.key), "payment_status": "captured", "source": "payments"}
    if not outcome.refunded:
        return [row]
    back = {"conversion_key": f"{prefix}{outcome.key}-back", "conversion_type": "refund_issued"}
    back |= {"occurred_at": _when(outcome.at + 50 * DAY), "currency": outcome.currency}
    return [row, {**back, "value": _amount(outcome.refunded), "refunds_payment_ref": _ref(prefix, outcome.key)}]


def _ref(prefix: str, key: str | None) -> str | None:
    return key and f"x:{prefix}{key}"


def _amount(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def _claims(world: World) -> list[dict[str, Any]]:
    """What the platform says of itself on one ad, `claims` times a purchase a day."""
    if not world.claims:
        return []
    ids = {"platform": "meta", "ad_account_id": "1", "campaign_id": "c1", "ad_set_id": "s1", "ad_id": "a1"}
    told = {"spend": "12.34", "currency": "USD", "impressions": 1_000, "clicks": 30, "link_clicks": 20}
    told |= {"platform_conversions": str(world.claims), "platform_conversion_value": f"{world.claims}99.00"}
    days: list[date] = [START.date() + timedelta(days=100 + n) for n in range(31)]
    return [{**ids, **told, "date": day} for day in days]
