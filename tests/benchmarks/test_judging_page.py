"""docs/sandbox.md says what benchmarks/results/judging.json says."""

from __future__ import annotations

from benchmarks.judging_page import PAGE, filled, told
from benchmarks.machine import kept


def test_the_page_holds_the_kept_figures() -> None:
    page = PAGE.read_text()
    assert filled(page, kept("judging.json")) == page


def test_a_group_too_small_to_be_ranked_has_no_figure() -> None:
    judged = {
        "spearman": {"all": {"composite": [0.4721, 0.45, 0.5], "ROAS": [0.2, -0.01, 0.3]}, "cold": {"composite": None}},
        "ads": {"all": 714, "cold": 7},
        "leaders": 71,
        "false leaders": {"composite": 11, "ROAS": 18},
    }
    assert told(judged)[1] == [
        ["all", "714", "0.47 (0.45 to 0.50)", "0.20 (-0.01 to 0.30)"],
        ["cold", "7", "-"],
        ["false leaders", "of 71", "11", "18"],
    ]
