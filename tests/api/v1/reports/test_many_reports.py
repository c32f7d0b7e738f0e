"""A page among very many reports is the first of an index, of a workspace or of one profile."""

from __future__ import annotations

import pytest

from api import db
from api.models import Profile
from tests.api.v1.reports.conftest import Ask
from tests.fixtures.statements import statements
from touchledger.settings import Settings


@pytest.mark.parametrize(
    ("is_narrowed", "index"),
    [(False, "ix_reports_listed (workspace_id=?)"), (True, "ix_reports_profile (profile_id=?)")],
)
def test_a_page_of_reports_is_read_off_an_index_in_its_order(
    ask: Ask, settings: Settings, profile: Profile, is_narrowed: bool, index: str
) -> None:
    # all reports of all time were put in order for each page: with 250,000 it took half a second
    engine = db.engine_for(settings.operational_url, durable=False)
    with statements(engine) as run:
        assert ask("GET", f"/reports/hub{f'?profile_ids={profile.id}' if is_narrowed else ''}").status_code == 200
    (asked,) = (one for one in run if "FROM reports" in one[0])
    with engine.connect() as connection:
        plan = connection.exec_driver_sql(f"explain query plan {asked[0]}", asked[1]).all()
    steps = [step.detail for step in plan]
    assert f"SEARCH reports USING INDEX {index}" in steps
    assert "USE TEMP B-TREE FOR ORDER BY" not in steps
