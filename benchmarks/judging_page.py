"""The table of docs/sandbox.md, from benchmarks/results/judging.json: `python -m benchmarks.judging_page`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.machine import kept
from benchmarks.scaling import marked, table
from touchledger.settings import REPOSITORY

PAGE = REPOSITORY / "docs" / "sandbox.md"
MEASURES = ("composite", "ROAS", "CTR", "clicks per spend")


def main() -> None:
    """Write the page's table anew."""
    PAGE.write_text(filled(PAGE.read_text(), kept("judging.json")))


def filled(page: str, results: Sequence[Mapping[str, Any]]) -> str:
    """The page with the table of what was judged last. Raises ValueError where its mark is missing."""
    texts = [f"{_worlds(result)}\n\n{table(*told(result))}" for result in results]
    return marked(page, {"judged": "\n\n".join(texts)})


def _worlds(result: Mapping[str, Any]) -> str:
    seeds = ", ".join(result["worlds"])
    return f"Spearman against `quality` over {result['window']}, mean of the worlds of seeds {seeds} (least to most):"


def told(result: Mapping[str, Any]) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Head and lines of the table: each group of ads by measure, and the false leaders of all leaders."""
    lines = []
    for group, found in result["spearman"].items():
        cells = [f"{one[0]:.2f} ({one[1]:.2f} to {one[2]:.2f})" if one else "-" for one in found.values()]
        lines.append([group, str(result["ads"][group]), *cells])
    lines.append(["false leaders", f"of {result['leaders']}", *map(str, result["false leaders"].values())])
    return ["ads", "how many", *MEASURES], lines


if __name__ == "__main__":
    main()
