"""The pipeline on a terminal: one line per stage, with what it has done so far."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from orchestration.log_files import put_aside
from touchledger.output import Output
from touchledger.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestration.pipeline import Progress as Step

MODELS = "Build and test the models"
# which stage a step belongs to, by how its name begins
STAGES = {
    "landing__ad_platform": "Pull from ad platforms, stores and processors",
    "landing__store": "Pull from ad platforms, stores and processors",
    "landing__payments": "Pull from ad platforms, stores and processors",
    "landing__": "Land events, settings and files",
    "raw__": "Check data sets by their contract",
    "warehouse": MODELS,
    "marts__": MODELS,
    "ranker": "Fit, look and tell",
    "published": "Check and publish the snapshot",
}


def stage_of(step: str) -> str | None:
    """The stage of a step, by the longest beginning that fits."""
    fitting = [beginning for beginning in STAGES if step.startswith(beginning)]
    return STAGES[max(fitting, key=len)] if fitting else None


class Stages:
    """Counts of the stages of one run; `totals` says how many steps (or tables) each will have."""

    def __init__(self, progress: Progress, totals: dict[str, int]) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {
            stage: progress.add_task(stage, total=total, start=False, detail="") for stage, total in totals.items()
        }
        self._rows: dict[str, int] = {}
        self._written: set[str] = set()

    def __call__(self, step: Step) -> None:
        """Take note of one thing that happened."""
        stage = stage_of(step.step)
        task = self._tasks.get(stage or "")
        if task is None or stage is None:
            return
        if step.kind == "started" and not self._progress.tasks[task].started:
            self._progress.start_task(task)
        if step.kind == "wrote" and step.subject not in self._written:
            # a partitioned asset is written once per day, each time with the figures of the whole pull
            self._written.add(step.subject)
            self._wrote(stage, task, step)
        if step.kind in ("broke", "failed"):
            self._progress.update(task, detail=f"[red]{step.subject or step.step} {step.kind}[/]")
        if self._progress.tasks[task].finished:
            self._progress.stop_task(task)

    def _wrote(self, stage: str, task: TaskID, step: Step) -> None:
        self._progress.advance(task)
        rows = step.metadata.get("dagster/row_count")
        # dbt does not say how many rows a model has: the few of the ranker's table would be read as those of all models
        if isinstance(rows, int) and stage != MODELS:
            self._rows[stage] = self._rows.get(stage, 0) + rows
            self._progress.update(task, detail=f"{self._rows[stage]:,} rows")


@contextmanager
def showing(output: Output, settings: Settings, totals: dict[str, int]) -> Iterator[Callable[[Any], None]]:
    """A listener for `run_job` that draws the stages; what libraries print meanwhile goes to logs/pipeline.log."""
    log = settings.home / "logs" / "pipeline.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    put_aside(log, settings.log_mb)
    columns = (
        TextColumn("{task.description:<46}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[detail]}"),
    )
    with log.open("a", encoding="utf-8") as noise:
        # where nobody watches, all that is written is how it ended
        watched = output.console.is_terminal
        progress = Progress(*columns, console=output.console, disable=output.is_bare, auto_refresh=watched)
        with progress, redirect_stdout(noise), redirect_stderr(noise):
            yield Stages(progress, totals)
