"""Whatever comes in, each record becomes a row or a rejection with its reason: in = loaded + quarantined."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from data_contracts.contract import inbound, load
from data_contracts.judge import judge
from data_contracts.records import as_json
from tests.data_contracts.records import GOOD, NOW

HOSTILE: list[Any] = [
    None,
    "",
    " ",
    "\0",
    "\ud800",
    "x" * 1_000_000,
    "NaN",
    "1e308",
    "-1",
    "true",
    math.nan,
    math.inf,
    -math.inf,
    1e308,
    5e-324,
    -0.0,
    10**400,
    -(2**63),
    True,
    b"bytes",
    [],
    {},
    [[]],
    {"name": "x"},
    Decimal("NaN"),
    Decimal("sNaN"),
    Decimal("-Infinity"),
    Decimal("1E+999999"),
    Decimal("1E-999999"),
    date.min,
    date.max,
    datetime.fromisoformat("0001-01-01T00:00:00"),
    datetime.max.replace(tzinfo=UTC),
    datetime.min.replace(tzinfo=UTC),
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59",
]
VALUES = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(st.characters(exclude_categories=())),
    st.integers(),
    st.floats(),
    st.decimals(allow_nan=True),
    st.datetimes(),
    st.dates(),
    st.recursive(
        st.none() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=5
    ),
)


@st.composite
def landing_records(draw: st.DrawFn) -> tuple[str, list[dict[str, Any]]]:
    """A set's name, and records of it with some columns missing, spoiled or unknown."""
    dataset = draw(st.sampled_from(sorted(inbound())))
    names = [*load(dataset).column, "_deleted", "x_own", "unknown"]
    records = []
    for _ in range(draw(st.integers(1, 4))):
        spoiled = draw(st.dictionaries(st.sampled_from(names), VALUES, max_size=4))
        missing = draw(st.sets(st.sampled_from(names), max_size=2))
        whole = {**GOOD.get(dataset, {}), **spoiled}
        records.append({name: value for name, value in whole.items() if name not in missing})
    return dataset, records


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(landing_records())
@example(("touches", [{}]))
def test_no_record_is_lost(sent: tuple[str, list[dict[str, Any]]]) -> None:
    dataset, records = sent
    verdict = judge(load(dataset), records, now=NOW)
    lines = sorted([*verdict.lines, *(one.line for one in verdict.rejected)])
    assert lines == list(range(1, len(records) + 1))
    assert all(one.reason for one in verdict.rejected)
    assert {len(values) for values in verdict.columns.values()} == {len(verdict.lines)}


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(landing_records())
def test_what_is_accepted_fits_the_lake_and_what_is_rejected_can_be_judged_again(
    sent: tuple[str, list[dict[str, Any]]],
) -> None:
    dataset, records = sent
    contract = load(dataset)
    verdict = judge(contract, records, now=NOW)
    pa.Table.from_pylist(verdict.rows, contract.arrow_schema()).validate(full=True)
    kept = [json.loads(as_json(one.record)) for one in verdict.rejected]
    again = judge(contract, kept, now=NOW)
    assert len(again.lines) + len(again.rejected) == len(kept)
    pa.Table.from_pylist(again.rows, contract.arrow_schema()).validate(full=True)
