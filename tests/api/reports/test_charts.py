"""Charts write the letters that their font has, and never boxes in the place of others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from api.reports import charts
from api.reports.document import Brand, Order, render
from api.reports.labels import Words
from tests.api.reports.conftest import Gather

REVIEW = Order("creative_review", "en", "html", "Shop", Brand("Agency"))


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("Café Größe – Żółć, Ελλάδα, Россия, קיץ, صيف", "Café Größe – Żółć, Ελλάδα, Россия, קיץ, صيف"),
        ("\U0001f389 Summer \U0001f389\ufe0f sale \u2764\ufe0f", "Summer sale ❤"),
        ("夏のセール 2026", ""),
        ("हिन्दी", ""),
        ("A \u202e\u200b B\n", "A B"),
        ("\u200b", ""),
    ],
)
def test_what_a_chart_can_write_of_a_name(name: str, written: str) -> None:
    assert charts.written(name) == written


def test_a_bar_whose_name_cannot_be_written_names_its_row_and_a_note_says_so(gather: Gather) -> None:
    found = gather("creative_review", name="夏のセール")
    # a letter without a glyph is a warning, and warnings are errors here
    page = render(REVIEW, found).decode()
    assert "# and a number stand for the row of an ad" in page
    assert "# y un número" in render(replace(REVIEW, locale="es"), found).decode()
    assert "# and a number" not in render(REVIEW, gather("creative_review")).decode()


@pytest.mark.parametrize(
    ("locale", "amounts", "written"),
    [
        ("en", [250e9, 750e9, 1e12, 1.25e12, 75e12], ["250B", "750B", "1T", "1.25T", "75T"]),
        ("en", [0, 0.025, 0.05, 0.075, 0.125], ["0", "0.025", "0.05", "0.075", "0.125"]),
        ("en", [0.001, 0.0025, 1.5, 400, 1200, 1_250_000], ["0.001", "0.0025", "1.50", "400", "1.2k", "1.25M"]),
        ("en", [1.5e15], ["1,500T"]),
        # un billón is a million millions
        ("es", [0.025, 1250, 2.5e6, 750e6, 1.5e9, 1.5e12], ["0,025", "1,25k", "2,5M", "750M", "1.500M", "1.500.000M"]),
    ],
)
def test_the_axis_of_a_chart_writes_small_and_large_amounts_as_they_are(
    locale: str, amounts: list[float], written: list[str]
) -> None:
    # a trillion rupiah stood as 1e+03B, and 0.025 as 0.02 beside 0.075 as 0.08
    assert [Words(locale).short(amount) for amount in amounts] == written
