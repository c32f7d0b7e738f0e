"""How well ads are judged where the truth is known: scores and raw rates against the sandbox's latent quality.

Each seed is a world of its own, pulled through the connectors from the sandbox and scored by the shipped models.
"""

from __future__ import annotations

import json
import platform
import statistics
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
import duckdb
from rich.console import Console
from rich.table import Table

from benchmarks.judging_page import MEASURES, told
from connectors.meta_ads import MetaAds
from connectors.shopify import Shopify
from connectors.stripe import Stripe
from connectors.transport import Transport
from orchestration.app_sets import land_app_sets
from orchestration.dbt_manifest import run_dbt
from orchestration.inbox import scan_inbox
from orchestration.lake import Lake
from sandbox import shop
from sandbox.app import create_sandbox, server
from sandbox.crowded import crowded_plans
from sandbox.faces import TOKENS
from sandbox.shop_records import events, files
from sandbox.shopify import Bucket
from sandbox.world import World, WorldHolder, build
from touchledger.accounts import create_profile
from touchledger.settings import Settings
from touchledger.state import prepare

RESULTS = Path(__file__).parent / "results"
TODAY, DAYS = date(2026, 11, 16), 75
STAGES = ("cold", "early", "mature", "calibrated")
# a false leader is in the best tenth by the measure, and under the median in truth
LEADING = 0.1

_SCORED = """
select
    e.platform_id as ad_id, s.maturity_stage as stage, s.cohort_objective as objective,
    s.composite_score as composite, coalesce(s.attributed_revenue_minor / nullif(s.spend_minor, 0), 0) as roas,
    coalesce(s.link_clicks / nullif(s.impressions, 0), 0) as ctr,
    coalesce(s.link_clicks / nullif(s.spend_minor, 0), 0) as clicks_per_spend
from marts.ad_scores as s
inner join intermediate.int_entities as e on s.profile_key = e.profile_key and s.entity_key = e.entity_key
where s.score_window = '28d' and s.composite_score is not null
order by ad_id
"""


@dataclass(frozen=True)
class Judged:
    """One ad that has a score: its latent quality, and what each of `MEASURES` says of it."""

    quality: float
    stage: str
    objective: str
    values: tuple[float, ...]


@click.command()
@click.option("--ads", default=240, show_default=True, help="At least so many ads in each world.")
@click.option("--people", default=9_000, show_default=True)
@click.option("--seed", "seeds", type=int, multiple=True, default=(1, 2, 3, 4), show_default=True)
def main(ads: int, people: int, seeds: tuple[int, ...]) -> None:
    """Judge every world, print the table, and keep it under benchmarks/results."""
    judged = {seed: judge(seed, ads=ads, people=people) for seed in seeds}
    result = {
        "worlds": {seed: len(found) for seed, found in judged.items()},
        "ads planned": ads, "people": people, "days": DAYS, "window": "28d",
        "versions": {"python": platform.python_version(), "duckdb": duckdb.__version__, "dbt": version("dbt-core")},
        **compared(list(judged.values())),
    }  # fmt: skip
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "judging.json").write_text(json.dumps(result, indent=2) + "\n")
    _print(result)


def judge(seed: int, *, ads: int, people: int) -> list[Judged]:
    """The scored ads of one world."""
    world = build(seed, TODAY, DAYS, people, crowded_plans(seed, ads))
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(home=Path(folder) / "home")
        prepare(settings)
        profile = create_profile(settings, name="Judged", timezone=shop.TIME_ZONE, currency=shop.CURRENCY)
        land(settings, profile, world)
        done = run_dbt(settings, ["build", "--select", "+ad_scores", "--exclude-resource-type", "test", "unit_test"])
        if done.returncode != 0:
            raise click.ClickException(done.stdout[-2000:] + done.stderr[-2000:])
        with duckdb.connect(str(settings.warehouse), read_only=True) as connection:
            rows = connection.execute(_SCORED).fetchall()
    quality = {ad.id: ad.quality for ad in world.ads}
    return [Judged(quality[ad], stage, objective, tuple(values)) for ad, stage, objective, *values in rows]


