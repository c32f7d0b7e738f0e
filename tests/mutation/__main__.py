"""`make mutation`: how many small slips in the models and modules of AREAS and FILES the tests would see."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

import click
import sqlglot
from rich.console import Console
from rich.table import Table

from tests.dbt_project import credit_cases, credit_worlds, payment_worlds, small_world
from tests.dbt_project.project import Project
from tests.laws.landing import land
from tests.mutation import questions
from tests.mutation.judges import UnitTests, Warehouse, compiled, failed_unit_test, unit_tests
from tests.mutation.python_mutants import FILES, python_results
from tests.mutation.results import Result
from tests.mutation.sql_mutants import mutants
from touchledger.settings import Settings

AREAS = {
    "credit": ("int_credits", "int_credit_shares", "int_credit_cents", "int_outcome_gaps", "int_credit_days",
               "credit_daily", "unattributed_daily", "outcomes_daily"),
    "money": ("int_outcome_money", "int_fx_rates", "int_money_days", "int_refunds", "int_part_refunds",
              "int_delivery"),
    "payments": ("int_payment_statements", "int_payment_claims", "int_payment_refs", "int_payments",
                 "int_payment_values", "int_payment_payers", "payments"),
    "touches": ("int_record_sights", "int_arrivals", "int_own_parameters", "int_sightings", "int_record_touches",
                "int_touch_labels", "int_returns", "int_visits"),
    "windows": ("int_path_bounds", "int_paths", "int_touches", "int_repeats", "int_outcomes", "int_renewals",
                "int_conversions"),
    "identity": ("int_identity_statements", "int_stated_members", "int_declared_members", "int_identity_nodes",
                 "int_identity_links", "int_identity_components", "int_identity_keys",
                 "int_person_identifiers"),
    "entities": ("int_entity_sightings", "int_entities", "int_account_days", "entity_reach"),
    "people": ("int_consent_answers", "int_visitors", "visitors", "int_person_days", "int_first_ad_touches",
               "customers", "person_names", "match_keys", "conversion_clicks"),
}  # fmt: skip
BUILT = [f"+{mart}" for mart in ("credit_daily", "unattributed_daily", "outcomes_daily", "delivery_daily", "entities",
                                "profiles", "person_identifiers", "payments", "conversions",
                                "customers", "entity_reach", "visitors", "person_names", "match_keys",
                                "conversion_clicks")]  # fmt: skip


@click.command()
@click.option("--share", default=1.0, show_default=True, help="Share of the mutants to try, drawn with the seed.")
@click.option("--seed", default=5, show_default=True)
@click.option("--area", "areas", multiple=True, type=click.Choice([*AREAS, *FILES]), help="Only these; else all.")
def main(share: float, seed: int, areas: tuple[str, ...]) -> None:
    """Try the mutants and print the table; survivors are listed with what was changed."""
    begun, chosen = time.perf_counter(), areas or (*AREAS, *FILES)
    results: list[Result] = []
    unjudged: list[str] = []
    if any(area in AREAS for area in chosen):
        with tempfile.TemporaryDirectory() as folder:
            results += sql_results(Path(folder), [area for area in chosen if area in AREAS], share, seed)
    for area in chosen:
        if area in FILES:
            try:
                results += python_results(area, share, seed)
            except click.ClickException as problem:
                unjudged.append(problem.message)
    report(results, time.perf_counter() - begun)
    if unjudged:
        raise click.ClickException("; ".join(unjudged))


def sql_results(folder: Path, areas: list[str], share: float, seed: int) -> list[Result]:
    """Judge the mutants of these areas' models in three built warehouses."""
    warehouses = _built(folder)
    models = next(iter(warehouses.values())).models
    tests, random = unit_tests(models), Random(seed)
    drawn = [
        (area, name, mutant)
        for area in areas
        for name in AREAS[area]
        for mutant in mutants(name, models[name].sql)
        if random.random() < share
    ]
    _without_a_change(warehouses, {name: models[name].sql for _, name, _ in drawn}, tests)
    return [
        Result(area, name, f"{mutant.change}: {mutant.before}  ->  {mutant.after}",
               _judged(warehouses, name, mutant.sql, tests))
        for area, name, mutant in drawn
    ]  # fmt: skip


def _without_a_change(warehouses: dict[str, Warehouse], sqls: dict[str, str], tests: UnitTests) -> None:
    """What is killed without a change says nothing of its mutants; all models at once, for each costs as a survivor."""
    sound = {name: sqlglot.parse_one(sql, read="duckdb").sql("duckdb") for name, sql in sqls.items()}
    first = next(iter(warehouses.values()))
    broken = [f"{name}: {by}" for name, sql in sound.items() if (by := failed_unit_test(first, name, sql, tests[name]))]
    broken += [by for kind, warehouse in warehouses.items() if (by := warehouse.broken_by(sound, questions.OF[kind]))]
    if broken:
        raise click.ClickException(f"the models fail without a change: {'; '.join(broken)}")


def _judged(warehouses: dict[str, Warehouse], name: str, sql: str, tests: UnitTests) -> str | None:
    """What kills it, the cheapest first."""
    first = next(iter(warehouses.values()))
    if by := failed_unit_test(first, name, sql, tests[name]):
        return by
    for kind, warehouse in warehouses.items():
        if by := warehouse.broken_by({name: sql}, questions.OF[kind]):
            return by
    return None


def _built(folder: Path) -> dict[str, Warehouse]:
    projects = {kind: Project(Settings(home=folder / kind)) for kind in ("credited", "small", "laws")}
    credit_cases.land(projects["credited"])
    credit_worlds.land(projects["credited"])
    payment_worlds.land(projects["credited"])
    small_world.land(projects["small"])
    land(projects["laws"].lake, questions.law_worlds())
    for project in projects.values():
        project.dbt("run", "--quiet", "--select", *BUILT)
    return {kind: Warehouse(project, compiled(project)) for kind, project in projects.items()}


def report(results: list[Result], seconds: float) -> None:
    """Print killed and survived by model, then every survivor."""
    tried, killed = Counter(one.place for one in results), Counter(one.place for one in results if one.by)
    table = Table("area", "mutated", "mutants", "killed", "survived", "killed %")
    for area, place in dict.fromkeys((one.area, one.place) for one in results):
        share = f"{100 * killed[place] / tried[place]:.1f}"
        table.add_row(area, place, *map(str, (tried[place], killed[place], tried[place] - killed[place])), share)
    total, dead = sum(tried.values()), sum(killed.values())
    table.add_row("all", "", str(total), str(dead), str(total - dead), f"{100 * dead / max(total, 1):.1f}")
    console = Console(width=120)
    console.print(table)
    for one in results:
        if not one.by:
            console.print(f"{one.place}: {one.change}", markup=False, soft_wrap=True)
    console.print(f"{seconds:.0f} s")


if __name__ == "__main__":
    main()
