"""What a build on Spark looks for before its first model, and what it says of that which is missing."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from click.testing import CliRunner

from orchestration import spark_needs, warehouse_state
from orchestration.assets.warehouse import warehouse_assets
from orchestration.resources import Deployment, Warehouse, dbt
from orchestration.spark_needs import SparkMissingError, require, require_cluster
from tests.end_to_end.command import free_port
from tests.fixtures.java import java_that_says
from touchledger.cli import main
from touchledger.settings import Settings

MASTER = "spark://cluster:7077"


@pytest.fixture
def meant(home: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A deployment on Spark with a Java and an environment that are only there to be found."""
    python = home / "environment" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch(mode=0o755)
    monkeypatch.setenv("JAVA_HOME", str(java_that_says(home / "java", 'openjdk version "17.0.15" 2025-04-15')))
    return Settings(home=home, spark_master=MASTER, spark_environment=home / "environment")


@pytest.fixture
def master() -> Iterator[str]:
    """Host and port where a master listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


def at(settings: Settings, address: str) -> Settings:
    return settings.model_copy(update={"spark_master": address})


def test_without_a_cluster_the_command_names_the_setting_and_nothing_runs(home: Path) -> None:
    done = CliRunner().invoke(main, ["build", "--target", "spark"])
    assert done.exit_code == 1
    assert "TOUCHLEDGER_SPARK_MASTER" in done.output
    assert not (home / "warehouse.duckdb").exists()


def test_without_an_environment_it_names_the_command_that_makes_one(home: Path) -> None:
    with pytest.raises(SparkMissingError, match="make spark"):
        require(Settings(home=home, spark_master=MASTER, spark_environment=home / "nowhere"))


@pytest.mark.parametrize("sign", ["*", "?", "[", "{", "\\"])
def test_a_folder_that_spark_reads_as_a_pattern_is_refused_before_the_build(meant: Settings, sign: str) -> None:
    # Spark did not find a folder that was there, or a whole build ended without its marts being found
    with pytest.raises(SparkMissingError, match="TOUCHLEDGER_SPARK_FOLDER"):
        require(meant.model_copy(update={"spark_folder": meant.home / f"of {sign}ours"}))
    require(meant.model_copy(update={"spark_folder": meant.home / 'ñ o\'b y}] 100% #1; "q", c:d=e'}))


def test_of_the_masters_of_an_address_one_has_to_answer(meant: Settings, master: str) -> None:
    require_cluster(at(meant, f"spark://127.0.0.1:{free_port()},{master}"))
    # whose masters only Spark itself can ask
    require_cluster(at(meant, "local[2]"))


@pytest.mark.parametrize("nobody", ["127.0.0.1:{port}", "no-such-host.invalid:7077", "127.0.0.1", "127.0.0.1:70770"])
def test_an_address_where_no_master_answers_is_named(meant: Settings, nobody: str) -> None:
    # Spark asked for two minutes, and the command then told an exit code
    nobody = nobody.format(port=free_port())
    with pytest.raises(SparkMissingError, match=f"answers at {nobody}: .* TOUCHLEDGER_SPARK_MASTER"):
        require_cluster(at(meant, f"spark://{nobody}"))


def test_without_java_the_build_does_not_begin(
    meant: Settings, master: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SparkMissingError, match="install Java 17"):
        require_cluster(at(meant, f"spark://{master}"))


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ('openjdk version "11.0.22" 2024-01-16', "is Java 11, which is too old for Spark: install Java 17"),
        ('java version "1.8.0_402"', "is Java 8, which is too old for Spark: install Java 17"),
        # as macOS's own, which is there without any Java
        ("Unable to locate a Java Runtime.", "is no Java that runs: install Java 17"),
    ],
)
def test_a_java_that_spark_does_not_run_on_is_told_before_the_build(
    meant: Settings, master: str, monkeypatch: pytest.MonkeyPatch, said: str, found: str
) -> None:
    # the build began, and ended with "Java gateway process exited before sending its port number"
    home = java_that_says(meant.home / "old", said)
    monkeypatch.setenv("JAVA_HOME", str(home))
    with pytest.raises(SparkMissingError, match=f"{home}/bin/java {found}"):
        require_cluster(at(meant, f"spark://{master}"))


@pytest.mark.parametrize(
    ("said", "release"),
    [('Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "21" 2023-09-19', 21), ('java version "25.0.3-ea"', 25)],
)
def test_the_release_of_a_java_is_read_from_what_it_says(tmp_path: Path, said: str, release: int) -> None:
    assert spark_needs.java_version(str(java_that_says(tmp_path, said) / "bin" / "java")) == release


def test_what_is_no_program_has_no_release(tmp_path: Path) -> None:
    assert spark_needs.java_version(str(tmp_path)) is None


@pytest.mark.usefixtures("settings")
def test_a_run_that_finds_no_cluster_says_so_and_leaves_the_warehouse_finished(
    meant: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOUCHLEDGER_SPARK_MASTER", f"spark://127.0.0.1:{free_port()}")
    monkeypatch.setenv("TOUCHLEDGER_SPARK_ENVIRONMENT", str(meant.spark_environment))
    warehouse_state.end(meant, "1")
    engine = {"ops": {"warehouse": {"config": {"engine": "spark"}}}}
    resources = {"deployment": Deployment(), "warehouse": Warehouse(), "dbt": dbt()}
    with pytest.raises(dg.Failure, match="SparkMissingError: no Spark master answers"):
        dg.materialize([warehouse_assets], resources=resources, run_config=engine)
    warehouse_state.require_finished(meant)
    done = CliRunner().invoke(main, ["build", "--target", "spark"])
    assert (done.exit_code, "no Spark master answers" in done.output) == (1, True)


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize(
    "part", [dg.AssetSelection.assets(["marts", "profiles"]), dg.AssetSelection.checks_for_assets(warehouse_assets)]
)
def test_a_part_of_the_models_on_spark_is_refused_and_leaves_the_warehouse_finished(
    meant: Settings, part: dg.AssetSelection
) -> None:
    # it failed over tables of other models, which no run on Spark keeps, and nothing was published before a whole build
    warehouse_state.end(meant, "1")
    engine = {"ops": {"warehouse": {"config": {"engine": "spark"}}}}
    resources = {"deployment": Deployment(), "warehouse": Warehouse(), "dbt": dbt()}
    with pytest.raises(dg.Failure, match=r"PartOnSparkError: .* begin the job `build`"):
        dg.materialize([warehouse_assets], resources=resources, run_config=engine, selection=part)
    warehouse_state.require_finished(meant)
