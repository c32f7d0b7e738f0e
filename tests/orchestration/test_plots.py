"""Plots of the asset pages: pictures inside the text that shows them."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree

import pytest

from orchestration.plots import BARS_HIGH, BARS_WIDE, day_plot

SVG = "{http://www.w3.org/2000/svg}"
A_BAR = re.compile(r"M([\d.]+) (\d+)v-([\d.]+)h([\d.]+)V\2z")


def drawn(points: Sequence[tuple[date, Any]], title: str = "orders per day") -> ElementTree.Element:
    """The picture that the page shows under the title."""
    shown = re.fullmatch(r"!\[(.*)\]\(data:image/svg\+xml;base64,(.*)\)", str(day_plot(title, points).value))
    assert shown is not None
    assert shown[1] == title
    return ElementTree.fromstring(base64.b64decode(shown[2]))


def bars(picture: ElementTree.Element) -> list[tuple[float, float, float]]:
    """Place, height and width of each bar."""
    path = picture.findall(f"{SVG}path")[0].attrib["d"]
    found = A_BAR.findall(path)
    assert "".join(f"M{x} {y}v-{high}h{wide}V{y}z" for x, y, high, wide in found) == path
    return [(float(x), float(high), float(wide)) for x, _, high, wide in found]


def test_a_bar_stands_at_its_day_and_is_as_high_as_its_share_of_the_highest() -> None:
    points = [(date(2026, 2, 27), 5), (date(2026, 2, 28), Decimal("20.00")), (date(2026, 3, 3), 10)]
    picture = drawn(points)
    day = BARS_WIDE / 5
    assert bars(picture) == [
        (0, BARS_HIGH / 4, pytest.approx(day * 0.9)),
        (pytest.approx(day), BARS_HIGH, pytest.approx(day * 0.9)),
        (pytest.approx(day * 4), BARS_HIGH / 2, pytest.approx(day * 0.9)),
    ]
    assert [text.text for text in picture.findall(f"{SVG}text")] == ["orders per day", "20", "2026-02-27", "2026-03-03"]


@pytest.mark.parametrize("height", [0, Decimal("-3.50")])
def test_days_without_a_height_have_flat_bars(height: Any) -> None:
    assert bars(drawn([(date(2026, 2, 27), height)])) == [(0, 0, pytest.approx(BARS_WIDE * 0.9))]


def test_a_title_is_text_whatever_it_says() -> None:
    assert drawn([(date(2026, 2, 27), 1)], "1 < 2 & 3").findtext(f"{SVG}text") == "1 < 2 & 3"
