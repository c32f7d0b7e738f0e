"""What the pictures in assets' metadata show."""

from __future__ import annotations

import base64
import io
from datetime import date, timedelta
from itertools import groupby

import numpy as np
from PIL import Image

from orchestration.plots import BLUE, day_plot

BEGIN = date(2026, 1, 1)


def columns(*bars: tuple[int, float]) -> list[tuple[int, int, int]]:
    """Of each bar of a plot of (day, value), from the left: its pixels across, those above zero and those below it."""
    told = day_plot("touches per day", [(BEGIN + timedelta(days), value) for days, value in bars]).value
    picture = Image.open(io.BytesIO(base64.b64decode(told.partition("base64,")[2].rstrip(")")))).convert("RGB")
    assert picture.size == (630, 198)
    blue = (np.asarray(picture) == [int(BLUE[i : i + 2], 16) for i in (1, 3, 5)]).all(axis=2)
    found = []
    for is_bar, run in groupby(range(blue.shape[1]), key=lambda x: bool(blue[:, x].any())):
        if is_bar:
            places = [*run]
            rows = np.flatnonzero(blue[:, places[len(places) // 2]])
            found.append((len(places), int(rows[0]), int(rows[-1])))
    zero = min(bottom for _, _, bottom in found)
    return [(width, zero - top + 1, bottom - zero) for width, top, bottom in found]


def test_each_day_has_a_bar_as_high_as_its_value() -> None:
    bars = columns((0, 10), (1, 40), (2, 20), (4, 80))
    assert max(width for width, *_ in bars) - min(width for width, *_ in bars) <= 1
    unit = bars[-1][1] / 80
    assert unit > 1.5
    assert [round(height / unit) for _, height, _ in bars] == [10, 40, 20, 80]
    assert {below for *_, below in bars} == {0}


def test_what_was_paid_back_hangs_below_zero() -> None:
    (_, above, _), (_, _, below) = columns((0, 30), (1, -30))
    assert abs(above - below) <= 2


def test_a_year_of_days_is_shown_whole() -> None:
    assert len(columns(*((day * 3, 5) for day in range(120)))) == 120


def test_a_day_of_nothing_has_no_bar() -> None:
    assert len(columns((0, 2), (1, 0), (2, 1))) == 2
