"""Reports that are ordered while their workspace is archived end with it, on SQLite and on Postgres."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa
import time_machine
from werkzeug.test import TestResponse

from api import db
from api.models import Profile, Report, Workspace
from api.reports import scheduling
from api.roles import Role
from api.snapshot import snapshots
from tests.api.reports.conftest import GOLDEN
from tests.api.v1.reports.conftest import Ask
from tests.api.v1.reports.test_reports import generate
from tests.api.v1.reports.test_schedules import WEEKLY, apply
from tests.factories import served
from tests.factories.deployments import settings_of
from tests.fixtures.at_once import meanwhile
from touchledger.settings import Settings

BEFORE, DUE = datetime(2026, 2, 25, tzinfo=UTC), datetime(2026, 3, 4, tzinfo=UTC)


@pytest.fixture
def settings(home: Path, database_url: str) -> Iterator[Settings]:
    made = settings_of(home, database_url).model_copy(update={"query_deadline_seconds": 60})
    served.publish(made.published, served.from_csv(GOLDEN))
    yield made
    snapshots(made).close()


def asked_for(ask: Ask, profile: Profile, _: Settings) -> Callable[[], object]:
    return lambda: generate(ask, profile)


def scheduled(ask: Ask, profile: Profile, settings: Settings) -> Callable[[], object]:
    with time_machine.travel(BEFORE, tick=False):
        apply(ask, profile, **{**WEEKLY, "recipients": []})

    def run() -> None:
        with time_machine.travel(DUE, tick=False):
            assert scheduling.run_due(settings) == 1

    return run


@pytest.mark.parametrize("order", [asked_for, scheduled])
def test_no_report_is_left_of_a_workspace_that_is_archived_meanwhile(
    ask: Ask, settings: Settings, profile: Profile, order: Callable[..., Callable[[], object]]
) -> None:
    with db.transaction(settings.operational_url) as session:
        name = session.get_one(Workspace, profile.workspace_id).name

    def archive() -> TestResponse:
        return ask("DELETE", "", role=Role.OWNER, json={"confirm_name": name})

    does = order(ask, profile, settings)
    with meanwhile(settings.operational_url, "INSERT INTO reports", archive) as archived:
        does()
    assert [one.status_code for one in archived] == [200]
    with db.transaction(settings.operational_url) as session:
        assert session.scalars(sa.select(Report.id)).all() == []
