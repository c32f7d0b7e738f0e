"""Small plots for the pages of assets, as pictures inside the metadata: nothing is fetched to show them."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import Any

import dagster as dg


def day_plot(title: str, points: Sequence[tuple[Any, Any]]) -> dg.MarkdownMetadataValue:
    """A bar per day."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 2.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.bar([day for day, _ in points], [float(value) for _, value in points], width=0.9, color="#3b6ea5")
    axes.set_title(title, fontsize=9)
    axes.tick_params(labelsize=7)
    axes.spines[["top", "right"]].set_visible(False)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=90)
    encoded = base64.b64encode(picture.getvalue()).decode()
    return dg.MarkdownMetadataValue(f"![{title}](data:image/png;base64,{encoded})")
