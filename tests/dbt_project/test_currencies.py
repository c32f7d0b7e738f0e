"""The list of currencies, which the judge and the models share."""

from __future__ import annotations

import csv

from orchestration.dbt_manifest import PROJECT


def test_digits_are_those_of_the_standard_and_codes_are_sorted_and_unique() -> None:
    with (PROJECT / "seeds" / "currencies.csv").open() as file:
        rows = [(row["currency"], int(row["digits"])) for row in csv.DictReader(file)]
    digits = dict(rows)
    assert [code for code, _ in rows] == sorted(digits)
    assert len(rows) > 150
    assert all(code.isalpha() and code.isupper() and len(code) == 3 for code in digits)
    asked = ("USD", "EUR", "IDR", "JPY", "CLP", "ISK", "KWD", "TND", "CLF", "UYW")
    assert [digits[code] for code in asked] == [2, 2, 2, 0, 0, 0, 3, 3, 4, 4]
