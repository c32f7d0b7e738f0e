"""A workspace on growth with the golden profile published, people of every role, and a mail server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api import db
from api.models import Profile, Workspace
from api.roles import Role
from api.snapshot import snapshots
from tests.api.reports.conftest import GOLDEN, PROFILE
from tests.factories import accounts, people, served
from tests.factories.mailbox import Mailbox, mail_server
from touchledger.settings import Settings

Ask = Callable[..., TestResponse]


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    with mail_server() as started:
        yield started


@pytest.fixture
def settings(home: Path, sqlite_url: str, mailbox: Mailbox) -> Iterator[Settings]:
    sender = "Touchledger <mail@deployment.example>"
    made = Settings(
        home=home, smtp_host="127.0.0.1", smtp_port=mailbox.port, smtp_starttls="off", smtp_from=sender,
        query_deadline_seconds=60,
    )  # fmt: skip
    served.publish(made.published, served.from_csv(GOLDEN))
    yield made
    snapshots(made).close()


@pytest.fixture
def profile(settings: Settings) -> Profile:
    made = accounts.profile(settings.operational_url, profile_id=PROFILE, name="Golden & Co")
    change(settings, made, plan="growth")
    with db.transaction(settings.operational_url) as session:
        session.get_one(Profile, made.id).timezone = "America/New_York"
    return made


@pytest.fixture
def second(settings: Settings, profile: Profile) -> Profile:
    """A profile of the same workspace of which nothing is published."""
    with db.transaction(settings.operational_url) as session:
        made = Profile(workspace_id=profile.workspace_id, name="Second", timezone="UTC", reporting_currency="USD")
        session.add(made)
    return made


def change(settings: Settings, profile: Profile, **values: Any) -> None:
    """Change the profile's workspace."""
    with db.transaction(settings.operational_url) as session:
        workspace = session.get_one(Workspace, profile.workspace_id)
        for name, value in values.items():
            setattr(workspace, name, value)


@pytest.fixture
def ask(client: FlaskClient, settings: Settings, profile: Profile) -> Ask:
    """Asks a path under the workspace (or a whole one), as a person of the role named, an editor unless said."""
    url = settings.operational_url

    def asked(
        method: str, path: str, *, role: Role = Role.EDITOR, permissions: tuple[str, ...] = (), **options: Any
    ) -> TestResponse:
        person = people.user(url)
        people.member(url, person, profile.workspace_id, role, permissions=permissions)
        headers = {"Authorization": f"Bearer {people.session_of(url, person)}"}
        whole = path if path.startswith("/api/") else f"/api/v1/workspaces/{profile.workspace_id}{path}"
        return client.open(whole, method=method, headers=headers, **options)

    return asked
