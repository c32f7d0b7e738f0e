"""What the application asks of Spark; that Spark does it is in `make spark-parity`."""

from __future__ import annotations

import io
import json
import runpy
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from orchestration import spark


class Asked:
    """Stands where Spark would, and keeps what it is asked in `log`."""

    def __init__(self, log: list[tuple[Any, ...]], path: str = "") -> None:
        self.log, self.path = log, path

    def __getattr__(self, name: str) -> Asked:
        return Asked(self.log, f"{self.path}.{name}")

    def __call__(self, *told: Any) -> Asked:
        self.log.append((self.path, *(getattr(one, "path", one) for one in told)))
        return self

    def __index__(self) -> int:
        return 0


def asked_of_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, tables: list[dict[str, Any]]
) -> list[tuple[Any, ...]]:
    """What the driver asked for with a plan of these tables, in its order."""
    log: list[tuple[Any, ...]] = []
    done = SimpleNamespace(success=True, exception=None)
    given = {"pyspark.sql": {"SparkSession": Asked(log)}}
    given["dbt.cli.main"] = {"dbtRunner": lambda: SimpleNamespace(invoke=lambda _: done)}
    for name, members in given.items():
        monkeypatch.setitem(sys.modules, name, module := ModuleType(name))
        vars(module).update(members)
    plan = {"master": "spark://cluster:7077", "conf": {}, "tables": tables, "command": [], "wanted": []}
    told = json.dumps({**plan, "marts": "", "executors": str(tmp_path / "executors")})
    monkeypatch.setattr(sys, "stdin", io.StringIO(told))
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(spark.DRIVER), run_name="__main__")
    assert ended.value.code == 0
    return log


def test_spark_may_say_that_no_worker_takes_its_tasks_before_it_is_given_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # it waits for ever then, and told to speak of errors only, it had said nothing anywhere
    log = asked_of_spark(tmp_path, monkeypatch, tables=[])
    (level,) = (one for one in log if one[0].endswith("Configurator.setLevel"))
    assert (level[1], level[2].rpartition(".")[2]) == ("org.apache.spark.scheduler.TaskSchedulerImpl", "WARN")
    assert log.index(level) < min(place for place, one in enumerate(log) if one[0].endswith(".sql"))


def test_a_state_folder_may_have_an_apostrophe_in_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # it ended the text that names the lake's folder, and every build on Spark with a syntax error
    table = {"name": "ads", "columns": "`ad_id` string", "folders": ["/home/o'neil/lake/raw/ads"]}
    asked = [one[1] for one in asked_of_spark(tmp_path, monkeypatch, tables=[table]) if one[0].endswith(".sql")]
    (created,) = (one for one in asked if one.startswith("create table"))
    assert created.endswith(r"location '/home/o\'neil/lake/raw/ads'")
