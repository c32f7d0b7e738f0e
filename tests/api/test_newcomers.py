"""Leaders and finished studies from snapshot to snapshot: new, lost and come back; and the tabs that count them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from api import db, newcomers, purge
from api.models import FinishedStudy, Leader, Profile
from api.roles import Role
from tests.factories import accounts, people, served
from touchledger.settings import Settings

SCORE = {"score_window": "28d", "score_date": "2026-03-28", "day_from": "2026-03-01"}


def publish(settings: Settings, profiles: list[Profile], *ads: tuple[int, str, float | None], token: int) -> None:
    """Ads of these profiles (by place) with a stage and a score each; their ids are their places among the ads."""
    rows: dict[str, list[dict[str, Any]]] = {"profiles": [], "entities": [], "ad_scores": []}
    for key, profile in enumerate(profiles):
        rows["profiles"].append({"profile_key": key, "profile_id": profile.id, "currency": "USD"})
    for n, (key, stage, score) in enumerate(ads):
        of = {"profile_key": key, "entity_key": n}
        rows["entities"].append({**of, "level": "ad", "entity_id": f"ad-{n}"})
        rows["ad_scores"].append({**of, **SCORE, "maturity_stage": stage, "composite_score": score})
        rows["ad_scores"].append(
            {**of, **SCORE, "score_window": "7d", "maturity_stage": "mature", "composite_score": 99}
        )
    served.publish(settings.published, rows, token=token)


def kept(url: str) -> list[str]:
    with db.transaction(url) as session:
        return [row.ad_id for row in session.query(Leader).order_by(Leader.ad_id)]


@pytest.fixture
def url(settings: Settings) -> str:
    return settings.operational_url


def test_settled_ads_from_75_on_lead(settings: Settings, url: str) -> None:
    one, other = accounts.profile(url), accounts.profile(url, name="Other")
    publish(settings, [one, other], (0, "mature", 75.0), (0, "mature", 74.99), (0, "early", 90.0),
            (1, "calibrated", 80.0), (1, "cold", None), token=1)  # fmt: skip
    assert newcomers.noting()(settings) == 2
    assert kept(url) == ["ad-0", "ad-3"]


def test_a_leader_stays_as_old_as_it_is_until_it_falls_and_is_new_again_afterwards(
    settings: Settings, url: str
) -> None:
    profile = accounts.profile(url)
    note, begun = newcomers.noting(), db.now() - timedelta(seconds=1)
    publish(settings, [profile], (0, "mature", 80.0), (0, "mature", 80.0), token=1)
    assert (note(settings), note(settings)) == (2, 0)
    publish(settings, [profile], (0, "mature", 81.0), (0, "mature", 20.0), token=2)
    middle = db.now()
    assert (note(settings), kept(url)) == (0, ["ad-0"])
    publish(settings, [profile], (0, "mature", 81.0), (0, "mature", 90.0), token=3)
    assert (note(settings), kept(url)) == (1, ["ad-0", "ad-1"])
    of = sa.select(Profile.id).where(Profile.id == profile.id)
    with db.transaction(url) as session:
        counted = [newcomers.kept_since(session, Leader.ad_id, of, at) for at in (begun, middle, db.now())]
    assert counted == [2, 1, 0]


def test_a_second_process_finds_nothing_new_in_the_same_snapshot(settings: Settings, url: str) -> None:
    publish(settings, [accounts.profile(url)], (0, "mature", 80.0), token=1)
    assert [newcomers.noting()(settings) for _ in range(2)] == [1, 0]


def test_a_leader_that_is_known_is_kept_and_only_the_other_is_new(database_url: str) -> None:
    profile, at = accounts.profile(database_url), db.now()
    with db.transaction(database_url) as session:
        session.add(Leader(profile_id=profile.id, ad_id="a", since=at))
    with db.transaction(database_url) as session:
        assert newcomers.note(session, Leader.ad_id, profile.id, {"a", "b"}, at) == 1
    assert kept(database_url) == ["a", "b"]


def test_nothing_is_noted_before_a_publication_or_of_an_archived_profile(settings: Settings, url: str) -> None:
    note, profile = newcomers.noting(), accounts.profile(url)
    assert note(settings) == 0
    publish(settings, [profile], (0, "mature", 80.0), token=1)
    assert note(settings) == 1
    with db.transaction(url) as session:
        purge.retire(session, [profile.id], at=db.now())
    assert kept(url) == []
    publish(settings, [profile], (0, "mature", 80.0), token=2)
    assert note(settings) == 0


def test_the_tab_counts_leaders_that_are_new_to_the_person(client: FlaskClient, settings: Settings, url: str) -> None:
    profile = accounts.profile(url)
    ada, guest = people.user(url), people.user(url)
    people.member(url, ada, profile.workspace_id)
    people.member(url, guest, profile.workspace_id, Role.GUEST)
    publish(settings, [profile], (0, "mature", 80.0), (0, "mature", 85.0), token=1)
    newcomers.noting()(settings)

    def counted(of: Any) -> int:
        header = {"Authorization": f"Bearer {people.session_of(url, of)}"}
        answer = client.get(f"/api/v1/workspaces/{profile.workspace_id}/tab-counts", headers=header)
        return int(answer.get_json()["data"]["tabs"]["top_performers"])

    assert (counted(ada), counted(guest)) == (2, 0)
    header = {"Authorization": f"Bearer {people.session_of(url, ada)}"}
    seen = {"json": {"tab": "top_performers"}, "headers": header}
    assert client.post(f"/api/v1/workspaces/{profile.workspace_id}/tab-counts/seen", **seen).status_code == 200
    assert counted(ada) == 0


def publish_studies(settings: Settings, profile: Profile, *stands: tuple[str, str | None], token: int) -> None:
    """Studies of this profile with a status and a last day each; their ids are their places."""
    facts = {"profile_key": 1, "profile_id": profile.id, "currency": "USD"}
    study = {"profile_key": 1, "platform": "meta", "kind": "lift", "start_date": "2026-03-01"}
    rows = [
        {**study, "experiment_id": f"study-{n}", "platform_study_id": f"{n}", "status": status, "end_date": end}
        for n, (status, end) in enumerate(stands)
    ]
    served.publish(settings.published, {"profiles": [facts], "experiments": rows}, token=token)


def test_the_tab_counts_a_study_from_when_it_is_known_to_be_over_whatever_its_last_day(
    client: FlaskClient, settings: Settings, url: str
) -> None:
    profile, note = accounts.profile(url), newcomers.noting()
    ada = people.user(url)
    people.member(url, ada, profile.workspace_id)
    header = {"Authorization": f"Bearer {people.session_of(url, ada)}"}
    path = f"/api/v1/workspaces/{profile.workspace_id}/tab-counts"

    def counted() -> int:
        return int(client.get(path, headers=header).get_json()["data"]["tabs"]["experiments"])

    def look() -> None:
        client.post(f"{path}/seen", json={"tab": "experiments"}, headers=header)

    long_ago, to_come = "2026-03-10", "2099-01-01"
    publish_studies(settings, profile, ("running", long_ago), ("running", to_come), ("running", None), token=1)
    assert (note(settings), counted()) == (0, 0)
    look()
    publish_studies(settings, profile, ("finished", long_ago), ("finished", to_come), ("finished", None), token=2)
    assert (note(settings), counted()) == (3, 3)
    look()
    assert counted() == 0
    publish_studies(settings, profile, ("finished", long_ago), ("canceled", to_come), ("finished", None), token=3)
    assert (note(settings), counted()) == (0, 0)
    with db.transaction(url) as session:
        assert session.query(FinishedStudy).count() == 2
        purge.retire(session, [profile.id], at=db.now())
        assert session.query(FinishedStudy).count() == 0
