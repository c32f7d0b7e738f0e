"""Generated journeys as the lake holds them: a raw file per set, profile and chunk, in the order of time within it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.generated import (
    ADS,
    ADS_PER_SET,
    BEGIN,
    CHUNK_TOUCHES,
    SETS_PER_CAMPAIGN,
    TYPES,
    Conversions,
    Numbers,
    Touches,
    World,
    chunks,
)
from data_contracts.contract import load
from orchestration.batch_file import raw_schema
from orchestration.landed_facts import META_KEY, Facts

REFUND_AFTER = 86_400
LOADED_AT = datetime.fromtimestamp(BEGIN, UTC)


@dataclass(frozen=True)
class Part:
    """Some of a world's rows, landed under batches and numbers of their own; told by their second and number."""

    takes: Callable[[Numbers, Numbers], Numbers] = lambda ts, _: np.ones(len(ts), dtype=bool)
    name: str = "bench"
    first_seq: int = 0
    with_accounts: bool = True


def land(
    root: Path, profiles: Sequence[str], world: World, chunk_touches: int = CHUNK_TOUCHES, part: Part | None = None
) -> None:
    """Write a world, or a part of it, and an ad account for each of its profiles into the lake at `root`."""
    part = part or Part()
    seq = part.first_seq
    for profile in profiles:
        for dataset, columns in account().items() if part.with_accounts else ():
            seq += 1
            write_file(root, profile, dataset, columns, seq=seq)
    for turn, (touches, conversions) in enumerate(chunks(world, chunk_touches)):
        seen, done = part.takes(touches.ts, touches.number), part.takes(conversions.ts, conversions.number)
        repaid = part.takes(conversions.ts + REFUND_AFTER, conversions.number) & (conversions.refund > 0)
        for number in np.unique(touches.profile):
            name, profile = f"{part.name}-{turn:05}", profiles[number]
            its = np.flatnonzero((touches.profile == number) & seen)
            seq += 1
            write_file(root, profile, "touches", touch_columns(touches, _by_time(touches.ts, its)), seq=seq, batch=name)
            own = conversions.profile == number
            for columns in (
                conversion_columns(conversions, _by_time(conversions.ts, np.flatnonzero(own & done))),
                refund_columns(conversions, np.flatnonzero(own & repaid)),
            ):
                seq += 1
                write_file(root, profile, "conversions", columns, seq=seq, batch=f"{name}-{seq}")


def _by_time(ts: Numbers, rows: Numbers) -> Numbers:
    return rows[np.argsort(ts[rows], kind="stable")]


def touch_columns(touches: Touches, rows: Numbers) -> dict[str, pa.Array]:
    """Columns of the set `touches` for some of the rows."""
    ad = touches.ad[rows]
    has_ad = pa.array(ad >= 0)
    count = len(rows)
    return {
        "touch_key": keyed("t", touches.number[rows]),
        "occurred_at": pa.array(touches.ts[rows] * 1_000_000),
        "person_key": keyed("p", touches.person[rows]),
        "channel": repeated("web", count),
        "origin": repeated("web", count),
        "ad_platform": pc.if_else(has_ad, "meta", None),
        "ad_id": pc.if_else(has_ad, keyed("a", np.maximum(ad, 0)), None),
        "is_direct": pa.array(touches.is_direct[rows]),
        "is_paid": has_ad,
    }


def conversion_columns(conversions: Conversions, rows: Numbers) -> dict[str, pa.Array]:
    """Columns of the set `conversions` for some of the rows."""
    is_paid = pa.array(conversions.kind[rows] == 0)
    kinds = pa.DictionaryArray.from_arrays(pa.array(conversions.kind[rows], pa.int8()), pa.array(TYPES))
    return {
        "conversion_key": keyed("c", conversions.number[rows]),
        "occurred_at": pa.array(conversions.ts[rows] * 1_000_000),
        "person_key": keyed("p", conversions.person[rows]),
        "conversion_type": kinds.cast(pa.string()),
        "value": pc.if_else(is_paid, money(conversions.cents[rows]), None),
        "currency": pc.if_else(is_paid, "USD", None),
        "payment_ref": pc.if_else(is_paid, keyed("bench:", conversions.number[rows]), None),
        "payment_status": pc.if_else(is_paid, "captured", None),
        "source": repeated("file", len(rows)),
    }


def refund_columns(conversions: Conversions, rows: Numbers) -> dict[str, pa.Array]:
    """Columns of the set `conversions` for what was paid back of some of the rows, a day after."""
    count = len(rows)
    return {
        "conversion_key": keyed("r", conversions.number[rows]),
        "occurred_at": pa.array((conversions.ts[rows] + REFUND_AFTER) * 1_000_000),
        "person_key": keyed("p", conversions.person[rows]),
        "conversion_type": repeated("refund_issued", count),
        "value": money(conversions.refund[rows]),
        "currency": repeated("USD", count),
        "refunds_payment_ref": keyed("bench:", conversions.number[rows]),
        "refund_kind": repeated("refund", count),
        "source": repeated("file", count),
    }


def account() -> dict[str, dict[str, pa.Array]]:
    """One ad account with its campaigns, ad sets and ads."""
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


def _entities(**columns: list[str]) -> dict[str, pa.Array]:
    first = next(iter(columns.values()))
    count = len(first)
    rows = {"platform": ["meta"] * count, "name": first, "status": ["ACTIVE"] * count, **columns}
    return {name: pa.array(values) for name, values in rows.items()}


def keyed(prefix: str, numbers: Numbers) -> pa.Array:
    """A key per number, such as t17."""
    return pc.binary_join_element_wise(prefix, pa.array(numbers).cast(pa.string()), "")


def repeated(value: Any, count: int) -> pa.Array:
    """The same value in every row."""
    return pa.repeat(value, count)


def money(cents: Numbers) -> pa.Array:
    """Minor units as amounts with two digits."""
    return pc.multiply(pa.array(cents).cast(pa.decimal128(19, 0)), pa.scalar(Decimal("0.01")))


def write_file(
    root: Path,
    profile_id: str,
    dataset: str,
    columns: Mapping[str, pa.Array],
    *,
    seq: int,
    batch: str = "bench",
) -> Path:
    """Write columns as one landed batch of a set; columns left out are null. `seq` is the landing's own number."""
    schema = raw_schema(load(dataset))
    count = len(next(iter(columns.values())))
    stamps = {
        "_profile_id": repeated(profile_id, count),
        "_source": repeated("bench", count),
        "_batch": repeated(batch, count),
        "_seq": repeated(seq, count),
        "_line": pa.array(np.arange(count)),
        "_loaded_at": repeated(LOADED_AT, count),
        "_deleted": repeated(False, count),
    }
    given = {**columns, **stamps}
    arrays = [
        given[field.name].cast(field.type) if field.name in given else pa.nulls(count, field.type) for field in schema
    ]
    facts = Facts(seq, count, count, 0, f"{dataset}:{batch}", "bench", None, None, LOADED_AT.isoformat())
    path = root / "raw" / dataset / profile_id / "bench" / f"{batch}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_arrays(arrays, schema=schema.with_metadata({META_KEY: json.dumps(asdict(facts)).encode()}))
    pq.write_table(table, path, compression="zstd")
    return path
