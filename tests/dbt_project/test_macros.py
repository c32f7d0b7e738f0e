"""Macros on many values, each against plain arithmetic."""

from __future__ import annotations

import hashlib
import math
import random
import uuid
from collections.abc import Iterator
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from itertools import product

import duckdb
import pytest

from api.v1.conversions.decay import decay_units, exp_of_minus
from tests.dbt_project.macros import render
from tests.dbt_project.test_identities import uuid_v8
from tests.factories.served import insert_rows


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


def test_minor_units_are_the_exact_product_rounded_half_to_even(connection: duckdb.DuckDBPyConnection) -> None:
    chance = random.Random(5)
    ties = [("10.0500", "1.1"), ("0.0500", "1.1"), ("2.5000", "1"), ("3.5000", "1"), ("-0.0250", "1")]
    drawn = [(f"{chance.randint(0, 10**7)}.{chance.randint(0, 9999):04d}", _rate(chance)) for _ in range(300)]
    sql = render("money.sql", "minor_units", "a", "r", "d")
    connection.execute("create table t (a decimal(18, 4), r decimal(28, 12), d int)")
    rows = [(amount, rate, digits) for amount, rate in ties + drawn for digits in (0, 2, 3, 4)]
    insert_rows(connection, "t", rows)
    for amount, rate, digits, minor in connection.execute(f"select a, r, d, {sql} from t").fetchall():
        exact = (Decimal(amount) * Decimal(rate)).scaleb(digits)
        assert minor == int(exact.to_integral_value(ROUND_HALF_EVEN)), (amount, rate, digits)


def test_an_amount_no_money_can_be_is_null_and_no_overflow(connection: duckdb.DuckDBPyConnection) -> None:
    sql = render("money.sql", "minor_units", "a", "r", "d")
    connection.execute("create table t (a decimal(18, 4), r decimal(28, 12), d int)")
    rows = [("99999999999999.9999", "9999999.5", 4), ("-99999999999999.9999", "1", 2), ("999999999999.99", "1", 2)]
    insert_rows(connection, "t", rows)
    assert connection.execute(f"select {sql} from t").fetchall() == [(None,), (None,), (99999999999999,)]


def test_the_quotient_of_two_rates_is_rounded_at_the_twelfth_decimal(connection: duckdb.DuckDBPyConnection) -> None:
    chance = random.Random(6)
    sql = render("money.sql", "rate_quotient", "a", "b")
    connection.execute("create table t (a decimal(28, 12), b decimal(18, 10))")
    insert_rows(connection, "t", [("1", "0.9"), *_pairs(chance, 500)])
    for a, b, quotient in connection.execute(f"select a, b, {sql} from t").fetchall():
        assert abs(Fraction(quotient) - Fraction(a) / Fraction(b)) <= Fraction(1, 2 * 10**12), (a, b)


def test_an_exponential_has_the_same_bits_here_and_in_the_api(connection: duckdb.DuckDBPyConnection) -> None:
    sql = render("exponential.sql", "exp_of_minus", "y")
    values = [0.0, math.log(2), 42.9, 43.1, 800.0, *(n / 7 for n in range(300))]
    connection.execute("create table t (y double)")
    insert_rows(connection, "t", [(value,) for value in values])
    for y, found in connection.execute(f"select y, {sql} from t").fetchall():
        assert found == exp_of_minus(y)
        assert found == pytest.approx(max(math.exp(-y), 2**-62.5), rel=4e-15 if y < 42 else 0.5)


def test_decay_units_are_those_of_the_api_and_never_less_than_one(connection: duckdb.DuckDBPyConnection) -> None:
    sql = render("attribution.sql", "decay_units", "0", "age", "rate")
    chance = random.Random(8)
    near_the_end = [(halvings * 100 + second, math.log(2) / 100) for halvings in range(47, 66) for second in range(100)]
    drawn = [(chance.randint(0, 90 * 86_400), math.log(2) / (chance.randint(1, 90) * 86_400)) for _ in range(2000)]
    connection.execute("create table t (age bigint, rate double)")
    insert_rows(connection, "t", [*near_the_end, *drawn])
    rows = connection.execute(f"select age, rate, {sql} from t").fetchall()
    assert min(units for *_, units in rows) == 1
    for age, rate, units in rows:
        assert units == decay_units(age, rate)
        assert units == pytest.approx(max(1e15 * math.exp(-age * rate), 1), rel=4e-15, abs=1)


def test_a_cube_root_is_near_the_true_one(connection: duckdb.DuckDBPyConnection) -> None:
    sql = render("exponential.sql", "cube_root", "x")
    for x in (1e-6, 0.01, 0.5, 1.0, 8.0, 12345.678):
        (found,) = connection.execute(f"select {sql} from (select ?::double as x)", [x]).fetchone() or ()
        assert found == pytest.approx(x ** (1 / 3), rel=1e-8)


