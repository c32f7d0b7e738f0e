"""What a plan rests on: trials with their end, grants, and what is paid, each at its own moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import time_machine

from api import db
from api.models import Subscription, Workspace
from api.plans import allowance
from api.subscriptions import TRIAL, UNPAID, Standing, begin_trial, restate, standing
from tests.factories import billing as factory
from tests.factories.deployments import application
from touchledger.settings import Settings

START = datetime(2026, 3, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def paying(**changed: object) -> Subscription:
    facts = {"billing": "card", "status": "active", "paid_plan": "growth", "period_start": START}
    return Subscription(workspace_id="w", **{**facts, "period_end": START + timedelta(days=30), **changed})


def told(subscription: Subscription | None, at: datetime) -> tuple[str, str]:
    found = standing(subscription, at)
    return found.plan, found.status


def test_a_trial_gives_the_plans_limits_at_once_and_takes_them_back_to_the_second(database_url: str) -> None:
    with time_machine.travel(START, tick=False) as clock:
        made = factory.workspace(database_url)
        with db.transaction(database_url) as session:
            workspace = session.get_one(Workspace, made.id)
            begin_trial(session, workspace=workspace, plan="growth")
            assert workspace.plan == "growth"
        clock.move_to(START + TRIAL - SECOND)
        with db.transaction(database_url) as session:
            assert session.get_one(Workspace, made.id).plan == "growth"
        clock.move_to(START + TRIAL)
        with db.transaction(database_url) as session:
            assert session.get_one(Workspace, made.id).plan == "starter"
            assert told(session.get_one(Subscription, made.id), db.now()) == ("starter", "none")


def test_allowances_follow_the_plan_that_counts_now(settings: Settings) -> None:
    workspace = Workspace(name="Agency", plan="agency")
    with time_machine.travel(START, tick=False), application(settings).app_context():
        assert allowance(workspace, "active_profiles") == 75
        workspace.plan_ends_at = START
        assert allowance(workspace, "active_profiles") == 3
        workspace.plan = "growth"
        assert allowance(workspace, "active_profiles") == 15


def test_starter_needs_no_subscription(sqlite_url: str) -> None:
    made = factory.workspace(sqlite_url)
    with db.transaction(sqlite_url) as session:
        assert begin_trial(session, workspace=session.get_one(Workspace, made.id), plan="starter") is None
        assert session.get(Subscription, made.id) is None
    assert standing(None, START) == Standing()


def test_an_unpaid_period_lasts_fourteen_days_from_the_failed_payment() -> None:
    late = paying(status="past_due", past_due_since=START)
    assert told(late, START + UNPAID - SECOND) == ("growth", "past_due")
    assert told(late, START + UNPAID) == ("starter", "canceled")


def test_a_canceled_subscription_lasts_to_the_end_of_what_was_paid() -> None:
    leaving = paying(cancel_at=START + timedelta(days=30))
    before = standing(leaving, START)
    assert (before.plan, before.status, before.cancel_at_period_end) == ("growth", "active", True)
    assert told(leaving, START + timedelta(days=30)) == ("starter", "canceled")
    unpaid = paying(status="past_due", past_due_since=START, cancel_at=START + SECOND)
    assert standing(unpaid, START).ends_at == START + SECOND


def test_what_was_ever_paid_ends_the_trial() -> None:
    later = START + timedelta(days=5)
    over = paying(status="canceled", trial_plan="agency", trial_start=START, trial_end=START + TRIAL)
    assert told(over, later) == ("starter", "canceled")
    smaller = paying(trial_plan="agency", trial_start=START, trial_end=START + TRIAL)
    assert told(smaller, later) == ("growth", "active")


def test_a_grant_outranks_what_is_paid_for_less_and_yields_to_more() -> None:
    assert told(Subscription(workspace_id="w", granted_plan="growth"), START) == ("growth", "active")
    assert told(paying(granted_plan="enterprise"), START) == ("enterprise", "active")
    assert told(paying(granted_plan="growth", paid_plan="agency"), START) == ("agency", "active")
    assert told(paying(granted_plan="growth", status="canceled", paid_plan="agency"), START) == ("growth", "active")


def test_the_workspace_carries_the_moment_at_which_its_plan_ends() -> None:
    workspace = Workspace(name="Agency")
    with time_machine.travel(START, tick=False):
        restate(workspace, paying(status="past_due", past_due_since=START))
        assert (workspace.plan, workspace.plan_ends_at) == ("growth", START + UNPAID)
        restate(workspace, paying())
        assert (workspace.plan, workspace.plan_ends_at) == ("growth", None)
