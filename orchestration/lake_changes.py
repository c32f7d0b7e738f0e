"""Schema `changes` of the warehouse: what files of the lake that came or went say of touches and conversions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from orchestration.landed_facts import AS_THEY_ARE, SCHEMA
from orchestration.limits import limits
from touchledger.settings import Settings

# data sets whose files are followed, by the key that tells their records apart within a profile
KEYS = {"touches": "touch_key", "conversions": "conversion_key"}


def tell_changes(settings: Settings, new: Sequence[str], gone: Sequence[int], *, withdrew: Collection[str]) -> None:
    """Write what files of the lake, by their paths in it, bring, and landings of files that went or changed took away.

    Of each data set: `touch_keys`, whose records those are, and `touches`, every version of them as the lake has it.
    `withdrew` names the sets of which a landing that went had withdrawn a record.
    """
    with duckdb.connect(str(settings.warehouse), config=limits(settings)) as connection:
        connection.execute("create schema if not exists changes")
        connection.execute("set TimeZone = 'UTC'")
        for dataset, key in KEYS.items():
            folder = settings.lake / "raw" / dataset
            files = [str(settings.lake / path) for path in new if path.startswith(f"raw/{dataset}/")]
            every = str(folder / "**" / "*.parquet")
            told = Changes(connection, dataset, key, [str(folder / SCHEMA), *files], every, list(gone))
            told.tell(withdrawn=dataset in withdrew)


def take_over(settings: Settings, build: str) -> str:
    """Write into the warehouse which build goes on with it, and give which one left it; "" where nobody knows."""
    with duckdb.connect(str(settings.warehouse), config=limits(settings)) as connection:
        connection.execute("create schema if not exists changes")
        connection.execute("create table if not exists changes.build (id varchar)")
        left = connection.execute("select id from changes.build").fetchone()
        connection.execute("create or replace table changes.build as select ? as id", [build])
    return str(left[0]) if left else ""


@dataclass(frozen=True)
class Changes:
    """What `new` files or `gone` landings hold of one data set, whose records are told apart by `key`."""

    connection: duckdb.DuckDBPyConnection
    dataset: str
    key: str
    new: list[str]
    every: str
    gone: list[int]

    def tell(self, *, withdrawn: bool) -> None:
        """Write the keys and the records; of touches also touch_identities, whose they were."""
        self._run(
            "create or replace table changes.{key}s as"
            " select distinct _profile_id as profile_id, {key} from read_parquet($new, {as_they_are})"
            " union select profile_id, {key} from staging.stg_app__{dataset}"
            " where list_contains($gone, record_no // 4294967296)",
            new=self.new,
            gone=self.gone,
        )
        if withdrawn:
            # the withdrawal left no row: what it was of is in the lake again, and may be newer than what came after it
            self._run(
                "insert into changes.{key}s select _profile_id, {key} from"
                " (select _profile_id, {key}, count(*) as versions"
                " from read_parquet($every, {as_they_are}) where not _deleted group by all)"
                " where (_profile_id, {key}) not in (select (profile_id, {key}) from changes.{key}s)"
                " and (versions > 1"
                " or (_profile_id, {key}) not in (select (profile_id, {key}) from staging.stg_app__{dataset}))",
                every=self.every,
            )
        # a key that is nowhere else, as nearly every new record's, needs no look at the columns of the old ones
        self._run(
            "create or replace temp table older as select _seq, _line from"
            " read_parquet($every, {as_they_are}) as records"
            " semi join changes.{key}s as keys"
            " on records._profile_id = keys.profile_id and records.{key} = keys.{key}"
            " where _seq not in (select _seq from read_parquet($new, {as_they_are}))",
            every=self.every,
            new=self.new,
        )
        self._run(
            "create or replace table changes.{dataset} as select * from read_parquet($new, {as_they_are})",
            new=self.new,
        )
        if self._count("older"):
            self._run(
                "insert into changes.{dataset} by name select records.* from"
                " read_parquet($every, {as_they_are}) as records"
                " semi join older on records._seq = older._seq and records._line = older._line",
                every=self.every,
            )
        if self.dataset == "touches":
            self._run(
                "create or replace table changes.touch_identities as"
                " select profile_id, identity_key, min(occurred_s) as occurred_s from staging.stg_app__touches"
                " where $known and (profile_id, touch_key) in (from changes.touch_keys) group by all",
                known=bool(self.gone or self._count("older")),
            )

    def _run(self, sql: str, **values: Any) -> None:
        self.connection.execute(sql.format(key=self.key, dataset=self.dataset, as_they_are=AS_THEY_ARE), values or None)

    def _count(self, table: str) -> int:
        row = self.connection.execute(f"select count(*) from {table}").fetchone()  # noqa: S608 - our own name
        return int(row[0]) if row else 0
