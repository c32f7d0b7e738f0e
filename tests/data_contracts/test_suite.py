"""The suites of Great Expectations that contracts become."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pandas as pd
import pytest

from data_contracts.contract import inbound, load, served
from data_contracts.suite import check_frame, expectations
from tests.data_contracts.records import judged, record

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:great_expectations")


def frame(**changes: Any) -> pd.DataFrame:
    rows = judged("conversions", record("conversions"), record("conversions", conversion_key="c2")).rows
    made = pd.DataFrame(rows)
    for name, value in changes.items():
        made[name] = made[name].astype(object)
        made.loc[1, name] = value
    return made


def test_rows_that_were_judged_keep_their_contract() -> None:
    kept, summary = check_frame(load("conversions"), frame())
    assert kept, summary
    assert summary["rows"] == 2
    assert summary["expectations"] == 10


@pytest.mark.parametrize(
    ("column", "value", "expectation"),
    [
        ("conversion_key", None, "column_values_to_not_be_null"),
        ("conversion_type", "secret", "column_values_to_be_in_set"),
        ("value", Decimal("-1"), "column_values_to_be_between"),
        ("payment_ref", "secret", "column_values_to_match_regex"),
        ("order_ref", "secret" * 100, "column_value_lengths_to_be_between"),
    ],
)
def test_a_row_that_breaks_its_contract_is_seen_and_its_value_is_not_told(
    column: str, value: Any, expectation: str
) -> None:
    kept, summary = check_frame(load("conversions"), frame(**{column: value}))
    assert not kept
    told = [(one["expectation"], one["column"], one["unexpected"]) for one in summary["broken"]]
    assert told == [(expectation, column, 1)]
    assert "secret" not in str(summary)


def test_a_number_above_its_maximum_is_seen() -> None:
    made = pd.DataFrame(judged("ad_delivery", record("ad_delivery")).rows)
    assert check_frame(load("ad_delivery"), made)[0]
    made["impressions"] = 10**12 + 1
    kept, summary = check_frame(load("ad_delivery"), made)
    assert not kept
    assert [one["column"] for one in summary["broken"]] == ["impressions"]


def test_a_missing_column_is_seen() -> None:
    kept, summary = check_frame(load("conversions"), frame().drop(columns=["source"]))
    assert not kept
    assert "table_columns_to_match_set" in {one["expectation"] for one in summary["broken"]}


def test_a_required_column_without_any_value_is_seen() -> None:
    made = frame()
    made["occurred_at"] = None
    kept, summary = check_frame(load("conversions"), made)
    assert not kept
    assert [(one["expectation"], one["column"]) for one in summary["broken"]] == [
        ("column_values_to_not_be_null", "occurred_at")
    ]


def test_only_published_tables_promise_one_row_per_key() -> None:
    def unique(kinds: list[dict[str, Any]]) -> bool:
        return any("unique" in one["type"] for one in kinds)

    assert not any(unique(expectations(one)) for one in inbound().values())
    assert all(unique(expectations(one)) for one in served().values())
