"""The tables of docs/scaling.md and their plot, from benchmarks/results: `python -m benchmarks.scaling`.

Everything between the marks of the page is written here, so it says what was measured and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.contestant import OURS
from benchmarks.credit_table import HEAD, rows
from benchmarks.increment import FIGURES
from benchmarks.machine import RESULTS, kept
from benchmarks.plan import plan
from benchmarks.sizes import written
from touchledger.settings import REPOSITORY

PAGE = REPOSITORY / "docs" / "scaling.md"
PLOT = RESULTS / "scaling.svg"
NONE = "Nothing is measured yet."


def main() -> None:
    """Write the page's tables and the plot anew."""
    credits, builds = kept("credit-*.json"), kept("build-*.json")
    PAGE.write_text(filled(PAGE.read_text(), credits, builds, kept("increment-*.json"), kept("doubled-*.json")))
    if credits:
        draw(credits, builds)


def filled(
    page: str,
    credits: Sequence[dict[str, Any]],
    builds: Sequence[dict[str, Any]],
    increments: Sequence[dict[str, Any]],
    pairs: Sequence[dict[str, Any]],
) -> str:
    """The page with every marked part written from the figures. Raises ValueError where a mark is missing."""
    parts = {"curve": curve(credits), "peers": peers(credits), "builds": whole(builds), "plan": plan(builds)}
    return marked(page, parts | {"increments": days(increments), "doubled": doubled(pairs)})


def marked(page: str, parts: Mapping[str, str]) -> str:
    """The page with these texts between their marks. Raises ValueError where a mark is missing."""
    for name, text in parts.items():
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        if begin not in page or end not in page:
            raise ValueError(f"the page has no part {name}")
        head, rest = page.split(begin, 1)
        page = f"{head}{begin}\n{text}\n{end}{rest.split(end, 1)[1]}"
    return page


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; NONE without lines."""
    body = [f"| {' | '.join(line)} |" for line in lines]
    rule = "|".join(["---"] + ["--:"] * (len(head) - 1))
    return "\n".join([f"| {' | '.join(head)} |", f"|{rule}|", *body]) if body else NONE


def curve(credits: Sequence[dict[str, Any]]) -> str:
    """The credit stage by size: CPU per touch against the smallest size of its kind, then seconds."""
    firsts: dict[str, float] = {}
    lines = []
    for result in credits:
        kind, ours = result["world"]["kind"], result["contestants"][OURS]
        each = ours["cpu"] / result["touches"] * 1e6
        first = firsts.setdefault(kind, each)
        bounds = [
            f"{ours['cpu'] / result['contestants'][way]['cpu']:.1f}" if way in result["contestants"] else ""
            for way in ("one scan of its columns", "one sort of its columns")
        ]
        lines.append((
            f"{written(result['world']['touches'])} {kind}", f"{each / first:.2f}", *bounds, f"{each:.2f}",
            f"{ours['cpu']:.1f}", f"{ours['wall']:.1f}", f"{ours['peak_mb']:,}", _load(result),
        ))  # fmt: skip
    head = ("touches", "CPU per touch, smallest = 1", "over one scan", "over one sort", "CPU s per million", "CPU s",
            "wall s", "peak MB", "load")  # fmt: skip
    return table(head, lines)


def peers(credits: Sequence[dict[str, Any]]) -> str:
    """Every contestant of every size, ratios first."""
    lines = [
        (f"{written(result['world']['touches'])} {result['world']['kind']}", *row)
        for result in credits
        for row in rows(result)
    ]
    return table(("touches", "contestant", *HEAD[1:]), lines)


def whole(builds: Sequence[dict[str, Any]]) -> str:
    """The whole build by size, with bytes per touch and its largest groups of models."""
    lines = []
    for result in builds:
        touches = result["world"]["touches"]
        largest = ", ".join(f"{name} {spent:.0f} s" for name, spent in list(result["groups"].items())[:3])
        each = [f"{result['bytes'][place] / touches:.0f}" for place in ("lake", "warehouse", "snapshot")]
        costs = [f"{result['cpu'] / touches * 1e6:.1f}", f"{result['wall']:.0f}", f"{result['cpu']:.0f}"]
        name = f"{written(touches)} {result['world']['kind']}"
        lines.append((name, *costs, f"{result['peak_mb']:,}", *each, largest, _load(result)))
    measured = ("CPU s per million", "wall s", "CPU s", "peak MB", "lake bytes per touch", "warehouse", "snapshot")
    head = ("touches", *measured, "largest groups", "load")
    return table(head, lines)


def days(increments: Sequence[dict[str, Any]]) -> str:
    """A new day beside the whole build of the same lake: of the models that keep rows, of all, and of the command."""
    lines = []
    for result in increments:
        now, then = result["runs"]["increment"], result["runs"]["whole"]
        pairs = [(now[name], then[name]) for name in FIGURES]
        told = [f"{one:.1f} / {other:.1f} ({other / one:.1f}x)" for one, other in pairs]
        name = f"{written(result['world']['touches'])} {result['world']['kind']}"
        rows_unlike = sum(result["rows_unlike"].values())
        lines.append((name, f"{result['new_touches']:,}", *told, str(rows_unlike), _load(result)))
    return table(("history", "touches of the day", *FIGURES.values(), "rows unlike", "load"), lines)


def doubled(pairs: Sequence[dict[str, Any]]) -> str:
    """The same new day on a history and on twice the history."""
    lines = []
    for result in pairs:
        once, twice = result["runs"]["once"], result["runs"]["twice"]
        told = [f"{once[name]:.1f} / {twice[name]:.1f} ({twice[name] / once[name]:.2f}x)" for name in FIGURES]
        touches = result["world"]["touches"]
        name = f"{written(touches)} / {written(2 * touches)} {result['world']['kind']}"
        people = " / ".join(f"{of['changed_people']:,}" for of in result["changed"].values())
        lines.append((name, people, *told, _load(result)))
    return table(("history", "changed people", *FIGURES.values(), "load"), lines)


def _load(result: dict[str, Any]) -> str:
    return str(result["machine"]["load_average"])


def draw(credits: Sequence[dict[str, Any]], builds: Sequence[dict[str, Any]]) -> None:
    """CPU seconds by touches on logarithmic axes: the credit stage, its bounds and peers, and the whole build."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams |= {"svg.hashsalt": "touchledger", "svg.fonttype": "none"}
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    skewed = [result for result in credits if result["world"]["kind"] == "skewed"]
    for way in dict.fromkeys(way for result in skewed for way in result["contestants"]):
        points = [(r["touches"], r["contestants"][way]["cpu"]) for r in skewed if way in r["contestants"]]
        axes.plot(*zip(*points, strict=True), marker="o", linewidth=2.5 if way == OURS else 1, label=way)
    points = [(r["world"]["touches"], r["cpu"]) for r in builds if r["world"]["kind"] == "skewed"]
    if points:
        axes.plot(*zip(*points, strict=True), marker="s", linestyle="--", label="touchledger build, all of it")
    axes.set(xscale="log", yscale="log", xlabel="touches", ylabel="CPU seconds")
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    figure.savefig(PLOT, metadata={"Date": None})


if __name__ == "__main__":
    main()
