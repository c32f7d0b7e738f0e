"""`make laws`: a million generated outcomes through the shipped models, every cent and count of them added up.

The laws are SQL over the built warehouse; what the money must be is computed from the generated integers alone.
"""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from orchestration.dbt_manifest import target
from tests.dbt_project.project import Project
from tests.laws.journeys import Expected, generate
from touchledger.settings import Settings

JUDGED = ("+credit_daily", "+unattributed_daily", "+outcomes_daily", "+profiles")
COUNTS = (
    "appointment_attended + appointment_booked + closed_won + dm_started + lead_created + payment_received"
    " + quote_presented"
)
SIZES = ("int_conversions", "int_touches", "int_credit_cents")
# each law as the units by which it is broken: minor units of money, or outcomes
LAWS = {
    "cents of an outcome and model add up to it": """
        select coalesce(sum(abs(off)), 0) from (
            select coalesce(any_value(c.cash_minor), any_value(c.pipeline_minor)) - sum(s.cents) as off
            from intermediate.int_credit_cents as s
            join intermediate.int_conversions as c using (conversion_key)
            group by conversion_key, s.model
        )""",
    "each outcome with money and a path has all five models": """
        select count(*) from (
            select c.conversion_key, count(distinct s.model) as models
            from intermediate.int_conversions as c
            join intermediate.int_paths as p on c.path_conversion_key = p.conversion_key
            left join intermediate.int_credit_cents as s on c.conversion_key = s.conversion_key
            where coalesce(c.cash_minor, c.pipeline_minor) is not null
            group by c.conversion_key
        ) where models <> 5""",
    "the five models' totals are equal": """
        select coalesce(max(cents) - min(cents), 0) from (
            select profile_key, s.model, sum(s.cents) as cents
            from intermediate.int_credit_cents as s
            join intermediate.int_conversions as c using (conversion_key)
            group by all
        ) group by profile_key order by 1 desc limit 1""",
    "rows + unattributed = all cash, per day, model and level": """
        select coalesce(sum(abs(off)), 0) from (
            select m.profile_key, m.day, m.model, m.level, sum(m.cash_minor) - any_value(o.cash_minor) as off
            from (
                select profile_key, day, model, level, cash_minor from marts.credit_daily
                union all select profile_key, day, model, level, cash_minor from marts.unattributed_daily
            ) as m full join marts.outcomes_daily as o using (profile_key, day)
            group by all
        )""",
    "rows + unattributed = all outcomes, under single-touch models": f"""
        select coalesce(sum(abs(off)), 0) from (
            select m.profile_key, m.day, m.model, m.level, sum(m.n) - any_value({COUNTS}) as off
            from (
                select profile_key, day, model, level, {COUNTS} as n from marts.credit_daily
                union all select profile_key, day, model, level, {COUNTS} from marts.unattributed_daily
            ) as m full join marts.outcomes_daily as o using (profile_key, day)
            where m.model in ('first_touch', 'last_touch', 'last_non_direct')
            group by all
        )""",
    "weights of a path add up to one": """
        select count(*) from (
            select conversion_key
            from intermediate.int_paths as p join intermediate.int_credits as c using (conversion_key)
            group by conversion_key, p.n, p.s_dec having sum(c.k) <> p.n or sum(c.w_dec) <> p.s_dec
        )""",
}


@dataclass(frozen=True)
class Finding:
    """A law and the units by which it is broken, 0 when it holds."""

    law: str
    off: int


def judge(project: Project, expected: dict[str, Expected]) -> list[Finding]:
    """Every law over a built warehouse."""
    found = [Finding(law, int(project.rows(query)[0][0])) for law, query in LAWS.items()]
    told = project.rows(
        f"select profile_id, sum({COUNTS}), sum(o.cash_minor)"
        " from marts.outcomes_daily as o join marts.profiles using (profile_key) group by all"
    )
    off = {profile: (n - expected[profile].outcomes, cash - expected[profile].cash_minor) for profile, n, cash in told}
    missing = expected.keys() - off.keys()
    outcomes = sum(abs(count) for count, _ in off.values()) + sum(expected[one].outcomes for one in missing)
    cash = sum(abs(cents) for _, cents in off.values()) + sum(expected[one].cash_minor for one in missing)
    return [
        *found,
        Finding("as many outcomes as were generated", int(outcomes)),
        Finding("net cash is what the generated integers say", int(cash)),
    ]


def built(home: Path, *, conversions: int, seed: int) -> tuple[Project, dict[str, Expected]]:
    """A warehouse of that many generated outcomes."""
    project = Project(Settings(home=home))
    expected = generate(project.lake, conversions=conversions, seed=seed)
    project.dbt("run", "--quiet", "--select", *JUDGED)
    return project, expected


@click.command()
@click.option("--conversions", default=1_000_000, show_default=True)
@click.option("--seed", default=7, show_default=True)
def main(conversions: int, seed: int) -> None:
    """Generate, build, judge; ends with an error when anything is off."""
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        project, expected = built(Path(folder) / "home", conversions=conversions, seed=seed)
        ready = time.perf_counter()
        found = judge(project, expected)
        ended = time.perf_counter()
        results = json.loads((target(project.settings) / "run_results.json").read_text())
        sizes = [project.rows(f"select count(*) from intermediate.{name}")[0][0] for name in SIZES]
    table = Table("law", "off by", title="{:,} outcomes, {:,} touches, {:,} rows of cents".format(*sizes))
    for finding in found:
        table.add_row(finding.law, f"{finding.off:,}")
    console = Console()
    console.print(table)
    console.print(
        f"models {results['elapsed_time']:.1f} s; generated and built in {ready - begun:.1f} s,"
        f" judged in {ended - ready:.1f} s, {ended - begun:.1f} s in all"
    )
    if any(finding.off for finding in found):
        raise click.ClickException("a law is broken")


if __name__ == "__main__":
    main()
