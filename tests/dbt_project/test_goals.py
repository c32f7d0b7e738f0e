"""A profile's own goals: what their events are worth, whose credit they are, and in which column they count."""

from __future__ import annotations

from tests.dbt_project.goals_world import PROFILE
from tests.dbt_project.project import Project

_OF = f"join marts.profiles as p using (profile_key) where p.profile_id = '{PROFILE}'"
_COUNTS = "lead_created, payment_received, custom_cash, custom_pipeline, custom_gross"


def test_each_event_is_a_conversion_of_its_goal_and_only_a_servers_payment_is_cash(credited: Project) -> None:
    columns = "event_key, conversion_type, revenue_type, is_cash, cash_minor, pipeline_minor"
    found = credited.rows(f"select {columns} from marts.conversions {_OF} order by event_key")
    assert found == [
        ("filed", "lead_created", "pipeline", False, None, None),
        ("gift", "gift_sent", "gross", False, None, None),
        ("paid", "deposit", "cash", True, 1900, None),
        ("seen", "trial_started", "pipeline", False, None, None),
        ("trial", "trial_started", "pipeline", False, None, 5000),
    ]


def test_own_goals_are_credited_beside_the_seven_each_in_rows_of_its_own(credited: Project) -> None:
    credit = credited.rows(
        f"select custom_type, {_COUNTS}, cash_minor, pipeline_minor from marts.credit_daily {_OF}"
        " and model = 'linear' and level = 'campaign' order by custom_type"
    )
    assert credit == [
        ("", 1, 0, 0, 0, 0, 0, 0),
        ("deposit", 0, 0, 1, 0, 0, 1900, 0),
        ("gift_sent", 0, 0, 0, 0, 1, 0, 0),
        ("trial_started", 0, 0, 0, 2, 0, 0, 5000),
    ]
    totals = f"select custom_type, {_COUNTS}, cash_minor from marts.outcomes_daily {_OF} order by custom_type"
    assert credited.rows(totals) == [row[:-1] for row in credit]
    ads = f"select custom_type, {_COUNTS}, cash_minor from marts.unattributed_daily {_OF}"
    at_ads = credited.rows(f"{ads} and model = 'last_touch' and level = 'ad' order by custom_type")
    assert at_ads == [row[:-1] for row in credit]


def test_what_a_person_said_stands_beside_what_they_did(credited: Project) -> None:
    told = f"select answer_key, answers, conversions, cash_minor from marts.declared_sources {_OF}"
    assert credited.rows(told) == [("friend", 1, 5, 1900)]
