"""Names from the command line are those that the API would keep."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from api.db import now, transaction
from api.models import ApiKey, Profile, Workspace
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
