"""int_touches and int_conversions of a generated world, made by SQL without the models before them.

A warehouse that the models built from a small world with the same ad accounts gives the profiles, the destinations and
the columns; its two tables are emptied and filled anew. Keys of people are spread over the range that the models' keys
have and those of conversions are mixed, for slices go by ranges and the models' keys are heads of hashes. `differences`
compares with what the models make of the same world: its keys are others, so people are told by who they are.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import yaml

from benchmarks.generated import TYPES, Conversions, Touches, World, chunks, people
from benchmarks.landed import keyed
from orchestration.dbt_manifest import PROJECT

# where the credit of a generated touch goes: an ad, or the reason why it goes to none
PLACES = """
create or replace temp table places as
select
    destinations.profile_key,
    case when destinations.ad_key is not null then cast(substr(entities.platform_id, 2) as int)
        when destinations.reason = 'direct' then -1 else -2 end as spot,
    destinations.destination_key, destinations.ad_set_key, destinations.campaign_key
from intermediate.int_destinations as destinations
left join intermediate.int_entities as entities
    on destinations.profile_key = entities.profile_key and destinations.ad_key = entities.ad_key
    and entities.level = 'ad'
where destinations.ad_key is not null or destinations.reason in ('direct', 'other_channel')
"""
# the next page of a visit with an ad is no touch of its own
TOUCHES = """
with pages as (
    select number, ad, ts, lag(ts) over (partition by person, ad order by ts, 't' || number) as page_before_ts
    from chunk
)

select
    $step * person as person_key, profile_key, ts, 't' || number as touch_key, number as record_no,
    'web' as channel, 'web' as origin, is_direct, destination_key, cast(pos_l as int) as pos_l,
    cast(pos_f as int) as pos_f,
    coalesce(lag(pos_l) over (partition by person, ad_set_key order by pos_l), 0) as prev_set,
    coalesce(lag(pos_l) over (partition by person, campaign_key order by pos_l), 0) as prev_camp
from (
    select
        chunk.*, places.destination_key, places.ad_set_key, places.campaign_key, profiles.profile_key,
        row_number() over (partition by person order by ts, case when is_direct then 0 else 1 end, 't' || number)
            as pos_l,
        row_number() over (partition by person order by ts, case when is_direct then 1 else 0 end, 't' || number)
            as pos_f
    from chunk
    inner join profiles on chunk.profile = profiles.turn
    inner join places
        on profiles.profile_key = places.profile_key
        and places.spot = case when ad >= 0 then ad when is_direct then -1 else -2 end
    where chunk.number not in (select number from pages where ad >= 0 and ts - page_before_ts < $break_s)
)
order by person, pos_l
"""
CONVERSIONS = """
select
    conversion_key, conversion_key as path_conversion_key, profile_key, person_key, ts,
    cast(to_timestamp(ts) at time zone 'UTC' as date) as day,
    conversion_type, conversion_type as outcome, '' as custom_type, outcome_ref,
    case when cents > 0 then 'cash' else 'pipeline' end as revenue_type,
    substr(digest, 1, 8) || '-' || substr(digest, 9, 4) || '-8' || substr(digest, 14, 3) || '-'
    || translate(substr(digest, 17, 1), '0123456789abcdef', '89ab89ab89ab89ab') || substr(digest, 18, 3)
    || '-' || substr(digest, 21, 12) as conversion_id,
    case when cents > 0 then cast(cents - refund as bigint) end as cash_minor,
    cast(refund as bigint) as refunded_minor, cast(null as bigint) as pipeline_minor,
    false as is_shared, false as is_refund_capped, cast(null as date) as unrated_through
