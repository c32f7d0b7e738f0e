"""Models hold only SQL that means the same on DuckDB and on Spark; what differs stands in a macro for each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from orchestration.dbt_manifest import PROJECT

BANNED = {
    r"\bcast\(\s*[^()]*\.\d[^()]* as (int|bigint|integer)\)": "casting a fraction to an integer rounds or cuts",
    r"\bconcat\(": "concat() with null is 'a' or null; || is null on both",
    r'"[^"\n]*"(?=\s*(,|\)|from|as|=|$))': "double quotes are a name or a text",
    r"\bdayofweek\(": "Sunday is 0 or 1",
    r"\bhash\(": "hash() differs; use md5()",
    r"//": "integer division has two spellings",
    r"\bdiv\b": "integer division has two spellings",
    r"\bdate_?diff\(": "the order of arguments differs",
    r"\bquantile_cont\(|\bpercentile_cont\(": "quantiles have two spellings",
    r"\bstrftime\(|\bdate_format\(": "formats have two spellings",
    r"\bregexp_matches\(|\bregexp_like\(": "regular expressions have two spellings",
    r"\bjson_extract\w*\(|\bget_json_object\(": "JSON has two spellings",
    r"\bunnest\(|\bexplode\(|\blist_\w+\(": "lists have two spellings",
    r"\* exclude|\* except": "star with exceptions has two spellings",
    r"\barg_max\(|\barg_min\(": "write max_by() or min_by()",
    r"\bgenerate_series\(|\bsequence\(|\brange\(\d": "series have two spellings",
    r"row_number\(\) over \(\s*\)": "numbering without an order",
    r"\basof\b": "ASOF joins exist on one engine",
    r"\bu(tiny|small|big)?int(eger)?\b|\bhugeint\b": "unsigned and 128-bit integers exist on one engine",
    r"\bas (varchar|text|string)\b": "write dbt.type_string()",
    r"\A\s*from\b|\(\s*from\b": "from before select",
    r"\binterval\b": "date plus interval is a timestamp or a date",
    r"\bepoch\w*\(|\bunix_seconds\(": "write the macro epoch_seconds",
}
MODELS = sorted((PROJECT / "models").rglob("*.sql"))


def sql_of(path: Path) -> str:
    """The model without Jinja and comments, in lower case."""
    text = re.sub(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", " ", path.read_text(), flags=re.DOTALL)
    return re.sub(r"--[^\n]*", "", text).lower()


def found_in(sql: str) -> list[str]:
    return [reason for pattern, reason in BANNED.items() if re.search(pattern, sql, flags=re.MULTILINE)]


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_model_says_the_same_on_both_engines(path: Path) -> None:
    assert found_in(sql_of(path)) == []


@pytest.mark.parametrize(
    "sql",
    [
        "select hash(a)",
        "select a // 2",
        "select concat(a, b)",
        "select cast(a / 2.0 as int)",
        "select strftime(day, '%Y')",
        "select row_number() over ()",
        "select cast(a as varchar)",
        'select "level", a',
        "select day + interval '1 day'",
    ],
)
def test_what_differs_in_silence_is_caught(sql: str) -> None:
    assert len(found_in(sql)) == 1


def test_sorting_down_says_where_nulls_go() -> None:
    """Nulls come last on one engine and first on the other; a column that is never null needs no word."""
    never_null = {"_seq", "_line", "rate_date", "r.rate_date", "choice"}
    for path in MODELS:
        for expression in re.findall(r"([\w.]+) desc(?! nulls)", sql_of(path)):
            assert expression in never_null or path.parts[-2] not in ("identities", "money", "entities"), path.stem