def land(settings: Settings, profile: str, world: World) -> None:
    """Everything of the world but reach: what the shop sends, and what its providers answer."""
    lake = Lake(settings.lake)
    land_app_sets(settings.operational_url, lake)

    def keep(dataset: str, rows: Iterable[Mapping[str, Any]], batch: str) -> None:
        lake.land(dataset=dataset, profile_id=profile, source="judging", batch=batch, records=rows)

    for dataset, records in events(world).items():
        keep(dataset, records, "site")
    for name, content in files(world).items():
        path = settings.inbox / name if name.startswith("_shared/") else settings.inbox / profile / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    scan_inbox(settings, lake)
    with _served(world) as url, Transport() as transport:
        for account in world.accounts:
            meta = MetaAds(f"{url}/meta", TOKENS["meta"], account.id, transport)
            for dataset, rows in meta.entities().items():
                keep(dataset, rows, account.id)
            days = [row for _, rows in meta.delivery(world.first_day, TODAY) for row in rows]
            keep("ad_delivery", days, account.id)
            keep("ad_delivery_breakdowns", meta.breakdowns(TODAY - timedelta(days=27), TODAY), account.id)
        store = Shopify(f"{url}/shopify", TOKENS["shopify"], shop.STORE_HANDLE, transport)
        for found in (store.catalogue(None), store.orders(None)):
            for dataset, rows in found.items():
                keep(dataset, rows, "store")
        processor = Stripe(f"{url}/stripe", TOKENS["stripe"], transport)
        keep("conversions", processor.payments(), "stripe")
        keep("recurring_payments", processor.renewals(), "stripe")


@contextmanager
def _served(world: World) -> Iterator[str]:
    serving = server(create_sandbox(WorldHolder(world), Bucket(maximum=1e9)))
    thread = threading.Thread(target=serving.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{serving.port}"
    finally:
        serving.shutdown()
        thread.join()
        serving.server_close()


def compared(worlds: Sequence[Sequence[Judged]]) -> dict[str, Any]:
    """Spearman per group of ads and measure, mean over worlds with the least and the most, and false leaders."""
    groups = {
        "all": worlds,
        "sales": [[one for one in world if one.objective == "sales"] for world in worlds],
        **{stage: [[one for one in world if one.stage == stage] for world in worlds] for stage in STAGES},
    }
    return {
        "spearman": {name: _spearmans(found) for name, found in groups.items()},
        "ads": {name: sum(map(len, found)) for name, found in groups.items()},
        "leaders": sum(len(leaders(world, 0)) for world in worlds),
        "false leaders": {
            name: sum(false_leaders(world, index) for world in worlds) for index, name in enumerate(MEASURES)
        },
    }


def _spearmans(worlds: Sequence[Sequence[Judged]]) -> dict[str, list[float] | None]:
    """Mean, least and most over the worlds that have at least 8 ads of the group."""
    usable = [world for world in worlds if len(world) >= 8]
    found = {}
    for index, name in enumerate(MEASURES):
        each = [spearman([one.quality for one in world], [one.values[index] for one in world]) for world in usable]
        found[name] = [round(one, 3) for one in (statistics.mean(each), min(each), max(each))] if each else None
    return found


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """Rank correlation, ties at their mean rank; 0 where one side is constant."""
    ranks = _ranks(first), _ranks(second)
    if any(len(set(side)) == 1 for side in ranks):
        return 0.0
    return statistics.correlation(*ranks)


def _ranks(values: Sequence[float]) -> list[float]:
    places: dict[float, list[int]] = {}
    for place, value in enumerate(sorted(values)):
        places.setdefault(value, []).append(place)
    return [statistics.mean(places[value]) for value in values]


def leaders(world: Sequence[Judged], measure: int) -> list[Judged]:
    """The best tenth by a measure."""
    ranked = sorted(world, key=lambda one: one.values[measure], reverse=True)
    return ranked[: max(1, round(len(world) * LEADING))]


def false_leaders(world: Sequence[Judged], measure: int) -> int:
    """How many leaders are under the median of latent quality."""
    median = statistics.median(one.quality for one in world)
    return sum(one.quality < median for one in leaders(world, measure))


def _print(result: Mapping[str, Any]) -> None:
    head, lines = told(result)
    table = Table(*head, title=f"Spearman against latent quality, {len(result['worlds'])} worlds")
    for line in lines:
        table.add_row(*line)
    Console(width=130).print(table)


if __name__ == "__main__":
    main()
