"""What the doctor says of Spark: what a build there would find, and nothing where none is meant."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.end_to_end.command import free_port
from tests.fixtures.java import java_that_says
from touchledger.doctor_packages import pins
from touchledger.doctor_spark import ENOUGH_BYTES, LOCK, cluster
from touchledger.settings import Settings


@pytest.fixture
def master() -> Iterator[str]:
    """Address of a master that listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"spark://127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def meant(home: Path, master: str, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A deployment on Spark with a Java and an environment that are only there to be found, as locked."""
    environment = home / "environment"
    python = environment / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch(mode=0o755)
    monkeypatch.setenv("JAVA_HOME", str(java_that_says(home / "java", 'openjdk version "17.0.15" 2025-04-15')))
    for name, version in pins(LOCK).items():
        told = environment / "lib" / "python3.11" / "site-packages" / f"{name}-{version}.dist-info" / "METADATA"
        told.parent.mkdir(parents=True)
        told.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return Settings(home=home, spark_master=master, spark_environment=environment)


def told(settings: Settings) -> dict[str, tuple[str, str]]:
    return {finding.subject: (finding.verdict, finding.found) for finding in cluster(settings)}


def test_nothing_is_said_of_spark_where_no_build_is_meant_for_it(home: Path) -> None:
    assert told(Settings(home=home)) == {}


def test_a_deployment_that_can_build_on_spark_is_well(meant: Settings) -> None:
    assert {check: verdict for check, (verdict, _) in told(meant).items()} == {
        "Spark": "ok",
        "Spark's packages": "ok",
        "Spark's folder": "ok",
    }


def test_spark_as_the_engine_of_all_builds_asks_for_an_address(home: Path) -> None:
    (finding, *_) = cluster(Settings(home=home, engine="spark"))
    assert (finding.verdict, finding.found) == ("fail", "no Spark cluster is named")
    assert finding.way_out.startswith("set TOUCHLEDGER_SPARK_MASTER")


def test_a_master_that_does_not_answer_fails_and_the_rest_is_looked_at(meant: Settings) -> None:
    address = f"127.0.0.1:{free_port()}"
    found = told(meant.model_copy(update={"spark_master": f"spark://{address}"}))
    assert found["Spark"] == ("fail", f"no Spark master answers at {address}")
    assert found["Spark's packages"][0] == "ok"


def test_an_old_java_fails_and_the_java_that_is_used_is_told(meant: Settings) -> None:
    java = meant.home / "java"
    assert told(meant)["Spark"] == ("ok", f"{meant.spark_master} with Java 17 of {java}/bin/java")
    java_that_says(java, 'openjdk version "11.0.22" 2024-01-16')
    (finding, *_) = cluster(meant)
    assert (finding.verdict, finding.found) == ("fail", f"{java}/bin/java is Java 11, which is too old for Spark")
    assert finding.way_out.startswith("install Java 17")


def test_packages_that_are_missing_or_of_another_version_are_named(meant: Settings) -> None:
    packages = meant.spark_environment / "lib" / "python3.11" / "site-packages"
    (pyspark,) = packages.glob("pyspark-*")
    (pyspark / "METADATA").write_text("Metadata-Version: 2.1\nName: pyspark\nVersion: 3.5.0\n")
    (sqlparse,) = packages.glob("sqlparse-*")
    shutil.rmtree(sqlparse)
    wanted = pins(LOCK)
    verdict, found = told(meant)["Spark's packages"]
    assert verdict == "warn"
    assert set(found.split(", ")) == {
        f"pyspark 3.5.0 instead of {wanted['pyspark']}",
        f"sqlparse missing instead of {wanted['sqlparse']}",
    }


def test_an_environment_that_is_not_there_is_said_once(meant: Settings) -> None:
    shutil.rmtree(meant.spark_environment)
    found = told(meant)
    assert found["Spark"][0] == "fail" and "there is no Spark in" in found["Spark"][1]
    assert "Spark's packages" not in found


def test_a_folder_of_runs_that_cannot_be_written_fails(meant: Settings) -> None:
    (meant.home / "a file").write_text("")
    found = told(meant.model_copy(update={"spark_folder": meant.home / "a file"}))
    assert found["Spark's folder"] == ("fail", f"{meant.home / 'a file'}: Not a directory")


def test_a_folder_of_runs_without_room_warns(meant: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=ENOUGH_BYTES - 1))
    assert told(meant)["Spark's folder"][0] == "warn"


def test_a_folder_on_another_disk_than_the_lake_is_told_with_what_each_build_copies(meant: Settings) -> None:
    landed = meant.lake / "raw" / "touches" / "profile" / "app" / "batch.parquet"
    landed.parent.mkdir(parents=True)
    with landed.open("wb") as file:
        file.truncate(3 * 2**30)
    assert "Spark's copy of the lake" not in told(meant)
    # no disk of ours is the kernel's
    elsewhere = meant.model_copy(update={"spark_folder": Path("/proc/self")})
    found = "/proc/self is on another disk than the lake, so each build first copies 3.0 GiB into it"
    assert told(elsewhere)["Spark's copy of the lake"] == ("warn", found)
    landed.write_bytes(b"")
    assert told(elsewhere)["Spark's copy of the lake"][0] == "ok"