from (
    select
        chunk.*, profiles.profile_key, $step * person as person_key,
        md5(profiles.profile_id || ':conversion:' || outcome_ref) as digest,
        cast(
            cast($first + row_number() over (order by person, ts, conversion_type, outcome_ref) as hugeint)
            * 2862933555777941757 % 9223372036854775783 as bigint
        ) as conversion_key
    from chunk
    inner join profiles on chunk.profile = profiles.turn
)
order by person_key, conversion_key
"""
# what names a row in either warehouse, and where a key stands for a person or a conversion
NAMES = {"int_touches": ("person_key", "pos_l"), "int_conversions": ("profile_key", "outcome_ref")}
NUMBERED = ("person_key", "conversion_key", "path_conversion_key", "record_no")


def fill(warehouse: Path, profiles: list[str], world: World, *, threads: int = 2) -> None:
    """Empty both tables of a built warehouse and fill them with the touches and conversions of a world."""
    with duckdb.connect(str(warehouse), config={"threads": threads}) as connection:
        connection.execute("set enable_progress_bar = false")
        break_s = yaml.safe_load((PROJECT / "dbt_project.yml").read_text())["vars"]["visit_break_s"]
        numbered = pa.table({"profile_id": profiles, "turn": range(len(profiles))})
        connection.register("numbered", numbered)
        connection.execute("""
            create temp table profiles as
            select numbered.turn, numbered.profile_id, known.profile_key
            from numbered inner join intermediate.int_profiles as known using (profile_id)
        """)
        connection.execute(PLACES)
        for table in NAMES:
            connection.execute(f"truncate intermediate.{table}")
        first, step = 0, 2**63 // people(world)
        for touches, conversions in chunks(world):
            _insert(connection, "int_touches", _touches(touches), TOUCHES, step=step, break_s=break_s)
            _insert(connection, "int_conversions", _conversions(conversions), CONVERSIONS, step=step, first=first)
            first += len(conversions.number)
        connection.execute("checkpoint")


def _touches(touches: Touches) -> pa.Table:
    return pa.table({name: pa.array(values) for name, values in asdict(touches).items()})


def _conversions(conversions: Conversions) -> pa.Table:
    columns = {name: pa.array(values) for name, values in asdict(conversions).items() if name != "kind"}
    kinds = pa.DictionaryArray.from_arrays(pa.array(conversions.kind, pa.int8()), pa.array(TYPES)).cast(pa.string())
    paid, other = keyed("bench:", conversions.number), keyed("c", conversions.number)
    refs = pc.if_else(pa.array(conversions.kind == 0), paid, other)
    return pa.table({**columns, "conversion_type": kinds, "outcome_ref": refs})


def _insert(connection: duckdb.DuckDBPyConnection, table: str, rows: pa.Table, sql: str, **given: int) -> None:
    connection.register("chunk", rows)
    described = connection.execute(f"describe intermediate.{table}").fetchall()
    wanted = ", ".join(f"cast({name} as {kind}) as {name}" for name, kind, *_ in described)
    connection.execute(f"insert into intermediate.{table} select {wanted} from ({sql})", given or None)
    connection.unregister("chunk")


def differences(built: Path, direct: Path) -> dict[str, int]:
    """Rows of each table that one warehouse has and the other has not, people told by their first touch."""
    with duckdb.connect() as connection:
        connection.execute("set enable_progress_bar = false")
        for name, path in (("built", built), ("direct", direct)):
            connection.execute(f"attach '{path}' as {name} (read_only)")
            connection.execute(_who(name))
        return {table: _differing(connection, table) for table in NAMES}


def _who(database: str) -> str:
    return f"""
        create temp table {database}_people as
        select person_key, rank() over (
            order by profile_key, ts, last_ts, touches, place, last_place, day_sum
        ) as who
        from (
            select person_key, min(profile_key) as profile_key, min(ts) as ts, max(ts) as last_ts,
                count(*) as touches, min_by(destination_key, pos_l) as place,
                max_by(destination_key, pos_l) as last_place, sum(ts) as day_sum
            from {database}.intermediate.int_touches group by person_key
        )
    """


def _differing(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    names = [row[0] for row in connection.execute(f"describe direct.intermediate.{table}").fetchall()]
    same = ", ".join(f"rows.{name}" for name in names if name not in NUMBERED)
    sides = [
        f"select people.who, {same} from {database}.intermediate.{table} as rows"
        f" inner join {database}_people as people on rows.person_key = people.person_key"
        for database in ("built", "direct")
    ]
    return sum(
        int(connection.execute(f"select count(*) from ({one} except all {other})").fetchall()[0][0])
        for one, other in (sides, sides[::-1])
    )
