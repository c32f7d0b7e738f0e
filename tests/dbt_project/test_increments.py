"""What a build keeps, and what it must not keep, where the laws' worlds hold no such thing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Any

import duckdb
import pytest

from tests.dbt_project.project import Project
from touchledger.settings import Settings

REFERRAL = {
    "referral_id": "r",
    "conversation_id": "c",
    "channel": "chatapp",
    "occurred_at": "2026-03-01T10:00:00Z",
    "ad_platform": "meta",
    "ad_id": "7",
    "person_key": "p1",
    "seen_live": True,
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A conversation opened from an ad, and a touch of everybody an hour before, built."""
    found = Project(Settings(home=tmp_path_factory.mktemp("increments")))
    found.land_profiles({"profile_id": "p"})
    found.land("ad_referrals", [REFERRAL])
    touch = {"occurred_at": "2026-03-01T09:00:00Z", "channel": "web", "origin": "web"}
    found.land("touches", [{**touch, "touch_key": name, "person_key": name} for name in ("p1", "p2", "p3")])
    found.model()
    return found


@dataclass(frozen=True)
class Figures:
    """What a build made of the conversation and of the conversion: touches, customers, and days of conversions."""

    referred: list[Any]
    touches: list[Any]
    converted: list[Any]
    counted: list[Any]
    days: list[Any]


def _figures(project: Project) -> Figures:
    return Figures(
        project.rows("select person_key from marts.touches where origin = 'conversation_referral'"),
        project.rows("select count(*), count(distinct origin) from marts.touches"),
        project.rows("select person_key from marts.customers where conversions > 0"),
        project.rows("select sum(conversions), count(*) filter (where conversions > 0) from marts.customers"),
        project.rows("select count(*) from marts.customer_days where day = date '2026-04-01'"),
    )


@pytest.fixture(scope="module")
def builds(project: Project) -> list[Figures]:
    """Of the first build, and of three more that find the conversation and a conversion at other people, or gone."""
    lead = {"conversion_key": "lead", "occurred_at": "2026-04-01T15:00:00Z", "conversion_type": "lead_created"}
    found = [_figures(project)]
    for referred, converted in (("p3", "p1"), (None, "p2"), (None, None)):
        project.land("ad_referrals", [{**REFERRAL, "person_key": referred}] if referred else [])
        project.land("conversions", [{**lead, "person_key": converted}] if converted else [])
        project.model()
        found.append(_figures(project))
    return found


def test_a_conversation_that_is_gone_or_another_persons_leaves_no_touch_with_the_one_before(
    builds: list[Figures],
) -> None:
    before, after, gone, _ = builds
    assert len(before.referred) == len(after.referred) == 1 and after.referred != before.referred
    assert gone.touches == [(3, 1)]


def test_a_conversion_alone_counts_for_its_customer_and_moves_to_the_next(builds: list[Figures]) -> None:
    _, first, second, gone = builds
    for one in (first, second):
        assert one.counted == [(1, 1)] and one.days == [(1,)]
    assert len(first.converted) == 1 and second.converted != first.converted
    assert gone.counted == [(0, 0)] and gone.days == [(0,)]


def test_a_compared_row_that_did_not_change_is_not_written_again(project: Project) -> None:
    lead = {"occurred_at": "2026-04-01T15:00:00Z", "conversion_type": "lead_created"}
    leads = [{**lead, "conversion_key": name, "person_key": name} for name in ("p1", "p2", "p3")]
    project.land("conversions", leads, batch="leads")
    project.model()
    before = project.rows("select outcome_ref from intermediate.int_conversions order by person_key")
    # of the first person, so that it would lie before others where all were written again
    project.land("conversions", [{**lead, "conversion_key": "new", "person_key": before[0][0]}], batch="new")
    project.model()
    assert project.rows("select outcome_ref, came from changes.int_conversions") == [("new", True)]
    after = project.rows("select outcome_ref from intermediate.int_conversions order by rowid")
    assert after == [*before, ("new",)]


def test_of_a_person_with_a_new_touch_only_the_days_from_the_one_before_it_are_made_anew(project: Project) -> None:
    touch = {"channel": "web", "origin": "web", "person_key": "p2"}
    project.land("touches", [{**touch, "touch_key": "late", "occurred_at": "2026-03-05T00:10:00Z"}], batch="late")
    project.model()
    # half an hour earlier it was another day
    assert project.rows("select day from intermediate.int_changed_paths") == [(date(2026, 3, 3),)]


def test_a_build_that_keeps_rows_judges_the_days_it_made_anew_and_no_row_that_it_kept(project: Project) -> None:
    figures = {"spend": "1.00", "impressions": 1, "clicks": 1}
    day = {"date": "2026-03-01", "platform": "meta", "ad_account_id": "a", "currency": "USD", "ad_id": "7"}
    project.land("ad_delivery", [{**day, "ad_set_id": "6", "campaign_id": "5", **figures}])
    lead = {"occurred_at": "2026-03-02T15:00:00Z", "conversion_type": "lead_created"}
    project.land("ad_referrals", [REFERRAL])
    third = {**lead, "conversion_key": "third", "person_key": "p3"}
    project.land("conversions", [{**lead, "conversion_key": "first", "person_key": "p1"}, third], batch="first")
    project.build()
    with duckdb.connect(str(project.settings.warehouse)) as connection:
        connection.execute("update intermediate.int_paths set n = n + 1")
        connection.execute("update intermediate.int_credits set destination_key = -1")
        # as if what comes for the third met the numbers of two others
        connection.execute("update intermediate.int_conversions set conversion_id = 'x' where outcome_ref = 'third'")
        connection.execute("update intermediate.int_identity_statements set identity_key = 'x' where person_key = 'p3'")
    again = {**third, "occurred_at": "2026-03-02T16:00:00Z"}
    project.land("conversions", [{**lead, "conversion_key": "second", "person_key": "p2"}, again], batch="second")
    with pytest.raises(AssertionError) as ended:
        project.build()
    failed = {name: int(rows) for rows, name in re.findall(r"FAIL (\d+) (\w+)", str(ended.value))}
    assert "every_credited_conversion_counts_once_for_each_entity" in failed
    assert "weights_of_a_path_are_positive_and_add_up_to_one" not in failed
    assert failed["a_key_stands_for_one_thing"] == 2
    with pytest.raises(AssertionError, match=r"FAIL \d+ weights_of_a_path"):
        project.dbt("test", "--select", "weights_of_a_path_are_positive_and_add_up_to_one")


def test_two_things_with_one_key_end_the_build(project: Project) -> None:
    with duckdb.connect(str(project.settings.warehouse)) as connection:
        connection.execute("update intermediate.int_person_identifiers set person_key = 1")
        connection.execute(
            "insert into intermediate.int_person_identifiers select * replace ('x' as person_id)"
            " from intermediate.int_person_identifiers"
        )
    with pytest.raises(AssertionError, match="a_key_stands_for_one_thing"):
        project.dbt("test", "--select", "a_key_stands_for_one_thing")
