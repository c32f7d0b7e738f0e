"""Ad studies of the Marketing API: a study's cells, its objective, and a lift study's results as strings of JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from sandbox.clock import epoch
from sandbox.meta_entities import spelled_time
from sandbox.studies import Cell, Measured, Study
from sandbox.world import World

Row = dict[str, Any]
DAY = 86_400
# how many rows a list within an object has unless more are asked for
NESTED = 25


def of_account(world: World, account_id: str) -> list[Row]:
    """The studies of an ad account, newest first; one to come was made on `as_of` at the latest."""
    zone = next(ZoneInfo(row.time_zone) for row in world.accounts if row.id == account_id)
    found = [_study(row, zone, world.as_of) for row in world.studies if row.account_id == account_id]
    return sorted(found, key=lambda row: row["start_time"], reverse=True)


def edge(world: World, study_id: str, name: str, limits: Mapping[str, int]) -> list[Row] | None:
    """The cells or objectives of a study; None for an unknown one. `limits` are those asked of what a cell holds."""
    study = next((row for row in world.studies if row.id == study_id), None)
    if study is None:
        return None
    if name == "cells":
        return [_cell(cell, limits) for cell in study.cells]
    return [_objective(study, world.as_of)] if study.type == "LIFT" else []


def objective(world: World, objective_id: str) -> Row | None:
    """One objective with its results; None for an unknown one."""
    study = next((row for row in world.studies if row.objective_id == objective_id), None)
    return _objective(study, world.as_of) if study is not None else None


def _study(row: Study, zone: ZoneInfo, as_of: date) -> Row:
    spelled = {
        "id": row.id,
        "name": row.name,
        "type": row.type,
        "start_time": _midnight(row.first_day, zone),
        "end_time": _midnight(row.last_day, zone).replace("T00:00:00", "T23:59:59"),
        "created_time": _midnight(min(row.first_day, as_of), zone),
        "updated_time": _midnight(min(row.canceled_on or row.first_day, as_of), zone),
        "confidence_level": 0.9,
    }
    return spelled | ({"canceled_time": _midnight(row.canceled_on, zone)} if row.canceled_on else {})


def _cell(row: Cell, limits: Mapping[str, int]) -> Row:
    spelled: Row = {"id": row.id, "name": row.name, "treatment_percentage": row.treatment_percentage}
    if row.control_percentage is not None:
        spelled["control_percentage"] = row.control_percentage
    for name, held in (("campaigns", row.campaigns), ("adsets", row.ad_sets)):
        first = held[: limits.get(name, NESTED)]
        spelled |= {name: {"data": [{"id": one} for one in first]}} if held else {}
    return spelled


def _objective(row: Study, as_of: date) -> Row:
    spelled: Row = {"id": row.objective_id, "name": "Purchases", "type": "CONVERSIONS", "is_primary": True}
    if row.measured is None or as_of <= row.last_day:
        return spelled
    results = [json.dumps(_results(row.measured) | {"cell_id": row.cells[0].id})]
    return spelled | {"last_updated_results": spelled_time(epoch(row.last_day) + 2 * DAY), "results": results}


def _results(found: Measured) -> Row:
    scale = found.test / found.control
    spelled: Row = {"population.test": found.test, "population.control": found.control}
    for name, test, control in (
        ("buyers", found.buyers_test, found.buyers_control),
        ("conversions", found.conversions_test, found.conversions_control),
    ):
        scaled = control * scale
        spelled |= {
            f"{name}.test": test,
            f"{name}.control": control,
            f"{name}.scaled": scaled,
            f"{name}.incremental": test - scaled,
            f"{name}.isStatSig": abs(test - scaled) > 1.96 * (test + scaled * scale) ** 0.5,
        }
    return spelled


def _midnight(day: date, zone: ZoneInfo) -> str:
    return datetime.combine(day, time.min, zone).strftime("%Y-%m-%dT%H:%M:%S%z")
