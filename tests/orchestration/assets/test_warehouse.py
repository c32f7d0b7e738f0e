"""How the step of the models ends where dbt does not end well."""

from __future__ import annotations

import io
import signal
from contextlib import redirect_stdout
from pathlib import Path

import dagster as dg
import pytest

from orchestration.assets.warehouse import KilledError, told
from orchestration.dagster_dbt import DbtCliInvocation
from orchestration.dbt_manifest import PROJECT
from orchestration.resources import WarehouseDbt
from touchledger.settings import Settings


def _ended(by: str, folder: Path) -> DbtCliInvocation:
    executable = folder / "dbt"
    executable.write_text(f"#!/bin/sh\n{by}\n")
    executable.chmod(0o700)
    dbt = WarehouseDbt(project_dir=str(PROJECT), profiles_dir=str(PROJECT), dbt_executable=str(executable))
    return dbt.cli(["build"], target_path=folder)


def test_a_dbt_that_was_killed_is_told_with_what_it_most_likely_lacked(settings: Settings, tmp_path: Path) -> None:
    # it was `failed with exit code -9`, and a log that holds no more than that
    with pytest.raises(KilledError, match=r"killed.* TOUCHLEDGER_WAREHOUSE_MEMORY_LIMIT, here 50%"):
        list(told(_ended("kill -9 $$", tmp_path), settings, on_spark=False))


def test_one_that_was_killed_on_spark_is_told_with_the_memory_that_its_java_has(
    settings: Settings, tmp_path: Path
) -> None:
    # the limit of models on DuckDB was named, which no model on Spark uses
    with pytest.raises(KilledError, match=r"killed; .* TOUCHLEDGER_SPARK_DRIVER_MEMORY, here 2g") as killed:
        list(told(_ended("kill -9 $$", tmp_path), settings, on_spark=True))
    assert "WAREHOUSE" not in str(killed.value)


def test_a_dbt_that_failed_is_told_in_its_own_words(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(dg.Failure, match="exit code `2`"):
        list(told(_ended("exit 2", tmp_path), settings, on_spark=False))


def test_a_dbt_whose_words_nobody_takes_any_more_is_gone(settings: Settings, tmp_path: Path) -> None:
    # on a full disk Dagster's log took none of them, and dbt wrote on after its step had failed
    dbt, nowhere = _ended("echo begun; exec sleep 600", tmp_path), io.StringIO()
    nowhere.close()
    with pytest.raises(ValueError, match="closed file"), redirect_stdout(nowhere):
        next(told(dbt, settings, on_spark=False))
    assert dbt.process.returncode == -signal.SIGKILL
