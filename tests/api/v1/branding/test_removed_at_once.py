"""Two who remove the sending domain of one workspace at the same moment, on SQLite and on Postgres."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from api import db
from api.models import AuditEntry, Workspace
from tests.api.v1.members.conftest import asker, data
from tests.factories import accounts, people
from tests.factories.deployments import application, settings_of
from tests.fixtures.at_once import meanwhile


def test_of_two_who_remove_a_domain_at_once_one_does(home: Path, database_url: str) -> None:
    # on Postgres both were told that they had, and the trail held two removals
    app, shop = application(settings_of(home, database_url)), accounts.profile(database_url)
    with db.transaction(database_url) as session:
        session.get_one(Workspace, shop.workspace_id).plan = "agency"
    owner = people.user(database_url)
    people.member(database_url, owner, shop.workspace_id)
    token, path = people.session_of(database_url, owner), f"/workspaces/{shop.workspace_id}/sender-domain"
    data(asker(app.test_client())("POST", path, token, {"domain": "mail.example.com"}), 201)
    with meanwhile(
        database_url, "FROM sender_domains", lambda: asker(app.test_client())("DELETE", path, token)
    ) as came:
        answers = [asker(app.test_client())("DELETE", path, token)]
    assert sorted(data(one)["deleted"] for one in [*answers, *came]) == [False, True]
    with db.transaction(database_url) as session:
        removed = sa.select(sa.func.count()).where(AuditEntry.action == "sender_domain.removed")
        assert session.scalar(removed) == 1
