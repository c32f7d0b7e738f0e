"""What a run's resources leave behind in the process that it ran in."""

from __future__ import annotations

import os

import dagster as dg
import pytest

from orchestration.orphans import PARENT_VARIABLE
from orchestration.resources import Warehouse
from touchledger.settings import Settings


def test_the_processes_of_a_command_are_not_told_a_parent_once_its_run_is_over(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Dagster, which `up` starts after its own run, handed it on: dbt, begun there to parse the project, ended at once
    monkeypatch.delenv(PARENT_VARIABLE, raising=False)
    with Warehouse().yield_for_execution(dg.build_init_resource_context()):
        assert os.environ[PARENT_VARIABLE] == str(os.getpid())
    assert PARENT_VARIABLE not in os.environ