def test_ids_are_the_md5_of_profile_kind_and_key_with_version_and_variant(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    sql = render("uuid_v8.sql", "uuid_v8", "p", "'ad'", "k")
    for key in (f"meta:{i}" for i in range(50)):
        row = connection.execute(f"select {sql} from (select ? as p, ? as k)", ["prof", key]).fetchone()
        assert row == (uuid_v8(f"prof:ad:{key}"),)


def test_a_key_is_the_head_of_the_md5_read_digit_by_digit(connection: duckdb.DuckDBPyConnection) -> None:
    sql = render("key_of.sql", "key_of", "t")
    texts = [f"profile:{n}" for n in range(5_000)]
    connection.execute("create table texts (t text)")
    insert_rows(connection, "texts", [(text,) for text in [*texts, None]])
    found = dict(connection.execute(f"select t, {sql} from texts").fetchall())
    digits = {text: hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:16] for text in texts}
    assert {digit[-1] for digit in digits.values()} == set("0123456789abcdef")
    assert found == {None: None, **{text: int(head[:15], 16) * 8 + ord(head[15]) % 8 for text, head in digits.items()}}


def test_a_stored_id_is_the_same_in_its_own_type_and_the_one_put_together_on_spark(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    stored = render("uuid_v8.sql", "stored_uuid_v8", "p", "'touch'", "k")
    from_parts = render("uuid_v8.sql", "spark__uuid_text", "md5(p || ':touch:' || k)")
    for key in (f"meta:{i}" for i in range(50)):
        row = connection.execute(
            f"select {stored}, {from_parts} from (select ? as p, ? as k)", ["prof", key]
        ).fetchone()
        text = uuid_v8(f"prof:touch:{key}")
        assert row == (uuid.UUID(text), text)


def test_seconds_are_cut_and_not_rounded(connection: duckdb.DuckDBPyConnection) -> None:
    sql = render("epoch_seconds.sql", "epoch_seconds", "timestamptz '2026-03-01 00:00:00.999999+00'")
    assert connection.execute(f"select {sql}").fetchone() == (1772323200,)


def _rate(chance: random.Random) -> str:
    return f"{chance.randint(0, 200)}.{chance.randint(0, 10**12 - 1):012d}"


def _pairs(chance: random.Random, count: int) -> list[tuple[str, str]]:
    over = [f"{chance.randint(0, 300)}.{chance.randint(1, 10**10 - 1):010d}" for _ in range(count)]
    under = [f"0.{chance.randint(10**6, 10**10 - 1):010d}" for _ in range(count)]
    return list(zip(over, under, strict=True))


def test_no_two_states_of_a_creative_have_the_same_hash_whatever_they_contain(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    texts = ["".join(chosen) for length in range(4) for chosen in product(["a", "\x1e", "\x1f", "1"], repeat=length)]
    connection.execute("create table texts (value varchar)")
    insert_rows(connection, "texts", [[text] for text in texts])
    sql = f"""
        select {render("creative_hash.sql", "creative_hash", "c")} as hash, c.title, c.body
        from (
            select
                'image' as format, null as video_id, one.value as title, other.value as body, null as call_to_action,
                null as content_hash
            from texts as one cross join texts as other
        ) as c
    """
    found = connection.execute(sql).fetchall()
    assert len({hash for hash, _, _ in found}) == len(found) == len(texts) ** 2
    for hash, title, body in found:
        if not {"\x1e", "\x1f"} & {*title, *body}:
            assert hash == hashlib.md5("\x1f".join(["image", "", title, body, "", ""]).encode()).hexdigest()


def test_the_timestamp_of_a_sum_of_seconds_is_that_of_all_of_it(connection: duckdb.DuckDBPyConnection) -> None:
    sql = render("timestamp_of.sql", "timestamp_of", "ts - 1800")
    found = connection.execute(f"select cast({sql} as varchar) from (select 1772323200::bigint as ts)").fetchall()
    assert found == [("2026-02-28 23:30:00",)]


def test_a_text_in_lower_case_has_a_character_for_each(connection: duckdb.DuckDBPyConnection) -> None:
    # Spark's own form made two of the first, and of the last the sigma that ends a word
    texts = ["İstanbul", "ΟΔΟΣ", *(chr(one) for one in range(1, 0x110000) if not 0xD800 <= one <= 0xDFFF)]
    spark = render("lower_of.sql", "spark__lower_of", "t")
    given = spark.removeprefix("lower(").removesuffix(")")
    ours = render("lower_of.sql", "lower_of", "t")
    found = connection.execute(f"select {ours}, {spark}, {given} from (select unnest(?) as t)", [texts]).fetchall()
    assert [row[0] for row in found[:2]] == ["istanbul", "οδοσ"]
    assert all(mine == theirs for mine, theirs, _ in found)
    # what its lower() is given holds neither
    assert not {"İ", "Σ"} & set("".join(row[2] for row in found))
