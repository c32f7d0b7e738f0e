"""Plans that end while somebody else notes it too, or pays, on SQLite and on Postgres."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from api import db
from api.lapses import lapse, note
from api.models import AuditEntry, Subscription, Workspace
from api.subscriptions import begin_trial, restate
from tests.factories import billing as factory
from tests.factories.deployments import settings_of
from tests.fixtures.at_once import meanwhile, one_behind_the_other


@pytest.fixture
def over(database_url: str) -> Workspace:
    """A workspace whose trial has just ended."""
    made = factory.workspace(database_url)
    with db.transaction(database_url) as session:
        workspace = session.get_one(Workspace, made.id)
        trial = begin_trial(session, workspace=workspace, plan="agency")
        assert trial is not None
        trial.trial_end = db.now() - timedelta(seconds=1)
        workspace.plan_ends_at = trial.trial_end
    return made


def test_two_workers_note_one_end(database_url: str, over: Workspace) -> None:
    one_behind_the_other(database_url, lambda session: note(session, db.now()))
    with db.transaction(database_url) as session:
        ends = session.scalars(sa.select(AuditEntry.details).where(AuditEntry.action == "plan.ended")).all()
    assert [one["before"] for one in ends] == [{"plan": "agency"}]


def test_a_plan_that_is_paid_for_while_its_trial_is_noted_as_over_stands(
    home: Path, database_url: str, over: Workspace
) -> None:
    # on Postgres the worker had read the trial, the payment was kept, and the plan then fell to starter all the same
    def pay() -> None:
        with db.transaction(database_url) as session:
            workspace = session.get_one(Workspace, over.id, with_for_update={"key_share": True})
            paid = session.get_one(Subscription, over.id)
            paid.billing, paid.status, paid.paid_plan = "card", "active", "growth"
            restate(workspace, paid)

    with meanwhile(database_url, "FROM workspaces", pay):
        lapse(settings_of(home, database_url))
    with db.transaction(database_url) as session:
        assert session.get_one(Workspace, over.id).plan == "growth"
