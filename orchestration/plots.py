"""Small plots for the pages of assets, as pictures inside the metadata: nothing is fetched to show them."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from datetime import date
from html import escape
from typing import TYPE_CHECKING, Any

import dagster as dg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from orchestration.ranking.evaluation import Evaluation

BLUE, GREY, RED = "#3b6ea5", "#8a8a8a", "#b04a3a"
BARS_WIDE, BARS_HIGH = 610, 150


def day_plot(title: str, points: Sequence[tuple[date, Any]]) -> dg.MarkdownMetadataValue:
    """A bar per day, in the order of days; a height below zero has no bar.

    Written as SVG: to import matplotlib and draw this with it takes two CPU seconds, and every build shows days.
    """
    first, last = points[0][0].toordinal(), points[-1][0].toordinal()
    heights = [max(float(height), 0.0) for _, height in points]
    most = max(heights)
    step = BARS_WIDE / (last - first + 1)
    bars = "".join(
        f"M{step * (day.toordinal() - first):.2f} {BARS_HIGH}v{-BARS_HIGH * height / (most or 1.0):.2f}"
        f"h{step * 0.9:.2f}V{BARS_HIGH}z"
        for (day, _), height in zip(points, heights, strict=True)
    )
    texts = [
        (BARS_WIDE / 2, -12, "middle", 11, title),
        (0, -4, "start", 8, f"{most:,.0f}"),
        (0, BARS_HIGH + 12, "start", 8, points[0][0].isoformat()),
        (BARS_WIDE, BARS_HIGH + 12, "end", 8, points[-1][0].isoformat()),
    ]
    written = "".join(
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}">{escape(text)}</text>'
        for x, y, anchor, size, text in texts
    )
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{BARS_WIDE + 20}" height="{BARS_HIGH + 50}"'
        f' viewBox="-10 -30 {BARS_WIDE + 20} {BARS_HIGH + 50}" font-family="sans-serif">'
        f'<path fill="{BLUE}" d="{bars}"/><path stroke="{GREY}" d="M0 {BARS_HIGH}h{BARS_WIDE}"/>{written}</svg>'
    )
    return _shown(title, "svg+xml", picture.encode())


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
    _quiet(axes, f"Reliability of unseen rows (Brier skill {look.brier_skill:+.2f})")


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


def _figure(width: float, height: float) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _quiet(axes: Axes, title: str) -> None:
    axes.set_title(title, fontsize=9 if len(title) < 30 else 7)
    axes.tick_params(labelsize=7)
    axes.spines[["top", "right"]].set_visible(False)


def _picture(figure: Figure, title: str) -> dg.MarkdownMetadataValue:
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=90)
    return _shown(title, "png", picture.getvalue())


def _shown(title: str, kind: str, picture: bytes) -> dg.MarkdownMetadataValue:
    return dg.MarkdownMetadataValue(f"![{title}](data:image/{kind};base64,{base64.b64encode(picture).decode()})")
