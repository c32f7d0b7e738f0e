"""POST /profiles of people: where a profile goes, what it is made with, and how many there may be."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

import pytest
import sqlalchemy as sa

from api import db
from api.models import AuditEntry, Membership, Profile, TrackingKey, Workspace
from api.roles import Role
from tests.api.v1.profiles.conftest import Ask, refusal
from tests.factories import accounts, people
from tests.factories.deployments import application, settings_of


@pytest.fixture
def ada(url: str, profile: Profile) -> str:
    """The session of the owner of the profile's workspace."""
    owner = people.user(url)
    people.member(url, owner, profile.workspace_id)
    return people.session_of(url, owner)


def test_a_profile_takes_zone_and_currency_of_its_workspace(ask: Ask, url: str, profile: Profile, ada: str) -> None:
    with db.transaction(url) as session:
        workspace = session.get_one(Workspace, profile.workspace_id)
        workspace.timezone, workspace.reporting_currency = "Europe/Madrid", "EUR"
    answer = ask("POST", "/profiles", ada, {"name": "  Second  "})
    assert answer.status_code == 201, answer.text
    made = answer.get_json()["data"]
    assert answer.get_json()["meta"] == {"profile_id": made["profile_id"]}
    assert (made["name"], made["timezone"], made["reporting_currency"]) == ("Second", "Europe/Madrid", "EUR")
    assert (made["my_role"], made["attribution_enabled"], made["privacy_mode"]) == ("owner", True, "standard")
    with db.transaction(url) as session:
        key = session.scalars(sa.select(TrackingKey)).one()
        assert (key.profile_id, key.key[:9]) == (made["profile_id"], "trk_live_")
        entry = session.scalars(sa.select(AuditEntry)).one()
        assert (entry.action, entry.profile_id, entry.workspace_id) == (
            "profile.created", made["profile_id"], profile.workspace_id,
        )  # fmt: skip
    assert ask("GET", f"/profiles?profile_id={made['profile_id']}", ada).status_code == 200


def test_a_person_of_several_workspaces_says_which(ask: Ask, url: str, profile: Profile) -> None:
    other, foreign, person = accounts.profile(url, name="Other"), accounts.profile(url), people.user(url)
    people.member(url, person, profile.workspace_id, Role.EDITOR)
    token = people.session_of(url, person)
    assert refusal(ask("POST", "/profiles", token, {"name": "A"})) == (403, "forbidden", "role_required")
    people.member(url, person, other.workspace_id, Role.ADMIN)
    assert refusal(ask("POST", "/profiles", token, {"name": "A"})) == (
        400, "invalid_request", "workspace_id_required",
    )  # fmt: skip
    named = ask("POST", "/profiles", token, {"name": "A", "workspace_id": other.workspace_id.upper()})
    assert named.get_json()["data"]["workspace_id"] == other.workspace_id
    queried = ask("POST", f"/profiles?workspace_id={other.workspace_id}", token, {"name": "B"})
    assert queried.get_json()["data"]["workspace_id"] == other.workspace_id
    differs = {"name": "C", "workspace_id": profile.workspace_id}
    assert ask("POST", f"/profiles?workspace_id={other.workspace_id}", token, differs).status_code == 400
    stranger = {"name": "C", "workspace_id": foreign.workspace_id}
    assert refusal(ask("POST", "/profiles", token, stranger)) == (404, "not_found", None)
    nobody = people.session_of(url, people.user(url))
    assert refusal(ask("POST", "/profiles", nobody, {"name": "A"}))[2] == "workspace_id_required"


def test_keys_and_tokens_without_the_grant_create_nothing(ask: Ask, url: str, profile: Profile) -> None:
    owner = people.user(url)
    people.member(url, owner, profile.workspace_id)
    body = {"name": "A"}
    assert refusal(ask("POST", "/profiles", accounts.secret(url, profile), body)) == (
        403, "forbidden", "api_key_not_allowed",
    )  # fmt: skip
    assert refusal(ask("POST", "/profiles", people.token_of(url, owner), body))[1] == "insufficient_scope"
    assert ask("POST", "/profiles", people.token_of(url, owner, grants=["mcp:write"]), body).status_code == 201


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"name": ""}, "name"),
        ({"timezone": "Mars/Olympus"}, "timezone"),
        ({"currency": "XXZ"}, "currency"),
        ({"website": "http://shop.example"}, "website"),
        ({"website": "https://ada:pass@shop.example"}, "website: must be an https address without user and password"),
        ({"website": "https://ada@shop.example"}, "website"),
        ({"website": "https://[shop.example"}, "website"),
        ({"workspace_id": "7"}, "workspace_id"),
        ({"external_ref": "r"}, "external_ref"),
    ],
)
def test_a_wrong_member_is_named(ask: Ask, ada: str, wrong: dict[str, str], told: str) -> None:
    answer = ask("POST", "/profiles", ada, {"name": "A", **wrong})
    assert refusal(answer) == (422, "validation_error", None)
    assert told in answer.get_json()["error"]["message"]


def test_two_active_profiles_of_a_workspace_never_share_a_name(ask: Ask, url: str, profile: Profile, ada: str) -> None:
    refused = ask("POST", "/profiles", ada, {"name": "sHOP"})
    assert refusal(refused) == (409, "invalid_state", "duplicate_name")
    with db.transaction(url) as session:
        session.get_one(Profile, profile.id).archived_at = db.now()
    assert ask("POST", "/profiles", ada, {"name": "sHOP"}).status_code == 201


def test_the_plan_bounds_active_profiles_and_names_one_that_fits(ask: Ask, ada: str) -> None:
    for name in ("B", "C"):
        assert ask("POST", "/profiles", ada, {"name": name}).status_code == 201
    error = ask("POST", "/profiles", ada, {"name": "D"}).get_json()["error"]
    assert (error["code"], error["status"]) == ("profile_limit_reached", 403)
    assert (error["upgrade_required"], error["upgrade"]) == (True, {"plan": "growth"})


def test_creations_at_once_never_pass_the_allowance(home: Path, database_url: str) -> None:
    settings = settings_of(home, database_url)
    profile = accounts.profile(database_url)
    owner = people.user(database_url)
    people.member(database_url, owner, profile.workspace_id)
    token, client = people.session_of(database_url, owner), application(settings).test_client
    start, answers = threading.Barrier(8), Counter[int]()

    def create(number: int) -> None:
        start.wait()
        # half of them want one name, which only one may have
        name = f"P{number}" if number % 2 else "Same"
        answer = client().post("/api/v1/profiles", json={"name": name}, headers={"Authorization": f"Bearer {token}"})
        answers[answer.status_code] += 1

    # the pool of connections is made by the first request, and by one only
    client().get("/readyz")
    threads = [threading.Thread(target=create, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with db.transaction(database_url) as session:
        names = session.scalars(sa.select(Profile.name)).all()
        assert session.scalar(sa.select(sa.func.count()).select_from(Membership)) == 1
    assert len(names) == 3
    assert names.count("Same") <= 1
    assert answers[201] == 2
    assert set(answers) <= {201, 403, 409}
