"""The credit stage's results as tables: ratios first, seconds second."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.contestant import OURS
from benchmarks.sizes import written

# what a contestant computes of what the product does
WHAT = {
    OURS: "five models, ties told apart, path cap, exact cents",
    "five models in SQL": "five models, no cents",
    "naive windows in SQL": "five models, no cents",
    "naive windows on UUID texts": "five models, no cents",
    "polars": "five models, no cents",
    "pandas": "five models, no cents",
    "ChannelAttribution": "last, first, linear by channel; no cents",
    "marketing-attribution-models": "last, first, linear, decay by channel; no cents, no ties",
    "one scan of its columns": "bound: reads what the stage reads",
    "one sort of its columns": "bound: puts it in the order of people",
}
WITHOUT_CENTS = "five models, ties told apart, path cap"
HEAD = ("", "CPU over ours", "CPU seconds", "wall seconds", "peak MB", "what it computes")
BOUND = "bound"
# the models that others have no part of
OF_CENTS = ("int_credit_shares", "int_credit_cents")


def rows(result: dict[str, Any]) -> list[tuple[str, ...]]:
    """One row per contestant, and one for what others compute too: the product's models but those of cents.

    A bound's ratio is ours over it, as it is the smaller of the two.
    """
    ours, found = result["contestants"][OURS]["cpu"], []
    for way, cost in result["contestants"].items():
        measured = (f"{cost['cpu']:.2f}", f"{cost['wall']:.2f}", f"{cost['peak_mb']:,}")
        found.append((way, _ratio(way, cost["cpu"], ours), *measured, WHAT[way]))
        by_model = cost["told"].get("CPU seconds by model")
        if by_model:
            alone = sum(spent for model, spent in by_model.items() if model not in OF_CENTS)
            found.append(("of these, without cents", f"{alone / ours:.1f}", f"{alone:.2f}", "", "", WITHOUT_CENTS))
    return found


def _ratio(way: str, cpu: float, ours: float) -> str:
    if way == OURS:
        return "1"
    return f"1/{ours / cpu:.1f}" if WHAT[way].startswith(BOUND) else f"{cpu / ours:.1f}"


def title(result: dict[str, Any]) -> str:
    """Sizes and kind of one result."""
    world = result["world"]
    return (
        f"path and credit of {written(world['touches'])} touches, {world['kind']}: "
        f"{result['conversions']:,} conversions, medians of {result['rounds']}"
    )


def show(result: dict[str, Any]) -> None:
    """Print one result."""
    table = Table(*HEAD, title=title(result))
    for row in rows(result):
        table.add_row(*row)
    console = Console(width=160)
    console.print(table)
    for way, models in result["disagreeing"].items():
        console.print(f"{way} credits otherwise under {', '.join(models)}")
    console.print(", ".join(f"{name} {value}" for name, value in result["machine"].items()))
