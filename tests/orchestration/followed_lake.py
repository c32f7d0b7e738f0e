"""A lake whose files builds follow, and a warehouse as one left it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from orchestration import increment
from orchestration.lake import Lake
from touchledger.settings import Settings

AT = "2026-03-01T00:00:00Z"
BUILD = ["build", "--no-write-json"]


def build(home: Path) -> None:
    """A lake of two landings of touches and one of conversions, and a warehouse that a build just made of them."""
    found = Settings(home=home)
    Lake(found.lake).prepare()
    convert(found, "lead")
    land(found, "one", ["a", "b"])
    land(found, "two", ["c"])
    found.warehouse.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(str(found.warehouse)) as connection:
        connection.execute("create schema staging")
        connection.execute(
            "create table staging.stg_app__touches as select _profile_id as profile_id, touch_key,"
            " _seq * 4294967296 + _line as record_no, 'person_key:' || person_key as identity_key,"
            " epoch(occurred_at)::bigint as occurred_s"
            f" from read_parquet('{found.lake}/raw/touches/**/*.parquet', union_by_name = true)"
        )
        connection.execute(
            "create table staging.stg_app__conversions as select _profile_id as profile_id, conversion_key,"
            " _seq * 4294967296 + _line as record_no"
            f" from read_parquet('{found.lake}/raw/conversions/**/*.parquet', union_by_name = true)"
        )
    arguments, base = increment.begin(found, BUILD)
    assert arguments == ["build", "--full-refresh", "--no-write-json"] and base is not None
    increment.end(found, base)


def land(settings: Settings, batch: str, keys: Sequence[str], *, channel: str = "web", withdraws: bool = False) -> None:
    """Land touches of these keys, each of a person of that name, or what withdraws them."""
    rows = [
        {
            "touch_key": key,
            "occurred_at": AT,
            "person_key": key,
            "channel": channel,
            "origin": "web",
            "_deleted": withdraws,
        }
        for key in keys
    ]
    Lake(settings.lake).land(dataset="touches", profile_id="p", source="test", batch=batch, records=rows)


def convert(settings: Settings, batch: str, *keys: str) -> None:
    """Land leads of these keys, each of a person of that name."""
    lead = {"occurred_at": AT, "conversion_type": "lead_created"}
    rows = [{**lead, "conversion_key": key, "person_key": key} for key in keys or ("lead",)]
    Lake(settings.lake).land(dataset="conversions", profile_id="p", source="test", batch=batch, records=rows)


def told(settings: Settings, sql: str) -> list[tuple[Any, ...]]:
    """Rows of the warehouse, in order."""
    with duckdb.connect(str(settings.warehouse)) as connection:
        return sorted(connection.execute(sql).fetchall())
