"""GET W/experiments: studies of the profiles that are the reader's, our result apart from the platform's."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest
import time_machine

from api import db
from api.models import Profile
from api.roles import Role
from tests.api.v1.workspaces.conftest import Ask, data, refusal
from tests.factories import served
from touchledger.settings import Settings

STUDY = "00000000-0000-8000-8000-00000000000"


def known(key: int, profile: Profile, **more: Any) -> dict[str, Any]:
    facts = {"profile_key": key, "profile_id": profile.id, "currency": "USD", "currency_digits": 2}
    return {**facts, "time_zone": "UTC", "settings_version": "v", **more}


def study(key: int, number: int, **more: Any) -> dict[str, Any]:
    own = {"profile_key": key, "experiment_id": f"{STUDY}{number}", "platform": "meta", "name": f"S{number}"}
    stands = {"kind": "lift", "status": "finished", "start_date": date(2026, 3, number), "end_date": date(2026, 4, 1)}
    return {**own, "platform_study_id": f"{number}", **stands, **more}


@pytest.fixture
def second(url: str, profile: Profile) -> Profile:
    with db.transaction(url) as session:
        made = Profile(workspace_id=profile.workspace_id, name="Two", timezone="UTC", reporting_currency="EUR")
        session.add(made)
    return made


@pytest.fixture
def tables(profile: Profile, second: Profile) -> dict[str, Any]:
    result = {"lift": 0.5, "ci_low": 0.16643604875357654, "ci_high": 0.9289527294739319, "is_conclusive": True}
    arm = {"profile_key": 1, "experiment_id": f"{STUDY}1", "entity_level": "campaign", "entity_ids": '["c1", "c2"]'}
    return {
        "profiles": [known(1, profile), known(2, second, currency="EUR")],
        "experiments": [
            study(1, 1, **result, winner_arm_id="t", platform_lift="0.4", platform_winner_arm_id="t",
                  platform_computed_at="2026-04-02"),
            study(1, 2, kind="split", status="running", end_date=None),
            study(1, 3, platform_lift="0.1", platform_ci_low="-0.2", platform_ci_high="0.4"),
            study(2, 4, status="planned"),
        ],
        "experiment_arms": [
            {**arm, "arm_id": "t", "name": "Seen", "role": "treatment", "population": 10000, "conversions": 150,
             "attributed_outcomes": 12, "spend_minor": 123456},
            {**arm, "arm_id": "c", "name": "Held back", "role": "control", "population": 10000, "conversions": 100},
            {"profile_key": 1, "experiment_id": f"{STUDY}2", "arm_id": "a", "name": "A", "role": "cell"},
        ],
    }  # fmt: skip


@pytest.fixture
def published(settings: Settings, tables: dict[str, Any]) -> str:
    return served.publish(settings.published, tables)


def names(answer: Any) -> list[str]:
    return [row["name"] for row in data(answer)]


@pytest.mark.usefixtures("published")
def test_a_study_shows_its_arms_and_both_results_apart(ask: Ask, w: str, session: str, profile: Profile) -> None:
    row = data(ask("GET", f"{w}/experiments?status=finished", session))[1]
    assert row == {
        "experiment_id": f"{STUDY}1",
        "profile_id": profile.id,
        "currency": "USD",
        "platform": "meta",
        "platform_study_id": "1",
        "name": "S1",
        "kind": "lift",
        "status": "finished",
        "start_date": "2026-03-01",
        "end_date": "2026-04-01",
        "arms": [
            {"arm_id": "c", "name": "Held back", "role": "control", "entity_level": "campaign",
             "entity_external_ids": ["c1", "c2"], "population": 10000, "conversions": 100,
             "attributed_outcomes": None, "spend": None},
            {"arm_id": "t", "name": "Seen", "role": "treatment", "entity_level": "campaign",
             "entity_external_ids": ["c1", "c2"], "population": 10000, "conversions": 150,
             "attributed_outcomes": 12, "spend": 1234.56},
        ],
        "service_result": {
            "lift": 0.5, "ci_low": 0.16643605, "ci_high": 0.92895273, "conclusive": True, "winner_arm_id": "t",
            "computed_at": "2026-11-16T00:00:00.000Z",
        },
        "platform_result": {
            "lift": 0.4, "ci_low": None, "ci_high": None, "conclusive": True, "winner_arm_id": "t",
            "computed_at": "2026-04-02T00:00:00.000Z",
        },
    }  # fmt: skip


@pytest.mark.usefixtures("published")
def test_an_interval_around_zero_is_not_conclusive_and_no_result_is_null(ask: Ask, w: str, session: str) -> None:
    rows = {row["name"]: row for row in data(ask("GET", f"{w}/experiments", session))}
    assert rows["S3"]["platform_result"]["conclusive"] is False
    assert rows["S3"]["service_result"] is None
    assert (rows["S2"]["service_result"], rows["S2"]["platform_result"]) == (None, None)
    assert rows["S2"]["arms"][0]["entity_external_ids"] == []
    assert rows["S4"]["currency"] == "EUR"


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["S4", "S3", "S2", "S1"]),
        ("?status=all", ["S4", "S3", "S2", "S1"]),
        ("?status=finished", ["S3", "S1"]),
        ("?status=canceled", []),
        ("?kind=split", ["S2"]),
        ("?kind=lift&status=planned", ["S4"]),
    ],
)
def test_studies_come_newest_first_by_kind_and_status(
    ask: Ask, w: str, session: str, query: str, expected: list[str]
) -> None:
    assert names(ask("GET", f"{w}/experiments{query}", session)) == expected


@pytest.mark.usefixtures("published")
def test_pages_go_on_where_the_one_before_ended(ask: Ask, w: str, session: str) -> None:
    first = ask("GET", f"{w}/experiments?limit=3", session)
    place = first.get_json()["pagination"]
    assert (names(first), place["has_next"]) == (["S4", "S3", "S2"], True)
    rest = ask("GET", f"{w}/experiments?limit=3&cursor={place['cursor']}", session)
    assert (names(rest), rest.get_json()["pagination"]) == (["S1"], {"cursor": None, "has_next": False})
    other = ask("GET", f"{w}/experiments?kind=lift&cursor={place['cursor']}", session)
    assert refusal(other)[:2] == (400, "invalid_parameter")


def test_studies_that_began_on_one_day_come_by_id_over_pages(
    ask: Ask, settings: Settings, w: str, session: str, profile: Profile
) -> None:
    day = {"start_date": date(2026, 3, 1)}
    rows = [study(1, number, **day) for number in (3, 1, 2)]
    served.publish(settings.published, {"profiles": [known(1, profile)], "experiments": rows})
    first = ask("GET", f"{w}/experiments?limit=1", session)
    second = ask("GET", f"{w}/experiments?limit=2&cursor={first.get_json()['pagination']['cursor']}", session)
    assert names(first) + names(second) == ["S1", "S2", "S3"]


@pytest.mark.usefixtures("published")
def test_a_guest_sees_studies_of_their_profiles_only(
    ask: Ask, w: str, as_role: Callable[..., str], second: Profile
) -> None:
    guest = as_role(Role.GUEST)
    assert names(ask("GET", f"{w}/experiments", guest)) == ["S3", "S2", "S1"]
    assert refusal(ask("GET", f"{w}/experiments?profile_ids={second.id}", guest))[:2] == (404, "not_found")


@pytest.mark.usefixtures("published")
def test_profiles_asked_for_narrow_the_list(ask: Ask, w: str, session: str, profile: Profile, second: Profile) -> None:
    assert names(ask("GET", f"{w}/experiments?profile_ids={second.id}", session)) == ["S4"]
    assert names(ask("GET", f"{w}/experiments?profile_id={profile.id}", session)) == ["S3", "S2", "S1"]


@pytest.mark.usefixtures("published")
def test_a_known_answer_is_not_sent_again_and_another_persons_is_another(
    ask: Ask, w: str, session: str, as_role: Callable[..., str]
) -> None:
    tag = ask("GET", f"{w}/experiments", session).headers["ETag"]
    known_tag = {"headers": {"If-None-Match": tag}}
    assert ask("GET", f"{w}/experiments", session, **known_tag).status_code == 304
    assert ask("GET", f"{w}/experiments?kind=lift", session, **known_tag).status_code == 200
    assert ask("GET", f"{w}/experiments", as_role(Role.GUEST), **known_tag).status_code == 200


@pytest.mark.usefixtures("published")
def test_a_page_that_is_known_comes_again_while_its_cursor_leads_on(ask: Ask, w: str, session: str) -> None:
    page, now = f"{w}/experiments?limit=3", db.now()
    tag = ask("GET", page, session).headers["ETag"]
    with time_machine.travel(now + timedelta(days=1), tick=False):
        again = ask("GET", page, session, headers={"If-None-Match": tag})
        assert again.status_code == 200
        rest = ask("GET", f"{page}&cursor={again.get_json()['pagination']['cursor']}", session)
    assert names(rest) == ["S1"]


def test_before_the_first_snapshot_the_list_is_empty(ask: Ask, w: str, session: str) -> None:
    answer = ask("GET", f"{w}/experiments", session)
    assert (data(answer), answer.get_json()["meta"]["snapshot_id"]) == ([], None)
