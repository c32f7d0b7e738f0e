"""Charts write the letters that their font has, and never boxes in the place of others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from api.reports import charts
from api.reports.document import Brand, Order, render
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
