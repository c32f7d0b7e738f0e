"""What the command line keeps of names, and what it does with plans that somebody pays for."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from api.db import now, transaction
from api.models import ApiKey, Profile, Subscription, Workspace
from tests.factories import billing
from tests.touchledger.test_cli import CREATE, run
from touchledger.settings import Settings


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Caf\udce9", "contains half of a surrogate pair"),  # bytes of another encoding than the terminal's
        ("a\0b", "contains a NUL character"),
        (" ", "a name has 1 to"),
        ("k" * 121, "a name has 1 to"),
    ],
)
def test_the_command_line_takes_the_names_that_the_api_takes(settings: Settings, name: str, told: str) -> None:
    profile_id = run(*CREATE).stdout.strip()
    for command in (CREATE, ["key", "mint", "--profile", profile_id]):
        assert told in run(*command, "--name", name, code=2).stderr
    assert "1 to 80" in run("key", "mint", "--profile", profile_id, "--name", "k" * 81, code=2).stderr
    run("key", "mint", "--profile", profile_id, "--name", " Cafe\u0301 ")
    with transaction(settings.operational_url) as session:
        assert session.scalar(sa.select(ApiKey.name)) == "Caf\u00e9"


def test_a_profile_of_the_command_line_is_in_no_workspace_of_somebody_elses(settings: Settings) -> None:
    # whoever first called a workspace Touchledger had every profile that a command made, and its keys
    with transaction(settings.operational_url) as session:
        session.add(Workspace(id="theirs", name="Touchledger"))
    first, second = (run(*CREATE).stdout.strip() for _ in range(2))
    with transaction(settings.operational_url) as session:
        places = {session.get_one(Profile, one).workspace_id for one in (first, second)}
        assert len(places) == 1
        assert places != {"theirs"}
        session.get_one(Workspace, places.pop()).archived_at = now()
    third = run(*CREATE).stdout.strip()
    with transaction(settings.operational_url) as session:
        assert session.get_one(Workspace, session.get_one(Profile, third).workspace_id).archived_at is None


def test_no_profile_is_made_to_report_in_a_currency_that_is_over(settings: Settings) -> None:
    # the API had refused it, and no rate converts into it
    told = run(*CREATE, "--currency", "hrk", code=2).stderr
    assert "HRK is a currency that is no longer in use" in " ".join(told.split())
    with transaction(settings.operational_url) as session:
        assert session.scalars(sa.select(Profile)).all() == []


@pytest.mark.parametrize(("bought", "later"), [("growth", "growth"), ("growth", "enterprise")])
def test_what_was_given_hides_what_is_paid_and_can_be_taken_back(settings: Settings, bought: str, later: str) -> None:
    workspace_id = billing.workspace(settings.operational_url).id
    with transaction(settings.operational_url) as session:
        session.add(Subscription(workspace_id=workspace_id, billing="card", status="active", paid_plan=bought))
    plan = ("workspace", "plan", workspace_id)
    assert run(*plan, "agency", "--quiet").stdout == "agency\n"
    # it goes on costing them
    assert f"pays for {bought}" in run(*plan, bought, code=1).stderr
    with transaction(settings.operational_url) as session:
        session.get_one(Subscription, workspace_id).paid_plan = later
    assert run(*plan, "starter", "--quiet").stdout == f"{later}\n"
    assert f"pays for {later}" in run(*plan, "starter", code=1).stderr
