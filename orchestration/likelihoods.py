"""marts.ad_likelihoods: what the ranker last told of every scored ad; an empty table where it has not run.

The one served table that SQL does not make (`data_contracts.contract.FITTED`): its rows are the values of a fit. The
build only joins them to the ads of its own scores, so it never waits for a fit and needs none of its libraries.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb

from orchestration.ranking.standing import PROVEN, STALE_AFTER
from orchestration.served_tables import quoted, served_tables
from touchledger.settings import Settings

NAME = "ad_likelihoods"
# a day's values may be told for a week; older ones are of another ad's life
TOLD_FOR_DAYS = 7

ROWS = """
with told as (select * from read_parquet($file, hive_partitioning = false)),
wanted as (
    select s.profile_key, s.score_window, s.entity_key, s.score_date, t.measure, t.reason, t.model_version,
        a.reason as ad_reason, a.value, a.label,
        s.score_date - t.evaluated_on > $stale or s.score_date - t.told_on > $fresh as is_old
    from marts.ad_scores as s
    inner join marts.profiles as p on s.profile_key = p.profile_key
    inner join marts.entities as e
        on s.profile_key = e.profile_key and s.entity_key = e.entity_key and e.level = 'ad'
    inner join told as t
        on t.ad_id is null and p.profile_id = t.profile_id and s.cohort_objective = t.objective
    left join told as a
        on a.ad_id = e.entity_id and p.profile_id = a.profile_id and t.measure = a.measure
        and s.cohort_objective = a.objective
),
reasoned as (
    select *,
        case
            when reason <> $proven then reason
            when is_old then 'stale'
            else coalesce(ad_reason, 'not_scored')
        end as why
    from wanted
)
select profile_key, score_window, entity_key, measure,
    case when why = $proven then value end as value,
    case when why in ($proven, 'already_fatigued') then label end as label,
    case when why = $proven or (why = 'already_fatigued' and label is not null) then 'served' else 'withheld' end
        as status,
    why as reason,
    case when why not in ('not_scored', 'no_baseline') then model_version end as model_version
from reasoned
"""


def told_file(settings: Settings) -> Path:
    """Where the ranker leaves what it tells of today's ads."""
    return settings.home / "ranking" / "told.parquet"


@dataclass(frozen=True)
class Written:
    """Rows written, and why the ranker's file could not be read; empty when it could, or was never there."""

    rows: int
    problem: str = ""


def write_likelihoods(settings: Settings) -> Written:
    """Write the table into the warehouse, whole or not at all. The caller is the only writer.

    A file that cannot be read is as good as none: the scores by rules are published all the same.
    """
    (table,) = [one for one in served_tables() if one.name == NAME]
    columns = ", ".join(f"{quoted(column.name)} {column.type}" for column in table.columns)
    file, problem = told_file(settings), ""
    with duckdb.connect(str(settings.warehouse)) as warehouse:
        warehouse.execute("create schema if not exists marts")
        warehouse.execute(f"create or replace table marts.{NAME} ({columns})")
        if file.exists():
            values = {"file": str(file), "stale": STALE_AFTER.days, "fresh": TOLD_FOR_DAYS, "proven": PROVEN}
            try:
                warehouse.execute(f"insert into marts.{NAME} by name {ROWS}", values)
            except duckdb.Error as error:
                problem = str(error)
        count = warehouse.execute(f"select count(*) from marts.{NAME}").fetchone()  # noqa: S608
    return Written(int(count[0]) if count else 0, problem)
