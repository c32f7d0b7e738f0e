"""Other ways to credit in SQL, and the physical bounds, over the tables that the credit stage reads (attached as w).

Each makes conversion by destination under five models without cents; `moments` are what must be equal: for each model
the sum over its credit of weight times destination key.
"""

from __future__ import annotations

from collections.abc import Callable

import duckdb

MODELS = ("last_touch", "first_touch", "last_non_direct", "linear", "time_decay")
LOOKBACK, HALF_LIFE = 90 * 86_400, 7 * 86_400
# what the credit stage reads of a touch
COLUMNS = "person_key, ts, is_direct, destination_key, pos_l, pos_f, prev_set, prev_camp"
DECAY = f"exp((t.ts - c.ts) * ln(2) / {HALF_LIFE})"
PAIRS = f"""
    from w.intermediate.int_conversions as c
    inner join w.intermediate.int_touches as t
        on c.person_key = t.person_key and t.ts <= c.ts and t.ts >= c.ts - {LOOKBACK}
    where c.path_conversion_key = c.conversion_key
"""
ORDERS = {"last_touch": "t.pos_l desc", "first_touch": "t.pos_f", "last_non_direct": "t.is_direct, t.pos_l desc"}

# the form a first attempt takes: every pair of touch and conversion, ranked and weighed by windows
NAIVE = """
    create table naive as
    select
        conversion, destination,
        sum(case when newest = 1 then 1 else 0 end) as last_touch,
        sum(case when oldest = 1 then 1 else 0 end) as first_touch,
        sum(case when newest_non_direct = 1 then 1 else 0 end) as last_non_direct,
        sum(1.0 / touches) as linear,
        sum(decay / total_decay) as time_decay
    from (
        select
            {conversion} as conversion, {destination} as destination,
            row_number() over (partition by {conversion} order by {last}) as newest,
            row_number() over (partition by {conversion} order by {first}) as oldest,
            row_number() over (partition by {conversion} order by t.is_direct, {last}) as newest_non_direct,
            count(*) over (partition by {conversion}) as touches,
            {decay} as decay,
            sum({decay}) over (partition by {conversion}) as total_decay
        {pairs}
    ) as pairs
    group by conversion, destination
"""
SMALL_KEYS = {
    "conversion": "c.conversion_key",
    "destination": "t.destination_key",
    "last": "t.pos_l desc",
    "first": "t.pos_f",
    "decay": DECAY,
    "pairs": PAIRS,
}
TEXT_KEYS = {
    "conversion": "c.conversion_id",
    "destination": "t.destination_id",
    "last": "t.ts desc, t.is_direct, t.touch_id desc",
    "first": "t.ts, t.is_direct, t.touch_id",
    "decay": DECAY,
    "pairs": f"""
        from u.conversions as c
        inner join u.touches as t
            on c.person_id = t.person_id and t.ts <= c.ts and t.ts >= c.ts - {LOOKBACK}
    """,
}
# the same rows under keys as they come from outside, made before the clock runs
TEXTS = {
    "touches": """
        select cast(md5('p' || person_key) as uuid)::varchar as person_id, ts, is_direct,
            cast(md5('d' || destination_key) as uuid)::varchar as destination_id,
            cast(md5('t' || person_key || ':' || pos_l) as uuid)::varchar as touch_id
        from w.intermediate.int_touches
    """,
    "conversions": """
        select cast(md5('p' || person_key) as uuid)::varchar as person_id, ts,
            cast(md5('c' || conversion_key) as uuid)::varchar as conversion_id
        from w.intermediate.int_conversions where path_conversion_key = conversion_key
    """,
    "names": """
        select distinct cast(md5('d' || destination_key) as uuid)::varchar as destination_id, destination_key
        from w.intermediate.int_touches
    """,
}
# what a data frame is given
FRAME_COLUMNS = "person_key, ts, is_direct, destination_key, pos_l, pos_f"
FRAME_CONVERSIONS = """
    select conversion_key, person_key, ts from w.intermediate.int_conversions
    where path_conversion_key = conversion_key and person_key is not null
"""
ARRIVED = f"create table arrived as select {COLUMNS} from w.intermediate.int_touches order by ts"


def five_models(connection: duckdb.DuckDBPyConnection) -> None:
    """Five statements, each with a join and a window of its own."""
    for model, order in ORDERS.items():
        connection.execute(f"""
            create table {model} as
            select c.conversion_key as conversion, t.destination_key as destination, 1.0 as weight {PAIRS}
            qualify row_number() over (partition by c.conversion_key order by {order}) = 1
        """)
    for model, weight in (("linear", "1.0"), ("time_decay", DECAY)):
        connection.execute(f"""
            create table {model} as
            select conversion, destination, sum(weight) as weight from (
                select c.conversion_key as conversion, t.destination_key as destination,
                    {weight} / sum({weight}) over (partition by c.conversion_key) as weight {PAIRS}
            ) as weighed
            group by conversion, destination
        """)


def naive(connection: duckdb.DuckDBPyConnection) -> None:
    """One statement: windows over every pair, integer keys."""
    connection.execute(NAIVE.format(**SMALL_KEYS))


def naive_on_texts(connection: duckdb.DuckDBPyConnection) -> None:
    """The same on UUIDs kept as text."""
    connection.execute(NAIVE.format(**TEXT_KEYS))


def scan(connection: duckdb.DuckDBPyConnection) -> None:
    """Every column of a touch that the credit stage reads, read once."""
    sums = ", ".join(f"sum({name})" for name in COLUMNS.replace("is_direct", "cast(is_direct as int)").split(", "))
    connection.execute(f"select {sums} from w.intermediate.int_touches").fetchall()


def sort(connection: duckdb.DuckDBPyConnection) -> None:
    """The same columns, in the order of time, sorted once by person and time."""
    connection.execute("create table sorted as select * from arrived order by person_key, ts")


WAYS: dict[str, Callable[[duckdb.DuckDBPyConnection], None]] = {
    "five models in SQL": five_models,
    "naive windows in SQL": naive,
    "naive windows on UUID texts": naive_on_texts,
    "one scan of its columns": scan,
    "one sort of its columns": sort,
}


def moments(connection: duckdb.DuckDBPyConnection, way: str) -> dict[str, float]:
    """What a way credited, to be compared; empty for a bound."""
    if way == "five models in SQL":
        sums = ", ".join(f"(select sum(weight * destination) from {model})" for model in MODELS)
        query = f"select {sums}"
    elif way == "naive windows in SQL":
        query = f"select {', '.join(f'sum({model} * destination)' for model in MODELS)} from naive"
    elif way == "naive windows on UUID texts":
        sums = ", ".join(f"sum({model} * destination_key)" for model in MODELS)
        query = f"select {sums} from naive inner join u.names on destination = destination_id"
    else:
        return {}
    row = connection.execute(query).fetchall()[0]
    return {model: float(value) for model, value in zip(MODELS, row, strict=True)}
