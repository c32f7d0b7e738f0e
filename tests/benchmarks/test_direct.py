"""The tables that large benchmarks fill themselves have the columns that the models document."""

from __future__ import annotations

from pathlib import Path

import duckdb
import yaml

from benchmarks.direct import NAMES, fill
from benchmarks.generated import World

MODELS = Path(__file__).resolve().parents[2] / "dbt_project" / "models" / "intermediate"


def documented(model: str) -> list[str]:
    (path,) = MODELS.rglob(f"{model}.yml")
    return [column["name"] for column in yaml.safe_load(path.read_text())["models"][0]["columns"]]


def test_every_column_that_the_models_document_is_filled(tmp_path: Path) -> None:
    warehouse = tmp_path / "warehouse.duckdb"
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute("create schema intermediate")
        connection.execute("create table intermediate.int_profiles as select 'p' as profile_id, 1 as profile_key")
        connection.execute("create table intermediate.int_entities (profile_key int, platform_id text, level text)")
        connection.execute("alter table intermediate.int_entities add column ad_key bigint")
        connection.execute("""
            create table intermediate.int_destinations as
            select 1 as profile_key, reason, 1 as destination_key, null::bigint as ad_key, null::bigint as ad_set_key,
                null::bigint as campaign_key
            from (values ('direct'), ('other_channel')) as reasons (reason)
        """)
        for table in NAMES:
            columns = ", ".join(f"{name} text" for name in documented(table))
            connection.execute(f"create table intermediate.{table} ({columns})")
    fill(warehouse, ["p"], World(1000))
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        for table in NAMES:
            (told,) = connection.execute(f"select count(*) from intermediate.{table}").fetchall()
            assert told[0] > 0
