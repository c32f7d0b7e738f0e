"""What the models are measured against, over the same tables in the same run."""

from __future__ import annotations

import time
from pathlib import Path

import duckdb

PAIRS = """
    from intermediate.int_conversions as c
    inner join intermediate.int_touches as t
        on c.person_key = t.person_key and t.ts <= c.ts and t.ts >= c.ts - 90 * 86400
"""

# the form a first attempt takes: every pair of touch and conversion, ranked and weighed by windows
NAIVE_WINDOWS = f"""
    create or replace temp table naive as
    select
        conversion_key, destination_key,
        sum(case when newest = 1 then 1 else 0 end) as last_touch,
        sum(case when oldest = 1 then 1 else 0 end) as first_touch,
        sum(case when newest_non_direct = 1 and not is_direct then 1 else 0 end) as last_non_direct,
        sum(1.0 / touches) as linear,
        sum(decay / total_decay) as time_decay
    from (
        select
            c.conversion_key, t.destination_key, t.is_direct,
            row_number() over (partition by c.conversion_key order by t.pos_l desc) as newest,
            row_number() over (partition by c.conversion_key order by t.pos_f) as oldest,
            row_number() over (partition by c.conversion_key order by t.is_direct, t.pos_l desc) as newest_non_direct,
            count(*) over (partition by c.conversion_key) as touches,
            exp((t.ts - c.ts) * ln(2) / 604800) as decay,
            sum(exp((t.ts - c.ts) * ln(2) / 604800)) over (partition by c.conversion_key) as total_decay
        {PAIRS}
    ) as pairs
    group by conversion_key, destination_key
"""

SCAN = "select sum(person_key), sum(ts), sum(destination_key), sum(pos_l), sum(pos_f) from intermediate.int_touches"
PAIR_COUNT = f"select count(*) {PAIRS}"


def seconds_of(warehouse: Path, query: str, *, threads: int) -> float:
    """Wall seconds of one query over the built warehouse."""
    with duckdb.connect(str(warehouse), config={"threads": threads}) as connection:
        begun = time.perf_counter()
        connection.execute(query).fetchall()
        return time.perf_counter() - begun


def count_of(warehouse: Path, query: str) -> int:
    """The one number a query gives."""
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        return int(connection.execute(query).fetchall()[0][0])
