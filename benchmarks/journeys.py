"""Generated journeys, written as the lake holds them: seeded, with Pareto path lengths as ad traffic has them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from data_contracts.contract import load
from orchestration.batch_file import raw_schema
from orchestration.lake import Lake

BEGIN = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp())
DAYS = 300
ADS = 400
ADS_PER_SET, SETS_PER_CAMPAIGN = 5, 4
# medians of one touch a person with a long tail, and a cap, as in docs/scaling.md
PARETO_SHAPE, LONGEST = 0.9, 800
CONVERSIONS_PER_TOUCH = 0.05


def write(lake: Lake, profile_id: str, *, touches: int, seed: int) -> None:
    """Write about `touches` touches with their conversions and one ad account into an empty lake."""
    numbers = np.random.default_rng(seed)
    lengths = path_lengths(numbers, touches)
    people = np.repeat(np.arange(len(lengths)), lengths)
    times = BEGIN + numbers.integers(0, DAYS * 86_400, len(people))
    write_set(lake.root, profile_id, "touches", _touches(numbers, people, times))
    converting = np.flatnonzero(numbers.random(len(people)) < CONVERSIONS_PER_TOUCH)
    write_set(lake.root, profile_id, "conversions", _conversions(numbers, people[converting], times[converting]))
    for dataset, rows in _account().items():
        write_set(lake.root, profile_id, dataset, rows)


def path_lengths(numbers: np.random.Generator, touches: int) -> np.ndarray[Any, Any]:
    """Touches per person, adding up to about `touches`."""
    lengths = np.minimum(numbers.pareto(PARETO_SHAPE, touches) + 1, LONGEST).astype(np.int64)
    return lengths[: int(np.searchsorted(np.cumsum(lengths), touches)) + 1]


def _touches(numbers: np.random.Generator, people: Any, times: Any) -> dict[str, Any]:
    count = len(people)
    kind = numbers.random(count)
    ad = np.where(kind < 0.55, numbers.integers(0, ADS, count), -1)
    direct = kind > 0.78
    return {
        "touch_key": [f"t{n}" for n in range(count)],
        "occurred_at": times * 1_000_000,
        "person_key": [f"p{person}" for person in people],
        "channel": ["web"] * count,
        "origin": ["web"] * count,
        "ad_platform": [("meta" if number >= 0 else None) for number in ad],
        "ad_id": [(f"a{number}" if number >= 0 else None) for number in ad],
        "is_direct": direct,
        "is_paid": ad >= 0,
    }


def _conversions(numbers: np.random.Generator, people: Any, times: Any) -> dict[str, Any]:
    count = len(people)
    paid = numbers.random(count) < 0.4
    cents = numbers.integers(500, 50_000, count)
    return {
        "conversion_key": [f"c{n}" for n in range(count)],
        "occurred_at": (times + numbers.integers(0, 5 * 86_400, count)) * 1_000_000,
        "person_key": [f"p{person}" for person in people],
        "conversion_type": ["payment_received" if is_paid else "lead_created" for is_paid in paid],
        "value": [f"{cent / 100:.2f}" if is_paid else None for cent, is_paid in zip(cents, paid, strict=True)],
        "currency": ["USD" if is_paid else None for is_paid in paid],
        "payment_ref": [f"bench:{n}" if is_paid else None for n, is_paid in enumerate(paid)],
        "payment_status": ["captured"] * count,
        "source": ["file"] * count,
    }


def _account() -> dict[str, dict[str, Any]]:
    sets = ADS // ADS_PER_SET
    set_of_ad = [f"s{n // ADS_PER_SET}" for n in range(ADS)]
    campaign_of_set = [f"c{n // SETS_PER_CAMPAIGN}" for n in range(sets)]
    campaign_of_ad = [campaign_of_set[n // ADS_PER_SET] for n in range(ADS)]
    campaigns = sorted(set(campaign_of_set))
    return {
        "ad_accounts": _entities(ad_account_id=["act"], currency=["USD"], timezone=["UTC"]),
        "campaigns": _entities(campaign_id=campaigns, ad_account_id=["act"] * len(campaigns)),
        "ad_sets": _entities(ad_set_id=[f"s{n}" for n in range(sets)], campaign_id=campaign_of_set),
        "ads": _entities(ad_id=[f"a{n}" for n in range(ADS)], ad_set_id=set_of_ad, campaign_id=campaign_of_ad),
    }


def _entities(**columns: list[str]) -> dict[str, Any]:
    first = next(iter(columns.values()))
    return {"platform": ["meta"] * len(first), "name": first, "status": ["ACTIVE"] * len(first), **columns}


def write_set(root: Path, profile_id: str, dataset: str, rows: dict[str, Any]) -> None:
    """Write columns as one raw file of a set, as if they had been landed; columns left out are null."""
    schema = raw_schema(load(dataset))
    count = len(next(iter(rows.values())))
    stamps: dict[str, Any] = {
        "_profile_id": [profile_id] * count,
        "_source": ["bench"] * count,
        "_batch": ["bench"] * count,
    }
    # as in a real lake, no two landings share a number
    landing = len(list((root / "raw").glob("*/*/*/*.parquet"))) + 1
    stamps |= {"_seq": np.full(count, landing, np.int64), "_line": np.arange(count), "_deleted": np.zeros(count, bool)}
    stamps |= {"_loaded_at": np.full(count, BEGIN * 1_000_000)}
    columns = {**rows, **stamps}
    arrays = [
        _array(columns[field.name], field.type) if field.name in columns else pa.nulls(count, field.type)
        for field in schema
    ]
    path = root / "raw" / dataset / profile_id / "bench" / "bench.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), path)


def _array(values: Any, kind: pa.DataType) -> pa.Array:
    plain = pa.array(values)
    return plain if plain.type == kind else plain.cast(kind)
