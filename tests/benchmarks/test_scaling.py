"""docs/scaling.md says what benchmarks/results says; the build's profile is read from dbt's own log."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.build import below, groups, resident, spent_by_node
from benchmarks.contestant import OURS
from benchmarks.increment import DAY, NEWEST, NewDay
from benchmarks.machine import kept
from benchmarks.plan import reckoned, spark_factor
from benchmarks.scaling import NONE, PAGE, curve, days, doubled, filled


def test_the_page_holds_the_kept_figures() -> None:
    page = PAGE.read_text()
    results = [kept(f"{name}-*.json") for name in ("credit", "build", "increment", "doubled")]
    assert filled(page, *results) == page


def test_a_page_without_a_mark_is_refused() -> None:
    with pytest.raises(ValueError, match="no part curve"):
        filled("# Scaling", [], [], [], [])


def test_an_increment_is_told_beside_the_whole_build() -> None:
    run = {"keeping": 2.0, "models": 10.0, "wall": 8.0, "cpu": 9.0}
    whole = {"keeping": 50.0, "models": 60.0, "wall": 40.0, "cpu": 27.0}
    measured = {
        "world": {"touches": 10_000_000, "kind": "skewed"},
        "new_touches": 36_719,
        "runs": {"increment": run, "whole": whole},
        "rows_unlike": {"marts.touches": 3},
        "machine": {"load_average": 2.0},
    }
    last = days([measured]).splitlines()[-1]
    told = "2.0 / 50.0 (25.0x) | 10.0 / 60.0 (6.0x) | 8.0 / 40.0 (5.0x) | 9.0 / 27.0 (3.0x)"
    assert last == f"| 10M skewed | 36,719 | {told} | 3 | 2.0 |"


def test_a_day_is_told_on_a_history_and_on_twice_of_it() -> None:
    run = {"keeping": 2.0, "models": 10.0, "wall": 8.0, "cpu": 9.0}
    measured = {
        "world": {"touches": 10_000_000, "kind": "skewed"},
        "runs": {"once": run, "twice": {**run, "keeping": 3.0}},
        "changed": {"once": {"changed_people": 1_234}, "twice": {"changed_people": 1_240}},
        "machine": {"load_average": 2.0},
    }
    told = "2.0 / 3.0 (1.50x) | 10.0 / 10.0 (1.00x) | 8.0 / 8.0 (1.00x) | 9.0 / 9.0 (1.00x)"
    assert doubled([measured]).splitlines()[-1] == f"| 10M / 20M skewed | 1,234 / 1,240 | {told} | 2.0 |"


def test_what_a_day_is_made_of() -> None:
    newest, late, old = NEWEST, NEWEST - 5 * DAY, NEWEST - 31 * DAY
    ts, number = np.array([newest, newest + DAY, late, late, old]), np.array([1, 1, 300, 1, 300])
    assert list(NewDay().is_new(ts, number)) == [True, False, True, False, False]
    assert list(NewDay().is_old(ts, number)) == [False, False, False, True, True]


def test_of_twice_the_history_a_day_brings_every_second_record() -> None:
    newest, late = NEWEST, NEWEST - 5 * DAY
    ts, number = np.array([newest, newest, newest + DAY, late, late]), np.array([1, 2, 2, 300, 600])
    assert list(NewDay(2).is_new(ts, number)) == [False, True, False, False, True]
    assert list(NewDay(2).is_old(ts, number)) == [True, False, False, True, False]


def _credit(touches: int, cpu: float) -> dict[str, Any]:
    cost = {"cpu": cpu, "wall": cpu / 2, "peak_mb": 100, "told": {}}
    return {
        "world": {"touches": touches, "kind": "skewed"},
        "touches": touches,
        "contestants": {OURS: cost},
        "machine": {"load_average": 2.0},
    }


def test_cpu_per_touch_is_told_against_the_smallest_size() -> None:
    last = curve([_credit(1_000_000, 0.5), _credit(10_000_000, 6.0)]).splitlines()[-1]
    assert last == "| 10M skewed | 1.20 |  |  | 0.60 | 6.0 | 3.0 | 100 | 2.0 |"
    assert curve([]) == NONE


def test_the_plan_is_in_proportion_to_the_measured_build_and_to_the_cost_of_spark() -> None:
    base = {"world": {"touches": 10_000_000}, "cpu": 36.0, "bytes": {"lake": 10**9, "warehouse": 2 * 10**9}}
    plan = reckoned(base, 4.0)
    # 3.6 s a million, times four, times ten thousand millions
    assert plan["core hours of a full build on Spark"] == "40"
    assert plan["lake"] == f"{10**12 / 2**30:,.0f} GB"
    assert reckoned(base, 8.0)["core hours of a full build on Spark"] == "80"


def test_the_cost_of_spark_is_that_of_the_largest_parity_world_unless_all_are_small() -> None:
    small = {"20,000 touches": {"seconds": {"duckdb": 10, "spark": 120}}, "demo": {"seconds": {}}}
    large = {"1,000,000 touches": {"seconds": {"duckdb": 40, "spark": 300}}}
    assert spark_factor([{"worlds": small}]) is None and spark_factor([]) is None
    assert spark_factor([{"worlds": small | large}]) == 7.5


def test_the_profile_is_of_the_newest_run_largest_first(tmp_path: Path) -> None:
    def line(run: str, name: str, kind: str, seconds: float) -> str:
        node = {
            "unique_id": f"{kind}.{name}",
            "node_name": name,
            "resource_type": kind,
            "node_path": f"marts/{name}.sql",
        }
        event = {"model": "LogModelResult", "test": "LogTestResult"}[kind]
        data = {"execution_time": seconds, "node_info": node}
        return json.dumps({"data": data, "info": {"name": event, "invocation_id": run}})

    log = tmp_path / "dbt.log"
    log.write_text("\n".join([
        line("old", "gone", "model", 9), "not json", line("new", "small", "model", 1), line("new", "check", "test", 3),
        line("new", "large", "model", 2),
    ]))  # fmt: skip
    nodes = spent_by_node(log)
    assert [node["name"] for node in nodes] == ["check", "large", "small"]
    assert groups(nodes) == {"marts": 3, "tests": 3}


def test_memory_is_added_up_over_a_process_and_its_children() -> None:
    assert os.getpid() in below(os.getppid())
    assert resident(os.getpid()) > 2**20
    assert resident(2**30) == 0
