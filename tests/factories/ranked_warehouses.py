"""A warehouse of what the ranker reads, made of generated worlds: scores by week, delivery by day, profiles, ads."""

from __future__ import annotations

from datetime import date, timedelta

import duckdb
import pandas as pd

from orchestration.ranking.history import WEEK, History
from orchestration.ranking.likelihood import EPOCH
from orchestration.ranking.wear import Panel
from tests.factories.wear_worlds import FIRST_DAY
from touchledger.settings import Settings

LAYERS = {"outcomes": "attributed_revenue", "clicks": "click_intent"}


def build(settings: Settings, history: History, panel: Panel) -> date:
    """Write the tables; snapshots are shifted so that the newest is on the panel's last day, which is returned.

    Profile p of root p, objective sales; ads of both worlds with the same number are one ad.
    """
    settings.home.mkdir(parents=True, exist_ok=True)
    newest = panel.newest
    shift = newest - int(history.day.max())
    with duckdb.connect(str(settings.warehouse)) as warehouse:
        warehouse.execute("create schema if not exists intermediate; create schema if not exists marts")
        tables = {**_scores(history, shift), **_delivery(panel), **_names(history, panel)}
        tables["marts.ad_scores"] = _current(tables["intermediate.int_score_history"], newest)
        for name, table in tables.items():
            warehouse.register("given", table)
            warehouse.execute(f"create or replace table {name} as select * from given")
            warehouse.unregister("given")
        warehouse.execute(
            "create or replace table marts.credit_daily (profile_key int, level varchar, model varchar, day date,"
            " entity_key int, payment_received int, lead_created int, appointment_booked int, appointment_attended int,"
            " quote_presented int, closed_won int, custom_cash int, custom_pipeline int)"
        )
        warehouse.execute(
            "create or replace table marts.ad_creatives as select profile_key, entity_key, 'question' as hook_type,"
            " null::varchar as creative_format, null::varchar as cta_type, null::varchar as primary_angle"
            " from marts.entities"
        )
    (settings.home / "warehouse.built").write_text("1")
    return EPOCH + timedelta(days=newest)


def world_until(history: History, panel: Panel, weeks: int) -> tuple[History, Panel]:
    """The same world some weeks earlier."""
    return history.until(int(history.day.max()) - weeks * WEEK), panel.until(panel.newest - weeks * WEEK)


def _scores(history: History, shift: int) -> dict[str, pd.DataFrame]:
    named = dict(zip(history.names, history.features.T, strict=True))
    as_of = [EPOCH + timedelta(days=int(day) + shift) for day in history.day]
    keys = {"profile_key": history.root + 1, "as_of": as_of, "entity_key": history.ad + 1}
    rows = pd.DataFrame({
        **keys, "ad_account_id": "one", "cohort_objective": "sales", "cohort_channel": "meta", "cohort_format": "image",
        "cohort_n_ads": 50, "composite_score": history.composite, "age_days": named["age"].astype(int),
        "delivery_days": named["age"].astype(int), "spend_minor": (1000 * history.exposure).astype(int),
        "impressions": 10_000, "clicks": 100, "primary_percentile": history.primary,
        "primary_reliability": history.reliability,
    })  # fmt: skip
    layers = pd.concat([
        pd.DataFrame({**keys, "layer": layer, "percentile": named[name], "reliability": named[f"{name}_reliability"]})
        for name, layer in LAYERS.items()
    ])  # fmt: skip
    return {"intermediate.int_score_history": rows, "intermediate.int_score_history_layers": layers}


def _delivery(panel: Panel) -> dict[str, pd.DataFrame]:
    ad, column = (panel.impressions > 0).nonzero()
    day = [EPOCH + timedelta(days=FIRST_DAY + int(one)) for one in column]
    keys = {"profile_key": panel.root[ad] + 1, "entity_key": ad + 1, "level": "ad"}
    daily = pd.DataFrame({
        **keys, "day": day, "spend_minor": panel.spend[ad, column].astype(int),
        "impressions": panel.impressions[ad, column].astype(int), "clicks": panel.clicks[ad, column].astype(int),
        "link_clicks": panel.clicks[ad, column].astype(int), "messaging_conversations_started_7d": 0,
    })  # fmt: skip
    reach = pd.DataFrame({**keys, "date_from": day, "date_to": day, "reach": panel.reach[ad, column].astype(int)})
    return {"marts.delivery_daily": daily, "marts.entity_reach": reach}


def _names(history: History, panel: Panel) -> dict[str, pd.DataFrame]:
    profiles = range(1, int(max(history.root.max(), panel.root.max())) + 2)
    ads = dict(sorted({int(ad): int(root) for ad, root in zip(history.ad, history.root, strict=True)}.items()))
    return {
        "marts.profiles": pd.DataFrame({
            "profile_key": list(profiles), "profile_id": [f"profile {key}" for key in profiles],
        }),
        "marts.entities": pd.DataFrame({
            "profile_key": [root + 1 for root in ads.values()], "level": "ad",
            "entity_key": [ad + 1 for ad in ads], "entity_id": [f"ad {ad + 1:04}" for ad in ads],
        }),
    }  # fmt: skip


def _current(history: pd.DataFrame, newest: int) -> pd.DataFrame:
    rows = history[history["as_of"] == EPOCH + timedelta(days=newest)]
    current = rows[["profile_key", "entity_key", "cohort_objective"]].assign(score_date=rows["as_of"])
    return pd.concat([current.assign(score_window=window) for window in ("7d", "14d", "28d", "lifetime")])
