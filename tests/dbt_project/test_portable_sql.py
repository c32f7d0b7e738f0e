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
    r"\b(lower|upper)\(": "not one character for one on both engines; write the macro lower_of",
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
    r"\b(exp|ln|log\d*|cbrt|pow|power|sin|cos|tan)\(": "last bits are the library's: exp_of_minus(), cube_root()",
    r"(?<![\w.])\d*\.\d{16,}(?!\d*e)": "a double of so many digits needs an exponent",
    r"\bavg\(": "the type of a mean differs; divide a sum by a count",
    r"\b(string_agg|array_agg|collect_list|first|last|any_value)\(": "which row comes first is anybody's guess",
    r"\bregexp_replace\((?!.*'g'\))": "one engine replaces the first match, the other all",
    r"(?<!cast\()\bdate_trunc\(": "a date or a timestamp; cast it",
    r"\\": "a backslash is itself or begins an escape",
    r"\bto_(timestamp|date|char)\(": "formats have two spellings",
    r"\bover \w+\s*-": "a minus after a named window is a hyphen in its name; put the window in parentheses",
}
MODELS = sorted((PROJECT / "models").rglob("*.sql"))
# macros of DuckDB alone: what keeps rows of the build before, and the half of people_cells that does
OF_ONE_ENGINE = re.compile(r"(duckdb|spark)__\w+|get_incremental_\w+|told_changes|people_cells")


def macros() -> dict[str, str]:
    """What each macro that both engines run writes."""
    texts = (path.read_text() for path in (PROJECT / "macros").glob("*.sql"))
    found = re.findall(r"\{% macro (\w+).*?%\}(.*?)\{%-? endmacro -?%\}", "".join(texts), flags=re.DOTALL)
    return {name: plain(text) for name, text in found if not OF_ONE_ENGINE.fullmatch(name)}


def sql_of(path: Path) -> str:
    return plain(path.read_text())


def plain(text: str) -> str:
    """SQL without Jinja and comments, in lower case."""
    text = re.sub(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", " ", text, flags=re.DOTALL)
    return re.sub(r"--[^\n]*", "", text).lower()


def found_in(sql: str) -> list[str]:
    return [reason for pattern, reason in BANNED.items() if re.search(pattern, sql, flags=re.MULTILINE)]


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_model_says_the_same_on_both_engines(path: Path) -> None:
    assert found_in(sql_of(path)) == []


def test_a_macro_that_both_engines_run_says_the_same_on_them() -> None:
    assert len(macros()) > 80
    assert {name: found for name, sql in macros().items() if (found := found_in(sql))} == {}


@pytest.mark.parametrize(
    "sql",
    [
        "select hash(a)",
        "select lower(a)",
        "select upper(a)",
        "select a // 2",
        "select concat(a, b)",
        "select cast(a / 2.0 as int)",
        "select strftime(day, '%Y')",
        "select row_number() over ()",
        "select cast(a as varchar)",
        'select "level", a',
        "select day + interval '1 day'",
        "select exp(a)",
        "select a * 0.6931471805599453094",
        "select avg(a)",
        "select sum(a) over w - b",
        "select any_value(a)",
        "select regexp_replace(a, 'b', '')",
        "select date_trunc('month', day)",
        r"select a like 'b\\_'",
    ],
)
def test_what_differs_in_silence_is_caught(sql: str) -> None:
    assert len(found_in(sql)) == 1


# columns that windows are ordered by upwards and that are never null where they are
NEVER_NULL = set(
    re.findall(
        r"\S+",
        """anonymous_id arm_id cents channel_no claim_key consent_marketing conversion_key custom_type day day_from
        denominator dimension doubt event_id format_no geo_no is_shared kind lag_days layer name_key numerator
        objective_no occurred_s outcome payment_ref pos_l profile_id profile_key
        rank record_no referral_id route score_window source source_rank tie told_by touch_key ts value
        warmth_no weeks_ago window_key word""",
    )
)
COMPUTED = re.compile(r"case .*(else|when ' ' then) .*end|md5\(.*")


def upward(sql: str) -> list[str]:
    """What windows are ordered by upwards without a word on nulls."""
    terms = []
    for begin in (match.end() for match in re.finditer(r"over \(", sql)):
        window = inside(sql, begin)
        order = re.split(r"\b(?:rows|range) between", window.partition("order by")[2])[0]
        terms += [" ".join(term.split()) for term in re.split(r",(?![^()]*\))", order)]
    return [term.removesuffix(" asc") for term in terms if term and not re.search(r" desc\b|\bnulls\b", term)]


def inside(sql: str, begin: int) -> str:
    depth = 1
    for end in range(begin, len(sql)):
        depth += {"(": 1, ")": -1}.get(sql[end], 0)
        if depth == 0:
            return sql[begin:end]
    raise ValueError("a bracket is not closed")


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_window_says_where_nulls_go_or_has_none(path: Path) -> None:
    """Upwards, nulls come last on one engine and first on the other; downwards they come last on both."""
    for term in upward(sql_of(path)):
        assert {term, term.rpartition(".")[2]} & NEVER_NULL or COMPUTED.fullmatch(term), term


def test_a_window_of_a_macro_says_where_nulls_go_or_has_none() -> None:
    for name, sql in macros().items():
        for term in upward(sql):
            assert {term, term.rpartition(".")[2]} & NEVER_NULL or COMPUTED.fullmatch(term), (name, term)


def test_what_is_taken_for_never_null_is_what_windows_are_ordered_by() -> None:
    """A name that stays behind would let through another column of that name."""
    terms = {term for sql in (*map(sql_of, MODELS), *macros().values()) for term in upward(sql)}
    assert terms | {term.rpartition(".")[2] for term in terms} >= NEVER_NULL


def test_a_window_over_a_column_that_may_be_null_is_caught() -> None:
    assert upward("row_number() over (partition by a order by b, c desc, d nulls last, e.f asc)") == ["b", "e.f"]
