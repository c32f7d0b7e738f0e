"""Which of several versions of a row stays."""

from __future__ import annotations

from tests.dbt_project.project import Project


def test_the_greatest_updated_at_wins_then_the_later_file_then_the_later_line(world: Project) -> None:
    rows = world.rows("select person_key, first_name from staging.stg_app__people where profile_id = 'q' order by 1")
    assert rows == [("back", "Later"), ("by file", "Later"), ("by line", "Later"), ("by time", "Earlier")]


def test_a_withdrawal_without_a_time_takes_what_had_landed_and_nothing_that_comes(world: Project) -> None:
    rows = world.rows("select touch_key from staging.stg_app__touches where profile_id = 'q' order by 1")
    assert rows == [("back",), ("kept",), ("t1",)]


def test_a_key_is_told_apart_by_profile(world: Project) -> None:
    rows = world.rows("select profile_id from staging.stg_app__touches where touch_key = 't1' order by 1")
    assert rows == [("p",), ("q",)]


def test_seconds_are_those_of_the_time_that_was_sent(world: Project) -> None:
    rows = world.rows("select distinct occurred_s from staging.stg_app__touches where touch_key = 't1'")
    assert rows == [(1774008000,)]


def test_who_is_seen_together_again_was_so_at_the_first_time_and_certain_once_it_is(world: Project) -> None:
    rows = world.rows("""
        select value_a, cast(observed_at at time zone 'UTC' as varchar), confidence
        from staging.stg_app__identities where profile_id = 'q' order by 1
    """)
    assert rows == [
        ("certain later", "2026-03-02 10:00:00", "certain"),
        ("corrected", "2026-03-02 12:00:00", "typed"),
        ("said anew", "2026-03-02 11:00:00", "typed"),
        ("seen after", "2026-03-02 12:00:00", "certain"),
        ("seen again", "2026-03-02 09:00:00", "certain"),
    ]
