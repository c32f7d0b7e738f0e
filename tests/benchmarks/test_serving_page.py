"""docs/scaling-serving.md: the tables of loads are the figures that were kept, and say where requests were refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "scaling-serving.md").read_text()
ALONE, MIXED = "one at a time", "closed, mixed, by connections"
KNOWN, OPEN = "closed, known answers, 4 connections", "open, mixed, by connections"


def kept(result: dict[str, Any], load: str) -> dict[str, Any]:
    """The figures of a row by its name."""
    numbers = [one.replace(",", "") for one in re.findall(r"[\d,]*\d", load)]
    if load.startswith("one at a time"):
        return dict(result[ALONE]["304 at 100,000 entity-days" if "known" in load else "100,000 entity-days"])
    if load.startswith("known"):
        return dict(result[KNOWN])
    if "a second" in load:
        return dict(result[OPEN][f"{numbers[1]} at {numbers[0]}/s"])
    return dict(result[MIXED][f"{numbers[0]}, none asked before" if "none asked" in load else numbers[0]])


@pytest.mark.parametrize(("section", "state"), [("## Under load", "sqlite"), ("### With the state on", "postgres")])
def test_each_row_is_what_was_measured(section: str, state: str) -> None:
    result = json.loads((ROOT / "benchmarks" / "results" / f"campaign-load-{state}.json").read_text())
    part = PAGE.partition(section)[2].partition("\n##")[0]
    rows = re.findall(r"^\| (.+?) \| ([\d,]+) \| ([\d.]+) \| (\d+) \| ([\d.]+) \|$", part, re.MULTILINE)
    assert len(rows) >= 7
    for load, *figures in rows:
        told = kept(result, load)
        measured = [told[name] for name in ("requests per second", "p50 ms", "p99 ms", "server CPU ms per request")]
        found = [float(figure.replace(",", "")) for figure in figures]
        for shown, value, step in zip(found, measured, (1, 0.1, 1, 0.1), strict=True):
            assert abs(shown - value) <= step / 2 + 1e-3, load
        # a third of the known answers were refusals, which cost less, and the row said nothing of it
        refused = told.get("errors") or sum(n for status, n in told.get("statuses", {}).items() if int(status) >= 400)
        asked = told.get("requests") or sum(told["statuses"].values())
        assert refused < asked / 100 or "refused" in load, load
