"""Where the time of one GET /campaigns goes: `python -m benchmarks.request_profile`.

The application answers in this process, without gunicorn, over a small published world. The text that is kept under
benchmarks/results names functions by milliseconds of CPU in one request; a profiler adds to each call, so the plain
figure of the same requests stands above it.
"""

from __future__ import annotations

import cProfile
import io
import os
import pstats
import re
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import click

from api import logs
from api.app import create_app
from api.http import Application
from benchmarks.arrivals import Question
from benchmarks.campaign_load import deployment
from touchledger.settings import Settings

RESULTS = Path(__file__).parent / "results"
COUNTS = {1_000: 1, 100_000: 1}
ENTRIES = 40
AGAIN, PASSES = 200, 8
SOURCES = re.compile(r"(?:/[^\s:(]+)?/(?:site-packages|lib/python3\.\d+)/")


@click.command()
@click.option("--requests", default=1_000, show_default=True)
@click.option("--size", default=100_000, show_default=True, type=click.Choice(["1000", "100000"]))
@click.option("--seed", default=7, show_default=True)
def main(requests: int, size: str, seed: int) -> None:
    """Write benchmarks/results/request-profile.txt, and print it."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TOUCHLEDGER_HOME"] = folder
        settings = Settings()
        questions = deployment(settings, counts=COUNTS, keys=2_000, seed=seed)[0][int(size)]
        with (Path(folder) / "access.log").open("w") as stream:
            logs.configure(stream=stream)
            text = profiled(create_app(settings), questions[: 2 * requests])
    text = f"One GET /campaigns of {int(size):,} entity-days, state on SQLite; milliseconds of CPU\n{text}"
    (RESULTS / "request-profile.txt").write_text(text)
    click.echo(text)


def profiled(app: Application, questions: Sequence[Question]) -> str:
    """The plain figure, then the functions that took longest by themselves, per request."""
    half = len(questions) // 2
    # every slice is in memory afterwards, as it is soon after a publication
    _ask(app, questions)
    # other work on the machine makes a request dearer and never cheaper
    passes = zip(*(_ask(app, questions[:AGAIN]) for _ in range(PASSES)), strict=True)
    plain = sum(map(min, passes)) / AGAIN * 1000
    profiler = cProfile.Profile()
    profiler.runcall(_ask, app, questions[half:])
    out = io.StringIO()
    stats = pstats.Stats(profiler, stream=out).sort_stats("tottime")
    under = stats.total_tt / half * 1000  # type: ignore[attr-defined]
    least = f"each of {AGAIN} requests at its least of {PASSES}"
    rows = [f"without a profiler {plain:.2f} ({least}), under it {under:.2f}\n"]
    rows.append(f"{'itself':>8} {'with callees':>13} {'calls':>7}  function")
    for place in stats.fcn_list[:ENTRIES]:  # type: ignore[attr-defined]
        _, calls, itself, whole, _ = stats.stats[place]  # type: ignore[attr-defined]
        name = SOURCES.sub("", pstats.func_std_string(place)).replace(str(RESULTS.parent.parent) + "/", "")
        rows.append(f"{itself / half * 1000:8.3f} {whole / half * 1000:13.3f} {calls / half:7.1f}  {name}")
    return "\n".join(rows) + "\n"


def _ask(app: Application, questions: Sequence[Question]) -> list[float]:
    """Seconds of CPU of each."""
    client, spent = app.test_client(), []
    for question in questions:
        begun = time.thread_time()
        answer = client.get(question.path, headers={"Authorization": f"Bearer {question.key}"})
        spent.append(time.thread_time() - begun)
        if answer.status_code != 200:
            raise click.ClickException(answer.text[:500])
    return spent


if __name__ == "__main__":
    main()
