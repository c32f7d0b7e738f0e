"""The ranker, once a day in a job of its own, and the table of what it told, which every build publishes."""

import time
from collections.abc import Iterator
from typing import Any

import dagster as dg
import duckdb

from data_contracts.contract import served
from orchestration.assets.column_schemas import served_schema
from orchestration.assets.warehouse import mart_keys
from orchestration.likelihoods import NAME, write_likelihoods
from orchestration.locks import only_writer
from orchestration.plots import skill_plot
from orchestration.rank import LOOKED_AT, as_table, day_of, look, standings, tell, train
from orchestration.ranking.evaluation import LEAST_AUC
from orchestration.ranking_inputs import known, read
from orchestration.ranking_store import Model, RankingStore
from orchestration.resources import Deployment, Warehouse
from orchestration.says_why import says_why
from orchestration.warehouse_state import OtherVersionError, require_finished, require_usable
from touchledger.settings import Settings

GROUP = "ranking"
MODEL, LOOKS, TOLD = (dg.AssetKey([GROUP, name]) for name in ("model", "looks", "told"))
MARTS = ("ad_creatives", "credit_daily", "delivery_daily", "entities", "entity_reach", "profiles")
READ = [
    dg.AssetKey(["intermediate", "int_score_history"]),
    dg.AssetKey(["intermediate", "int_score_history_layers"]),
    *mart_keys(dict.fromkeys(MARTS)),
]


@dg.multi_asset(
    name="ranker",
    specs=[
        dg.AssetSpec(MODEL, deps=READ, description="The newest ranker and hazards, fitted anew once a week."),
        dg.AssetSpec(LOOKS, deps=READ, description="Every look at out-of-time skill, once in four weeks."),
        dg.AssetSpec(TOLD, deps=[MODEL, LOOKS], description="What the next build publishes of today's ads."),
    ],
    group_name=GROUP,
    pool="warehouse",
)
@says_why
def ranker(deployment: Deployment) -> Iterator[dg.MaterializeResult[None]]:
    """Fit, look and tell from one reading of the warehouse; without scores, nothing is told."""
    lock = deployment.settings.home / "locks" / "ranking.lock"
    with only_writer(lock, purpose="rank the ads"):
        yield from _ranked(deployment.settings)


def _ranked(settings: Settings) -> Iterator[dg.MaterializeResult[None]]:
    started, store = time.monotonic(), RankingStore(settings)
    try:
        tables = read(settings)
    except duckdb.IOException:
        raise
    except duckdb.Error as error:
        # says what to do where that is why
        require_usable(settings)
        if isinstance(error, duckdb.BinderException | duckdb.CatalogException):
            # after an upgrade, and before the first build
            raise OtherVersionError from None
        raise
    model = train(known(tables), store) if tables else None
    if tables is None or model is None:
        store.tell_nothing()
        for key in (MODEL, LOOKS, TOLD):
            yield dg.MaterializeResult(asset_key=key, metadata={"state": "too little history to fit anything"})
        return
    today = known(tables, model.words)
    yield dg.MaterializeResult(asset_key=MODEL, metadata=_model(model))
    look(today, store)
    yield dg.MaterializeResult(asset_key=LOOKS, metadata=_looks(store, model))
    told = tell(today, model, store)
    reasons = {measure: place.reason for measure, place in standings(store, day_of(today)).items()}
    store.tell(as_table(told, model, today))
    yield dg.MaterializeResult(
        asset_key=TOLD,
        metadata={
            "dagster/row_count": len(told),
            "day": day_of(today).isoformat(),
            "standing": dg.JsonMetadataValue(reasons),
            "seconds": round(time.monotonic() - started, 2),
        },
    )


def _model(model: Model) -> dict[str, Any]:
    return {
        "version": model.version,
        "fitted on data to": model.day.isoformat(),
        "recipe": model.recipe,
        "ranks": "yes" if model.ranker else "too few settled rows",
        "events of each hazard": dg.JsonMetadataValue({event: one.events for event, one in model.hazards.items()}),
        "profiles ranked": len({profile for profile, _ in model.ranked}),
    }


def _looks(store: RankingStore, model: Model) -> dict[str, Any]:
    metadata: dict[str, Any] = {"version": model.version}
    for measure in LOOKED_AT:
        looks = store.looks(measure)
        metadata[f"{measure}: looks"] = len(looks.taken)
        if looks.taken:
            metadata[measure] = skill_plot(measure, looks.taken, needed=LEAST_AUC)
    return metadata


@dg.asset(
    key=["marts", NAME],
    deps=[*mart_keys({"ad_scores": None, "entities": None, "profiles": None}), TOLD],
    group_name="marts",
    kinds={"duckdb"},
    metadata=served_schema(served()[NAME]),
    pool="warehouse",
    check_specs=[
        dg.AssetCheckSpec(
            name="readable",
            asset=["marts", NAME],
            description="What the ranker told could be read.",
        )
    ],
)
@says_why
def ad_likelihoods(
    deployment: Deployment, warehouse: Warehouse
) -> Iterator[dg.MaterializeResult[None] | dg.AssetCheckResult]:
    """One row per profile, score window, scored ad and measure; none where no ranker was trained."""
    started = time.monotonic()
    require_finished(deployment.settings)
    written = write_likelihoods(deployment.settings)
    yield dg.MaterializeResult(
        metadata={
            "dagster/row_count": written.rows,
            "run": warehouse.token,
            "seconds": round(time.monotonic() - started, 2),
        }
    )
    yield readable_check(written.problem)


def readable_check(problem: str) -> dg.AssetCheckResult:
    """Whether the ranker's file could be read; a failure tells what is published without it, and what mends it."""
    lost = "Likelihoods are published of no ad, scores as ever; the next run of the job ranking writes the file anew"
    # a warning, not an error: a damaged file of the ranker must not hold back the scores
    return dg.AssetCheckResult(
        check_name="readable",
        passed=not problem,
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{lost}: {problem}" if problem else None,
        metadata={"problem": problem or "none"},
    )
