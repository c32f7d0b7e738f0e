"""Great Expectations suites made from contracts."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Any

from data_contracts.contract import Column, Contract

Expectation = dict[str, Any]


def expectations(contract: Contract, empty: Collection[str] = ()) -> list[Expectation]:
    """The contract as expectations on a frame of its columns, without withdrawn rows.

    `empty` names columns without a single value: they can break no more than being required.
    """
    names = _expect("table_columns_to_match_set", column_set=sorted(contract.column), exact_match=False)
    filled = [column for column in contract.columns if column.name not in empty]
    of_values = [expectation for column in filled for expectation in _of_values(column)]
    return [names, *_of_nulls(contract), *of_values, *_of_key(contract)]


def _expect(kind: str, **arguments: Any) -> Expectation:
    return {"type": f"expect_{kind}", "kwargs": arguments}


def _of_nulls(contract: Contract) -> Iterator[Expectation]:
    for column in contract.columns:
        if column.required or column.key_position is not None:
            yield _expect("column_values_to_not_be_null", column=column.name)


def _of_values(column: Column) -> Iterator[Expectation]:
    if column.allowed:
        yield _expect("column_values_to_be_in_set", column=column.name, value_set=list(column.allowed))
    if column.pattern:
        yield _expect("column_values_to_match_regex", column=column.name, regex=column.pattern)
    if column.max_length:
        yield _expect("column_value_lengths_to_be_between", column=column.name, max_value=column.max_length)
    bounds: dict[str, Any] = {}
    if column.above is not None:
        bounds |= {"min_value": column.above, "strict_min": True}
    elif column.minimum is not None:
        bounds |= {"min_value": column.minimum}
    if column.maximum is not None:
        bounds |= {"max_value": column.maximum}
    if bounds:
        yield _expect("column_values_to_be_between", column=column.name, **bounds)


def _of_key(contract: Contract) -> Iterator[Expectation]:
    # a raw set holds a key again at every later delivery; only published tables have one row per key
    if contract.folder != "served" or not contract.keys:
        return
    if len(contract.keys) == 1:
        yield _expect("column_values_to_be_unique", column=contract.keys[0])
    else:
        yield _expect("compound_columns_to_be_unique", column_list=list(contract.keys))


def expectation_suite(contract: Contract, empty: Collection[str] = ()) -> Any:
    """The expectations as a suite of Great Expectations."""
    # its import takes over a second: only who checks something pays for it
    from data_contracts.great_expectations import gx

    return gx.ExpectationSuite(name=contract.name, expectations=expectations(contract, empty))


@lru_cache(maxsize=1)
def _frames() -> Any:
    """The one data source of this process; making its context takes a second."""
    from data_contracts.great_expectations import ProgressBarsConfig, gx

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False, metric_calculations=False)
    # a folder for pages that nobody reads, and that nothing would remove
    for site in (context.variables.data_docs_sites or {}).values():
        shutil.rmtree(site["store_backend"]["base_directory"], ignore_errors=True)
    return context.data_sources.add_pandas("frames")


def check_frame(contract: Contract, frame: Any) -> tuple[bool, dict[str, Any]]:
    """Whether a pandas frame keeps the contract; and how many rows and expectations there are, and which are broken.

    The summary never holds the values, which may be personal.
    """
    empty = [name for name in frame.columns if frame[name].isna().all()]
    suite = expectation_suite(contract, empty)
    # each look at a column takes rows of all; what has no expectation but its name need not have any values
    asked = {expectation.column for expectation in suite.expectations if hasattr(expectation, "column")}
    frame = frame.assign(**{name: False for name in empty if name not in asked})
    name = f"{contract.folder} {contract.name}"
    frames = _frames()
    known = {asset.name: asset for asset in frames.assets}
    asset = known.get(name) or frames.add_dataframe_asset(name)
    whole = next(iter(asset.batch_definitions), None) or asset.add_batch_definition_whole_dataframe("whole")
    batch = whole.get_batch({"dataframe": frame})
    results = batch.validate(suite, result_format="BOOLEAN_ONLY").results
    if not all(result.success for result in results):
        # how many rows break it costs as much again, so only a broken contract is asked
        results = batch.validate(suite, result_format="BASIC").results
    broken = [_summary(result) for result in results if not result.success]
    return not broken, {"rows": len(frame), "expectations": len(results), "broken": broken}


def _summary(result: Any) -> dict[str, Any]:
    config, error = result.expectation_config, (result.exception_info or {}).get("exception_message")
    return {
        "expectation": config.type.removeprefix("expect_"),
        "column": config.kwargs.get("column") or config.kwargs.get("column_list"),
        "unexpected": (result.result or {}).get("unexpected_count"),
        "error": error,
    }
