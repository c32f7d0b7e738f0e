"""Spend and entities of the small world, added by hand."""

from __future__ import annotations

from tests.dbt_project.project import Project


def spend(world: Project, profile_id: str, level: str) -> dict[tuple[str, str], tuple[int, int]]:
    rows = world.rows(f"""
        select e.platform_id, strftime(d.day, '%m-%d'), d.spend_minor, d.impressions
        from marts.delivery_daily as d
        join marts.profiles as p using (profile_key)
        join marts.entities as e using (profile_key, entity_key, level)
        where p.profile_id = '{profile_id}' and level = '{level}'
    """)
    return {(name, day): (minor, impressions) for name, day, minor, impressions in rows}


def test_a_day_sent_again_replaces_the_day_and_each_ad_day_is_rounded_half_to_even(world: Project) -> None:
    # 10.05 EUR at 1.1 is 11.055 dollars, a tie that goes to 1106; 0.05 EUR is 5.5 cents, which goes to 6
    assert spend(world, "p", "ad") == {
        ("a1", "03-01"): (1106, 1000),
        ("a2", "03-01"): (6, 1000),
        ("a1", "05-01"): (0, 1000),
    }
    assert spend(world, "p", "campaign") == {("c1", "03-01"): (1112, 2000), ("c1", "05-01"): (0, 1000)}


def test_a_currency_without_minor_unit_is_spent_in_whole_units(world: Project) -> None:
    assert spend(world, "q", "ad_set") == {("s1", "03-01"): (1608, 1000)}


def test_an_archived_profile_is_not_built(world: Project) -> None:
    assert world.rows("select profile_id from marts.profiles order by 1") == [("crowd",), ("p",), ("q",)]


def test_money_without_a_rate_is_flagged(world: Project) -> None:
    rows = world.rows("select distinct day::varchar, is_rate_missing from intermediate.int_delivery order by 1")
    assert rows == [("2026-03-01", False), ("2026-05-01", True)]


def test_the_latest_record_names_an_entity_and_a_withdrawn_one_is_gone(world: Project) -> None:
    rows = world.rows("""
        select level, platform_id, name, parent_name from marts.entities
        join marts.profiles using (profile_key) where profile_id = 'p' order by 1, 2
    """)
    assert rows == [
        ("ad", "a1", "a1", "s1"),
        ("ad", "a2", "a2", "s2"),
        ("ad_set", "s1", "s1", "New"),
        ("ad_set", "s2", "s2", "New"),
        ("campaign", "c1", "New", None),
    ]


def test_freshness_is_told_per_profile(world: Project) -> None:
    rows = world.rows(
        "select delivery_through::varchar, data_as_of is not null from marts.profiles order by profile_id"
    )
    assert rows == [(None, True), ("2026-05-01", True), ("2026-03-01", True)]
