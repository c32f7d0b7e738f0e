"""What the application asks of Spark; that Spark does it is in `make spark-parity`."""

from __future__ import annotations

import io
import json
import os
import runpy
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from orchestration import spark

# in a process of its own stands where Spark would: one that ends as it is told to, and a dbt that then has no answer
ENDED = """
import io, json, runpy, subprocess, sys, time, types
driver, ending, log = sys.argv[1:]
java = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
stopped, looks, is_alone = [], [1] * 999 + [0], ending == "alone" or "Disconnected" in ending or ending.endswith("RAM")
class Spark:
    def __getattr__(self, name): return java if name == "proc" else self
    def __call__(self, *_): return self
    def isStopped(self): return bool(stopped)
    def isLocal(self): return False
    def __str__(self): return "builder.internal"
    def getActiveJobIds(self): return [7]
    def size(self): return 1 if ending.startswith("INFO") or is_alone and looks.pop() else 2
def invoke(_):
    if ending == "killed":
        java.kill()
    else:
        print(ending, file=open(log, "a"), flush=True)
        stopped.extend([] if is_alone else [True])
    time.sleep(60)
given = {"pyspark": {"__version__": "4.3.0"}, "pyspark.sql": {"SparkSession": Spark()}}
for name, members in {**given, "dbt.cli.main": {"dbtRunner": Spark}}.items():
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(members)
Spark.invoke = staticmethod(invoke)
plan = {"master": "spark://cluster:7077", "conf": {"spark.executor.memory": "4g"}, "tables": [], "command": []}
plan |= {"wanted": [], "marts": "", "executors": "", "log": log, "wait_minutes": 0.02}
sys.stdin = io.StringIO(json.dumps(plan))
runpy.run_path(driver, run_name="__main__")
"""


class Asked:
    """Stands where Spark would, and keeps what it is asked in `log`."""

    def __init__(self, log: list[tuple[Any, ...]], path: str = "") -> None:
        self.log, self.path = log, path

    def wait(self) -> None:
        """As Java does, which ends when Spark is told to stop."""
        while not any(one[0].endswith(".stop") for one in self.log):
            time.sleep(0.01)

    def __getattr__(self, name: str) -> Asked:
        return Asked(self.log, f"{self.path}.{name}")

    def __call__(self, *told: Any) -> Asked:
        self.log.append((self.path, *(getattr(one, "path", one) for one in told)))
        return self

    def __index__(self) -> int:
        return 0

    def __bool__(self) -> bool:
        return False

    def __len__(self) -> int:
        return 0


class Refusing:
    """Stands where a Spark would that does not begin, with an error of Java's as Python words it, and adds to a log."""

    def __init__(self, log: Path, logged: str = "") -> None:
        self.log, self.logged = log, logged

    def __getattr__(self, name: str) -> Refusing:
        return self

    def __call__(self, *told: Any) -> None:
        with self.log.open("a") as log:
            log.write(self.logged)
        calls = "\tat org.apache.spark.SparkContext.<init>(SparkContext.scala)\nCaused by: java.lang.Error"
        raise RuntimeError(
            "An error occurred while calling None.org.apache.spark.api.java.JavaSparkContext.\n"
            f": java.lang.IllegalArgumentException: Executor memory 314572800 must be at least 471859200.\n{calls}\n"
        )


def asked_of_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, tables: list[dict[str, Any]], spark_is: Any = None
) -> list[tuple[Any, ...]]:
    """What the driver asked for with a plan of these tables, in its order."""
    log: list[tuple[Any, ...]] = []
    done = SimpleNamespace(success=True, exception=None)
    given = {"pyspark": {"__version__": "4.3.0"}, "pyspark.sql": {"SparkSession": spark_is or Asked(log)}}
    given["dbt.cli.main"] = {"dbtRunner": lambda: SimpleNamespace(invoke=lambda _: done)}
    for name, members in given.items():
        monkeypatch.setitem(sys.modules, name, module := ModuleType(name))
        vars(module).update(members)
    plan = {"master": "spark://cluster:7077", "conf": {}, "tables": tables, "command": [], "wanted": []}
    files = {name: str(tmp_path / name) for name in ("executors", "log")}
    Path(files["log"]).touch()
    told = json.dumps({**plan, "marts": "", **files})
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
    levels = [one for one in log if one[0].endswith("Configurator.setLevel")]
    assert [(one[1].rpartition(".")[2], one[2].rpartition(".")[2]) for one in levels] == [
        ("TaskSchedulerImpl", "WARN"),
        ("StandaloneSchedulerBackend", "INFO"),
    ]
    assert log.index(levels[-1]) < min(place for place, one in enumerate(log) if one[0].endswith(".sql"))


