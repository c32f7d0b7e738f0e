"""Whose a touch is, over statements of every length."""

from __future__ import annotations

import hashlib
import re
import uuid
from itertools import product
from pathlib import Path

import duckdb

from api.warehouse_ids import identifier_id
from orchestration.dbt_manifest import target
from tests.dbt_project.identity_reference import resolve
from tests.dbt_project.project import Project
from tests.dbt_project.small_world import CHAIN, CROWD, spelt
from tests.factories.served import insert_rows


def people(world: Project, pattern: str) -> dict[str, str]:
    sql = f"""
        select i.value, i.person_id
        from intermediate.int_person_identifiers as i join intermediate.int_profiles as p using (profile_key)
        where p.profile_id = 'p' and i.value similar to '{pattern}'
    """
    return dict(world.rows(sql))


def uuid_v8(text: str) -> str:
    digits = list(hashlib.md5(text.encode()).hexdigest())
    digits[12] = "8"
    digits[16] = f"{int(digits[16], 16) & 3 | 8:x}"
    return str(uuid.UUID("".join(digits)))


def test_everybody_is_found_by_the_digest_of_an_identifier(world: Project) -> None:
    served = dict(world.rows("select identifier_id, person_ref from marts.person_identifiers"))
    known = world.rows("""
        select p.profile_id, i.kind, i.value, i.person_id from intermediate.int_person_identifiers as i
        join intermediate.int_profiles as p using (profile_key)
    """)
    assert {identifier_id(profile, kind, value): person for profile, kind, value, person in known} == served
    assert len(served) == len(known) > CHAIN


def test_a_chain_of_four_hundred_statements_is_one_person_named_by_its_earliest_identifier(world: Project) -> None:
    found = people(world, "c[0-9]+@example.com|d[0-9]+")
    assert len(found) == CHAIN + 1
    assert set(found.values()) == {uuid_v8("p:person:anonymous_id:d0")}


def test_guests_of_a_shared_device_stay_apart_and_its_lone_visit_goes_to_the_first_of_them(world: Project) -> None:
    found = people(world, "(dora|carl|bob|eve)@example.com|cafe")
    assert len(set(found.values())) == 4
    assert found["cafe"] == found["dora@example.com"] == uuid_v8("p:person:email:dora@example.com")


def test_the_same_email_in_two_profiles_is_two_people(world: Project) -> None:
    found = world.rows(
        "select distinct person_id from intermediate.int_person_identifiers where value = 'ann@example.com'"
    )
    assert len(found) == 2


def test_every_set_of_identifiers_has_one_person(world: Project) -> None:
    (counts,) = world.rows("""
        select count(distinct t.profile_id || t.identity_key), count(*) = count(k.person_key)
        from staging.stg_app__touches as t
        join intermediate.int_profiles as p using (profile_id)
        left join intermediate.int_identity_keys as k using (profile_key, identity_key)
    """)
    assert counts == (CHAIN + 4 + 1 + 1 + 1 + 1, True)


def test_a_crowd_is_told_apart_as_plain_python_tells_it(world: Project) -> None:
    expected = {}
    for node, leader in resolve(CROWD).items():
        kind, value = spelt(leader)
        expected[spelt(node)] = uuid_v8(f"crowd:person:{kind}:{value}")
    rows = world.rows("""
        select i.kind, i.value, i.person_id, i.is_shared from intermediate.int_person_identifiers as i
        join intermediate.int_profiles as p using (profile_key) where p.profile_id = 'crowd'
    """)
    assert {(kind, value): person for kind, value, person, _ in rows} == expected
    assert 3 < sum(shared for *_, shared in rows) < len(rows) / 4
    assert len(set(expected.values())) > 20


def test_no_two_sets_of_identifiers_have_the_same_text_whatever_they_contain(world: Project) -> None:
    staging = Path(target(world.settings), "compiled/touchledger/models/staging/app/stg_app__touches.sql").read_text()
    (identity_key,) = re.findall(r"nullif\(concat_ws\(.*?\), ''\)", staging, re.DOTALL)
    parts = ["a", "\x1f", "email:"]
    values = [None, *("".join(chosen) for length in (1, 2, 3) for chosen in product(parts, repeat=length))]
    with duckdb.connect() as connection:
        connection.execute("create table identifiers (value varchar)")
        insert_rows(connection, "identifiers", [[value] for value in values])
        counts = connection.execute(f"""
            select count(*), count(identity_key), count(distinct identity_key)
            from (
                select {identity_key} as identity_key
                from (
                    select
                        one.value as external_id, other.value as email, null::varchar as person_key,
                        null::varchar as payment_customer_id, null::varchar as phone, null::varchar as anonymous_id
                    from identifiers as one cross join identifiers as other
                )
            )
        """).fetchone()
    assert counts == (1600, 1599, 1599)
