"""The benchmark's data and tables; its figures are taken by `make bench`."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest

from benchmarks import foreign, peer_sql
from benchmarks.contestant import OURS
from benchmarks.credit import disagreements
from benchmarks.credit_table import rows
from benchmarks.direct import differences
from benchmarks.generated import World, chunks
from benchmarks.landed import land
from benchmarks.sizes import size, written

ROOT = Path(__file__).resolve().parents[2]
SMALL = World(3_000, profiles=2)


def _all(world: World, chunk: int) -> dict[str, np.ndarray]:
    parts = list(chunks(world, chunk))
    return {
        f"{side}.{name}": np.concatenate([getattr(part[side], name) for part in parts])
        for side in (0, 1)
        for name in vars(parts[0][side])
    }


def test_the_same_world_is_generated_twice_and_another_seed_is_another_world() -> None:
    one, again, other = (_all(world, 1_000) for world in (SMALL, SMALL, replace(SMALL, seed=8)))
    assert all(np.array_equal(one[name], again[name]) for name in one)
    assert not np.array_equal(one["0.ts"][:100], other["0.ts"][:100])


@pytest.mark.parametrize(("kind", "longest"), [("skewed", 800), ("light", 30)])
def test_people_are_whole_and_touches_are_numbered_through(kind: str, longest: int) -> None:
    world = _all(replace(SMALL, touches=20_000, kind=kind), 6_000)
    assert np.array_equal(world["0.number"], np.arange(len(world["0.number"])))
    assert 20_000 <= len(world["0.number"]) < 20_000 + longest
    lengths = np.bincount(world["0.person"])
    assert 30 <= lengths.max() <= longest
    people = np.unique(np.stack([world["0.person"], world["0.profile"]]), axis=1)
    assert people.shape[1] == len(lengths)


def test_a_landed_world_has_the_rows_of_the_generated_one(tmp_path: Path) -> None:
    land(tmp_path, ["p", "q"], SMALL, chunk_touches=1_000)
    landed = pq.read_table(tmp_path / "raw" / "touches")
    world = _all(SMALL, 1_000)
    assert sorted(landed["touch_key"].to_pylist()) == sorted(f"t{number}" for number in world["0.number"])
    assert len(set(landed["_seq"].to_pylist())) == len(list((tmp_path / "raw" / "touches").rglob("*.parquet")))
    paid = pq.read_table(tmp_path / "raw" / "conversions").filter(_kind("payment_received"))
    assert int(sum(paid["value"].to_pylist()) * 100) == world["1.cents"].sum()


def _kind(name: str) -> object:
    import pyarrow.compute as pc

    return pc.field("conversion_type") == name


@pytest.fixture
def pairs(tmp_path: Path) -> duckdb.DuckDBPyConnection:
    """Two people: one with a direct touch last and one ad twice, one with touches too old or too late."""
    connection = duckdb.connect()
    connection.execute("set enable_progress_bar = false")
    connection.execute(f"attach '{tmp_path / 'w.duckdb'}' as w")
    connection.execute("""
        create schema w.intermediate;
        create table w.intermediate.int_touches as select * from (values
            (1, 9000000, false, 10, 1, 1), (1, 9100000, false, 20, 2, 2), (1, 9200000, false, 10, 3, 3),
            (1, 9300000, true, 30, 4, 4), (2, 100, false, 20, 1, 1), (2, 9000000, false, 40, 2, 2),
            (2, 9900000, false, 20, 3, 3)
        ) as t(person_key, ts, is_direct, destination_key, pos_l, pos_f);
        create table w.intermediate.int_conversions as select * from (values
            (1, 1, 1, 9400000), (2, 2, 2, 9500000)
        ) as c(conversion_key, path_conversion_key, person_key, ts);
    """)
    connection.execute(f"attach '{tmp_path / 'u.duckdb'}' as u")
    for name, sql in peer_sql.TEXTS.items():
        connection.execute(f"create table u.{name} as {sql}")
    return connection


def test_every_way_in_sql_credits_alike(pairs: duckdb.DuckDBPyConnection) -> None:
    moments = {}
    for way in ("five models in SQL", "naive windows in SQL", "naive windows on UUID texts"):
        peer_sql.WAYS[way](pairs)
        moments[way] = peer_sql.moments(pairs, way)
        pairs.execute("drop table if exists naive")
    expected = {"last_touch": 30 + 40, "first_touch": 10 + 40, "last_non_direct": 10 + 40, "linear": 17.5 + 40}
    for told in moments.values():
        assert {model: pytest.approx(told[model]) for model in expected} == expected
    first, *others = (told["time_decay"] for told in moments.values())
    assert others == pytest.approx([first, first])


def test_pandas_is_not_said_to_credit_otherwise_where_keys_are_long(
    pairs: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    files = {name: str(tmp_path / name) for name in ("touches", "conversions")}
    long = "9000000000000000000 + destination_key as destination_key"
    for name, columns in (("touches", f"* replace ({long})"), ("conversions", "conversion_key, person_key, ts")):
        pairs.execute(f"copy (select {columns} from w.intermediate.int_{name}) to '{files[name]}' (format parquet)")
    moments = foreign.with_pandas(**files)["moments"]
    # each of two conversions gives one in all
    assert moments == {model: pytest.approx(2 * 9e18) for model in peer_sql.MODELS}


def test_a_contestant_that_credits_otherwise_is_named_with_the_model() -> None:
    ours = {"last_touch": 100.0, "linear": 50.0}
    told = {OURS: ours, "same": dict(ours), "other": {"last_touch": 101.0, "linear": 50.0}, "bound": {}}
    assert disagreements(told) == {"other": ["last_touch"]}


def test_ratios_are_of_cpu_and_a_bound_is_told_as_a_share_of_ours() -> None:
    cost = {"wall": 1.0, "peak_mb": 2_000, "told": {}}
    ways = {OURS: 2.0, "polars": 6.0, "one scan of its columns": 0.1}
    table = rows({"contestants": {way: {**cost, "cpu": cpu} for way, cpu in ways.items()}})
    assert [row[:3] for row in table] == [
        (OURS, "1", "2.00"),
        ("polars", "3.0", "6.00"),
        ("one scan of its columns", "1/20.0", "0.10"),
    ]


def test_what_others_compute_too_is_told_apart() -> None:
    told = {"CPU seconds by model": {"int_credits": 1.0, "int_paths": 0.2, "int_credit_shares": 0.7}}
    table = rows({"contestants": {OURS: {"wall": 1.0, "peak_mb": 2_000, "cpu": 2.0, "told": told}}})
    assert [row[:3] for row in table] == [(OURS, "1", "2.00"), ("of these, without cents", "0.6", "1.20")]


@pytest.mark.parametrize(("changed", "differing"), [("", 0), ("update int_touches set ts = ts + 1 where pos_l = 2", 2)])
def test_a_row_that_differs_is_counted_on_both_sides_whatever_its_person_is_numbered(
    tmp_path: Path, changed: str, differing: int
) -> None:
    for name, shift, change in (("built", 10, ""), ("direct", 0, changed)):
        with duckdb.connect(str(tmp_path / name)) as connection:
            connection.execute(f"""
                create schema intermediate;
                create table intermediate.int_touches as
                select person + {shift} as person_key, 1 as profile_key, ts, destination_key, pos_l from (values
                    (1, 100, 5, 1), (1, 200, 6, 2), (1, 300, 6, 3), (2, 50, 5, 1)
                ) as t(person, ts, destination_key, pos_l);
                create table intermediate.int_conversions as
                select 1 as person_key, 1 as profile_key, 'c' as outcome_ref where false;
                use intermediate;
                {change};
            """)
    assert differences(tmp_path / "built", tmp_path / "direct") == {"int_touches": differing, "int_conversions": 0}


def test_sizes_are_read_as_they_are_written() -> None:
    for text in ("200k", "1M", "50M"):
        assert written(size(text)) == text


def test_the_lock_of_the_peers_is_hashed_and_names_no_index() -> None:
    lock = (ROOT / "requirements-bench.lock").read_text()
    assert "--hash=sha256:" in lock
    assert not re.search(r"(--index-url|--extra-index-url|--find-links|https?://|file://)", lock)
