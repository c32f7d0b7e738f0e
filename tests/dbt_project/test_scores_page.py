"""docs/scores.md: its table and the numbers on the way to it are those of the reference, to the last digit printed."""

from __future__ import annotations

import re

from api.docs_pages.article import DOCS
from tests.dbt_project.score_reference import means, percentile, spread

TEXT = (DOCS / "scores.md").read_text()
BY_HAND = TEXT.split("### By hand")[1].split("\n## ")[0]
ROWS = [[cell.strip() for cell in row.strip("|").split("|")] for row in re.findall(r"^\| [A-D] .*$", BY_HAND, re.M)]
COHORT = ("meta", "image", "traffic", "cold", "us", "feed")


def test_the_table_by_hand_is_right_to_the_last_digit() -> None:
    clicks, shown = [int(row[1]) for row in ROWS], [int(row[2]) for row in ROWS]
    scale = 1 / (1 - sum(clicks) / sum(shown))
    k, e = [n * scale for n in clicks], [n * scale for n in shown]
    usual = means([COHORT] * 4, k, e, 1 / 0.35**2)
    x = [one * rate for one, rate in zip(e, usual, strict=True)]
    cv2 = spread([COHORT] * 4, k, x, 0.35**2)
    a = 1 / cv2
    for row, ki, xi in zip(ROWS, k, x, strict=True):
        g = xi / (xi + 0.5)
        found = (xi, xi / (xi + a), (a + ki * g) / (a + xi * g), percentile(ki, xi, cv2, None))
        assert row[4:] == [f"{found[0]:.3f}", f"{found[1]:.3f}", f"{found[2]:.4f}", f"{found[3]:.2f}"], row[0]
        assert row[3] == f"{100 * int(row[1]) / int(row[2]):.1f} %"
    steps = (f"{scale:.5f}", f"{usual[0]:.6f}", f"{cv2:.5f}", f"a = {a:.3f}", f"k = {k[0]:.3f}")
    assert all(step in BY_HAND for step in steps)
