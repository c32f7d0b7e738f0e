"""Small plots for the pages of assets, as pictures inside the metadata: nothing is fetched to show them."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import dagster as dg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from orchestration.ranking.evaluation import Evaluation

BLUE, GREY, RED = "#3b6ea5", "#8a8a8a", "#b04a3a"


def day_plot(title: str, points: Sequence[tuple[Any, Any]]) -> dg.MarkdownMetadataValue:
    """A bar per day."""
    from matplotlib.collections import PolyCollection
    from matplotlib.dates import date2num

    figure = _figure(7, 2.2, layout=None)
    axes = figure.subplots(gridspec_kw={"left": 0.09, "right": 0.97, "bottom": 0.12, "top": 0.88})
    # all in one: `bar` makes an object of each, half a second for a year of them, and every build draws some
    numbers: Sequence[float] = date2num([day for day, _ in points])  # type: ignore[no-untyped-call]
    heights = [float(value) for _, value in points]
    bars = PolyCollection([_bar(*one) for one in zip(numbers, heights, strict=True)], facecolors=BLUE)
    bars.sticky_edges.y.append(0)
    axes.add_collection(bars)
    axes.xaxis_date()
    axes.autoscale()
    _quiet(axes, title)
    return _picture(figure, title)


def _bar(day: float, value: float) -> list[tuple[float, float]]:
    left, right = day - 0.45, day + 0.45
    return [(left, 0), (left, value), (right, value), (right, 0)]


def skill_plot(title: str, looks: Sequence[Evaluation], *, needed: float) -> dg.MarkdownMetadataValue:
    """Of the newest look: what was told beside what came, and the AUC beside that of the rules; then every look so far.

    A look passes only with its lower bound above `needed`.
    """
    newest = looks[-1]
    figure = _figure(9, 2.8)
    told, skill, history = figure.subplots(1, 3)
    _reliability(told, newest)
    _bounds(skill, newest, needed)
    _history(history, looks, needed)
    figure.suptitle(f"{title}, data to {newest.day}: {newest.fault or 'passes'}", fontsize=9)
    return _picture(figure, title)


def _reliability(axes: Axes, look: Evaluation) -> None:
    most = max(value for mean, seen, _ in look.curve for value in (mean, seen))
    axes.plot([0, most], [0, most], color=GREY, linewidth=0.8, linestyle="--")
    axes.plot([mean for mean, _, _ in look.curve], [seen for _, seen, _ in look.curve], marker="o", ms=3, color=BLUE)
    axes.set_xlabel("told", fontsize=7)
    axes.set_ylabel("came true", fontsize=7)
    _quiet(axes, f"Reliability of unseen rows (skill {look.brier_skill:+.2f})")


def _bounds(axes: Axes, look: Evaluation, needed: float) -> None:
    for place, (auc, color) in enumerate(((look.auc, BLUE), (look.rules, GREY))):
        if auc.value == auc.value:
            axes.plot([place, place], [auc.low, auc.high], color=color, linewidth=2)
            axes.plot([place], [auc.value], marker="o", color=color)
            axes.annotate(f" {auc.value:.2f}", (place, auc.value), fontsize=7, va="center")
    axes.axhline(needed, color=RED, linewidth=0.8)
    axes.set_xlim(-0.6, 1.6)
    axes.set_xticks([0, 1], ["model", "rules"])
    _quiet(axes, "AUC of unseen rows, 90 % bounds")


def _history(axes: Axes, looks: Sequence[Evaluation], needed: float) -> None:
    for look in looks:
        day: Any = look.day
        axes.plot([day, day], [look.auc.low, look.auc.high], color=BLUE, linewidth=1)
        axes.plot([day], [look.auc.value], marker="o" if look.passed else "x", color=BLUE if look.passed else RED)
    axes.axhline(needed, color=RED, linewidth=0.8)
    days: Any = [look.day for look in looks[-5:]]
    axes.set_xticks(days)
    axes.tick_params(axis="x", rotation=30)
    _quiet(axes, "Every look (x = did not pass)")


def _figure(width: float, height: float, layout: Literal["constrained"] | None = "constrained") -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout=layout)
    FigureCanvasAgg(figure)
    return figure


def _quiet(axes: Axes, title: str) -> None:
    axes.set_title(title, fontsize=9 if len(title) < 30 else 7)
    axes.tick_params(labelsize=7)
    axes.spines[["top", "right"]].set_visible(False)


def _picture(figure: Figure, title: str) -> dg.MarkdownMetadataValue:
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=90)
    encoded = base64.b64encode(picture.getvalue()).decode()
    return dg.MarkdownMetadataValue(f"![{title}](data:image/png;base64,{encoded})")
