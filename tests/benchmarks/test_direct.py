"""The tables that large benchmarks fill themselves have the columns that the models document."""

from __future__ import annotations

from pathlib import Path

import duckdb
import yaml

from benchmarks.direct import NAMES, fill
from benchmarks.generated import World, chunks

MODELS = Path(__file__).resolve().parents[2] / "dbt_project" / "models" / "intermediate"


def documented(model: str) -> list[str]:
    (path,) = MODELS.rglob(f"{model}.yml")
    return [column["name"] for column in yaml.safe_load(path.read_text())["models"][0]["columns"]]


def filled(folder: Path, world: World) -> Path:
    """A warehouse with both tables filled, of one profile whose touches have ads 0 to 499."""
    warehouse = folder / "warehouse.duckdb"
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute("create schema intermediate")
        connection.execute("create table intermediate.int_profiles as select 'p' as profile_id, 1 as profile_key")
        connection.execute("""
            create table intermediate.int_entities as
            select 1 as profile_key, 'a' || n as platform_id, 'ad' as level, 10 + n as ad_key from range(500) t(n)
        """)
        connection.execute("""
            create table intermediate.int_destinations as
            select profile_key, null as reason, ad_key as destination_key, ad_key, 1 as ad_set_key, 1 as campaign_key
            from intermediate.int_entities
            union all
            select 1, unnest(['direct', 'other_channel']), unnest([1, 2]), null, null, null
        """)
        for table in NAMES:
            columns = ", ".join(f"{name} text" for name in documented(table))
            connection.execute(f"create table intermediate.{table} ({columns})")
    fill(warehouse, ["p"], world)
    return warehouse


def test_every_column_that_the_models_document_is_filled(tmp_path: Path) -> None:
    warehouse = filled(tmp_path, World(1000))
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        for table in NAMES:
            (told,) = connection.execute(f"select count(*) from intermediate.{table}").fetchall()
            assert told[0] > 0


def test_pages_of_a_visit_with_an_ad_are_one_touch_as_the_models_have_it(tmp_path: Path) -> None:
    world = World(30_000)
    told = sum(len(touches.ts) for touches, _ in chunks(world))
    with duckdb.connect(str(filled(tmp_path, world)), read_only=True) as connection:
        near, kept = connection.execute("""
            select count(*) filter (cast(destination_key as bigint) >= 10 and cast(ts as bigint) - before < 1800),
                count(*)
            from (
                select *, lag(cast(ts as bigint)) over (
                    partition by person_key, destination_key order by cast(ts as bigint)) as before
                from intermediate.int_touches
            )
        """).fetchall()[0]
    assert near == 0
    assert 0 < told - kept < 100
