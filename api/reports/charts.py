"""Charts as SVG: letters are drawn as shapes, and the same figures give the same bytes."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ft2font import FT2Font
from matplotlib.ticker import FuncFormatter, MaxNLocator

INK, FAINT = "#3c4652", "#d9dee4"
STYLE = {
    "svg.hashsalt": "touchledger",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "xtick.color": INK,
    "ytick.color": INK,
    # a dollar sign in somebody's name begins no formula
    "text.parse_math": False,
}
MOST_TICKS = 8
LONGEST_NAME = 38

Number = Callable[[float], str]
Series = Sequence[float]


def written(name: str) -> str:
    """What the charts' font writes of a name, signs left out that it has none for; empty when letters would be."""
    seen = "".join(sign if sign.isprintable() else " " for sign in name if not "\ufe00" <= sign <= "\ufe0f")
    lacking = {sign for sign in seen if ord(sign) not in _glyphs()}
    # an emoji may be missing from a name, a letter may not
    if any(unicodedata.category(sign)[0] in "LMN" for sign in lacking):
        return ""
    return " ".join("".join(sign for sign in seen if sign not in lacking).split())


def days(
    labels: Sequence[str], bars: tuple[str, Series], line: tuple[str, Series], colors: tuple[str, str], number: Number
) -> bytes:
    """A bar per day, and a line over it, on one axis."""

    def draw(axes: Any) -> None:
        places = range(len(labels))
        axes.bar(places, bars[1], width=0.72, color=colors[0], label=bars[0], zorder=2)
        marker = "o" if len(labels) <= 45 else None
        axes.plot(places, line[1], color=colors[1], label=line[0], linewidth=1.8, marker=marker, markersize=3, zorder=3)
        _days_below(axes, labels)
        axes.margins(x=0.02)
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, frameon=False, borderaxespad=0.2)
        _values(axes.yaxis, number)

    return _drawn((7.1, 2.5), draw)


def ranking(names: Sequence[str], values: Series, color: str, number: Number) -> bytes:
    """A bar per name, best on top; the names are such as `written` gives."""

    def draw(axes: Any) -> None:
        places = range(len(names))
        axes.barh(places, values, height=0.66, color=color, zorder=2)
        axes.set_yticks(list(places), [_short(name) for name in names])
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        _values(axes.xaxis, number)
        axes.grid(visible=True, axis="x", color=FAINT, linewidth=0.6, zorder=0)

    return _drawn((7.1, 0.55 + 0.27 * max(1, len(names))), draw)


def pace(
    labels: Sequence[str], spent: tuple[str, Series], budget: tuple[str, float] | None, colors: tuple[str, str],
    number: Number,
) -> bytes:  # fmt: skip
    """What was spent so far, added up day by day, beside an even pace to the budget."""

    def draw(axes: Any) -> None:
        axes.fill_between(range(len(spent[1])), spent[1], color=colors[0], alpha=0.25, zorder=1, linewidth=0)
        axes.plot(range(len(spent[1])), spent[1], color=colors[0], linewidth=1.8, label=spent[0], zorder=3)
        if budget is not None:
            even = [budget[1] * (n + 1) / len(labels) for n in range(len(labels))]
            axes.plot(range(len(labels)), even, color=colors[1], linewidth=1.4, dashes=(4, 3), label=budget[0])
        axes.set_ylim(bottom=0)
        axes.set_xlim(0, max(1, len(labels) - 1))
        _days_below(axes, labels)
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, frameon=False, borderaxespad=0.2)
        _values(axes.yaxis, number)

    return _drawn((7.1, 2.5), draw)


def _drawn(size: tuple[float, float], draw: Callable[[Any], None]) -> bytes:
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.subplots()
        axes.grid(visible=True, axis="y", color=FAINT, linewidth=0.6, zorder=0)
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(length=0)
        draw(axes)
        target = io.BytesIO()
        figure.savefig(target, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return target.getvalue()


def _days_below(axes: Any, labels: Sequence[str]) -> None:
    step = max(1, -(-len(labels) // MOST_TICKS))
    axes.set_xticks(list(range(0, len(labels), step)), list(labels[::step]))


def _values(axis: Any, number: Number) -> None:
    axis.set_major_locator(MaxNLocator(nbins=5))
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


@lru_cache(maxsize=1)
def _glyphs() -> frozenset[int]:
    return frozenset(FT2Font(str(Path(mpl.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf")).get_charmap())
