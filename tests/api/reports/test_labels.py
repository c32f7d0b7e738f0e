"""How reports write numbers in each language."""

from __future__ import annotations

import pytest

from api.reports.labels import Words


@pytest.mark.parametrize(
    ("value", "english", "spanish"),
    [
        (0.0, "0", "0"),
        (0.25, "0.25", "0,25"),
        (2500.0, "2.5k", "2,5k"),
        (12_500_000.0, "12.5M", "12,5M"),
        # B is a "billón" in Spanish: a thousand times as much as a billion, so none stands there
        (2_500_000_000.0, "2.5B", "2.500M"),
        (10_000_000_000.0, "10B", "10.000M"),
        (-1_500_000_000_000.0, "−1.5T", "−1.500.000M"),
        (2_000_000_000_000_000.0, "2,000T", "2.000.000.000M"),
    ],
)
def test_an_axis_names_the_size_of_its_units_as_the_language_does(value: float, english: str, spanish: str) -> None:
    assert (Words("en").short(value), Words("es").short(value)) == (english, spanish)
