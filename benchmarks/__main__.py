"""Every step of `make bench`, one after the other, each a command of its own that can be run alone."""

from __future__ import annotations

import subprocess
import sys

import click

from benchmarks.sizes import Sizes, written

# step: its module, the option that takes the sizes, the most it takes by default, and what else it is told
STEPS: dict[str, tuple[str, str | None, int, list[str]]] = {
    "credit": ("benchmarks.credit", "--sizes", 10**12, []),
    "build": ("benchmarks.build", "--sizes", 10**12, []),
    "increment": ("benchmarks.increment", "--sizes", 20_000_000, []),
    "scores": ("benchmarks.scores", None, 0, ["--ads", "1000000"]),
    "ad-people": ("benchmarks.ad_people", None, 0, []),
    "campaigns": ("benchmarks.campaign_load", None, 0, []),
    "tables": ("benchmarks.scaling", None, 0, []),
}


@click.command()
@click.option("--sizes", type=Sizes(), default="1M,10M,50M", show_default=True, help="Touches, with commas.")
@click.option("--steps", default=",".join(STEPS), show_default=True, help="Which steps, with commas.")
def main(sizes: list[int], steps: str) -> None:
    """Measure everything; each step prints its tables and keeps its figures under benchmarks/results."""
    unknown = set(steps.split(",")) - set(STEPS)
    if unknown:
        raise click.BadParameter(f"{', '.join(sorted(unknown))}: no such step", param_hint="--steps")
    failed = [step for step in steps.split(",") if not _run(step, sizes)]
    if failed:
        raise click.ClickException(f"{', '.join(failed)} did not end well; the other figures are kept")


def _run(step: str, sizes: list[int]) -> bool:
    module, option, most, further = STEPS[step]
    click.echo(f"\n== {step}: python -m {module}")
    given = [option, ",".join(written(size) for size in sizes if size <= most)] if option else []
    command = [sys.executable, "-m", module, *given, *further]
    return subprocess.run(command, check=False).returncode == 0  # noqa: S603 - our own modules


if __name__ == "__main__":
    main()