def test_a_state_folder_may_have_an_apostrophe_in_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # it ended the text that names the lake's folder, and every build on Spark with a syntax error
    table = {"name": "ads", "columns": "`ad_id` string", "folders": ["/home/o'neil/lake/raw/ads"]}
    asked = [one[1] for one in asked_of_spark(tmp_path, monkeypatch, tables=[table]) if one[0].endswith(".sql")]
    (created,) = (one for one in asked if one.startswith("create table"))
    assert created.endswith(r"location '/home/o\'neil/lake/raw/ads'")


def told_of_its_end(log: Path, ending: str) -> str:
    """What the driver tells, as dbt tells an error, of an application that ends so; the log is of the one before."""
    log.write_text("ERROR Application has been killed. Reason: of the run before\n")
    done = subprocess.run(
        [sys.executable, "-c", ENDED, spark.DRIVER, ending, log],
        env={**os.environ, "DBT_LOG_FORMAT": "json"},
        capture_output=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == 1
    event = json.loads(done.stdout)
    assert (event["info"]["level"], event["data"]) == ("error", {})
    return str(event["info"]["msg"])


def test_an_application_that_is_killed_ends_the_build_and_is_told_as_dbt_tells_an_error(tmp_path: Path) -> None:
    # each model that was left was an error of its own then, a refused connection, and nothing said why
    assert "ended with -9" in told_of_its_end(tmp_path / "log", "killed")


def test_an_application_that_its_master_ends_is_told_with_sparks_reason(tmp_path: Path) -> None:
    # its Java lives on: each model left was refused with a page of Java's calls, one called it a bug of Spark
    reason = "Master removed our application: KILLED"
    told = told_of_its_end(tmp_path / "log", f"ERROR Backend: Application has been killed. Reason: {reason}")
    assert told == f"Spark: its application was stopped: {reason}"
    assert (
        told_of_its_end(tmp_path / "log", "ERROR ")
        == f"Spark: its application was stopped: {tmp_path / 'log'} says why"
    )


def test_an_application_whose_jobs_no_worker_runs_ends_the_build_and_names_what_it_lacks(tmp_path: Path) -> None:
    # it waited for ever, held the warehouse, and only its log told
    assert told_of_its_end(tmp_path / "log", "alone") == (
        "Spark: its jobs had no executor for TOUCHLEDGER_SPARK_WAIT_MINUTES=0.02: start a worker of"
        " spark://cluster:7077 that has 4g of memory free, or ask for less by TOUCHLEDGER_SPARK_EXECUTOR_MEMORY"
    )


def test_an_application_whose_master_was_started_anew_is_told_to_be_built_again(tmp_path: Path) -> None:
    # a worker with that much memory was to be started, and there was one, of a master that no longer knew it
    lost = "WARN StandaloneSchedulerBackend: Disconnected from Spark cluster! Waiting for reconnection..."
    assert told_of_its_end(tmp_path / "log", lost) == (
        "Spark: its jobs had no executor for TOUCHLEDGER_SPARK_WAIT_MINUTES=0.02: it had lost its master at"
        " spark://cluster:7077, and one that is started anew runs no executors for applications of before:"
        " build again once it answers"
    )


NOT_COME = (
    "its master started executors, which did not come to this machine at builder.internal: set spark.driver.host in"
    " TOUCHLEDGER_SPARK_CONF to an address of it that the workers reach, or read in the work folder of a worker what"
    " else ended them"
)


def test_an_application_to_which_no_executor_comes_names_the_address_of_its_driver(tmp_path: Path) -> None:
    # a worker with memory was to be started, which there was: what it started did not reach this machine
    started = "INFO StandaloneSchedulerBackend: Granted executor ID app-1/0 on hostPort worker:7078 with 1 GiB RAM"
    told = told_of_its_end(tmp_path / "log", started)
    assert told == f"Spark: its jobs had no executor for TOUCHLEDGER_SPARK_WAIT_MINUTES=0.02: {NOT_COME}"
    # one that had come, and was lost, waits for another
    lost = f"{started}\nERROR TaskSchedulerImpl: Lost executor 0 on worker: Command exited with code 137 of 1 GiB RAM"
    assert "that has 4g of memory free" in told_of_its_end(tmp_path / "log", lost)
    # so does one that had come and was given back, as those of dynamic allocation are
    assert "that has 4g of memory free" in told_of_its_end(tmp_path / "log", f"came {started}")


def test_an_application_that_its_master_gives_up_names_the_address_of_its_driver(tmp_path: Path) -> None:
    # of executors that are refused at once a master starts no more after ten, and gave that as the reason
    reason = "Master removed our application: FAILED"
    started = "INFO StandaloneSchedulerBackend: Granted executor ID app-1/9 on hostPort worker:7078\n"
    told = told_of_its_end(tmp_path / "log", f"{started}ERROR Application has been killed. Reason: {reason}")
    assert told == f"Spark: its application was stopped: {reason}; {NOT_COME}"


def test_what_spark_refuses_is_told_where_errors_of_dbt_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # an exit code was all that a command told of it
    monkeypatch.setenv("DBT_LOG_FORMAT", "json")
    with pytest.raises(KeyError):
        asked_of_spark(tmp_path, monkeypatch, tables=[{"name": "ads", "folders": ["/lake/raw/ads"]}])
    told = json.loads(capsys.readouterr().out)["info"]
    assert (told["level"], told["msg"]) == ("error", "Spark: KeyError: 'columns'")


def test_what_java_refuses_is_told_in_its_words_and_not_by_the_call_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # of too little memory, or of an address that is none of this machine's, only that a call had failed was told
    with pytest.raises(RuntimeError):
        asked_of_spark(tmp_path, monkeypatch, tables=[], spark_is=Refusing(tmp_path / "log"))
    words = "java.lang.IllegalArgumentException: Executor memory 314572800 must be at least 471859200."
    assert capsys.readouterr().out == f"Spark: {words}\n"


class Unbegun:
    """Stands where a Spark would whose Java ends at once, with what it says to a terminal or to a log."""

    def __init__(self, words: str, descriptor: int) -> None:
        self.words, self.descriptor = words, descriptor

    def __getattr__(self, name: str) -> Any:
        return self.end if name == "getOrCreate" else self

    def __call__(self, *_: Any) -> Unbegun:
        return self

    def end(self) -> None:
        subprocess.run(["printf", "%s", self.words], stdout=self.descriptor, check=True)
        raise RuntimeError("[JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number.")


@pytest.mark.parametrize("descriptor", [1, 2])
def test_a_java_that_does_not_begin_is_told_in_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], descriptor: int
) -> None:
    # of a driver's memory that the machine lacks, or of YARN without its settings, only this was told
    words = "Error occurred during initialization of VM\nCould not reserve enough space for 96636764KB object heap\n"
    words = (
        "WARNING: Using incubator modules\n26/11/28 21:32:45 WARN Utils: Set it\n" + words + "\tat Main(Main.java)\n"
    )
    log = tmp_path / "log"
    log.touch()
    # standard error is the log, as it is where orchestration.spark starts the driver
    ours = os.dup(2)
    with log.open("ab") as spoken:
        os.dup2(spoken.fileno(), 2)
    try:
        with pytest.raises(RuntimeError):
            asked_of_spark(tmp_path, monkeypatch, tables=[], spark_is=Unbegun(words, descriptor))
    finally:
        os.dup2(ours, 2)
        os.close(ours)
    assert capfd.readouterr().out == (
        "Spark: its Java did not begin: Error occurred during initialization of VM"
        " Could not reserve enough space for 96636764KB object heap\n"
    )


def test_a_master_that_takes_no_application_may_be_of_another_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # of a cluster of Spark 4.2 it was told that a stopped context's methods cannot be called
    reason = "All masters are unresponsive! Giving up."
    logged = f"ERROR StandaloneSchedulerBackend: Application has been killed. Reason: {reason}\n"
    with pytest.raises(RuntimeError):
        asked_of_spark(tmp_path, monkeypatch, tables=[], spark_is=Refusing(tmp_path / "log", logged))
    assert capsys.readouterr().out == (
        f"Spark: its application was stopped: {reason}"
        " One that is there takes no application of another version of Spark than its own; here it is 4.3.0\n"
    )
