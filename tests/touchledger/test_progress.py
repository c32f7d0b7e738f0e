"""Which stage a step of the pipeline is shown under."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.progress import Progress

from orchestration.pipeline import Progress as Step
from touchledger.progress import Stages, stage_of


@pytest.mark.parametrize(
    ("step", "stage"),
    [
        ("landing__ad_platform", "Pull from ad platforms, stores and processors"),
        ("landing__files", "Land events, settings and files"),
        ("raw__touches", "Check data sets by their contract"),
        ("warehouse", "Build and test the models"),
        ("marts__ad_likelihoods", "Build and test the models"),
        ("published", "Check and publish the snapshot"),
        ("something_else", None),
    ],
)
def test_the_longest_beginning_names_the_stage(step: str, stage: str | None) -> None:
    assert stage_of(step) == stage


def test_an_asset_written_once_per_day_counts_once() -> None:
    progress = Progress(console=Console(file=io.StringIO()))
    stages = Stages(progress, {"Pull from ad platforms, stores and processors": 3})
    for _ in range(28):
        stages(Step("wrote", "landing__ad_platform", "landing/ad_platform", {"dagster/row_count": 10}))
    (task,) = progress.tasks
    assert (task.completed, task.fields["detail"]) == (1, "10 rows")


def test_models_show_no_rows_because_only_one_of_their_steps_counts_them() -> None:
    progress = Progress(console=Console(file=io.StringIO()))
    stages = Stages(progress, {"Build and test the models": 2})
    stages(Step("wrote", "warehouse", "marts/campaigns", {}))
    stages(Step("wrote", "marts__ad_likelihoods", "marts/ad_likelihoods", {"dagster/row_count": 0}))
    (task,) = progress.tasks
    assert (task.completed, task.fields["detail"]) == (2, "")
