"""Reports that an agent asked for: whoever may have them made may read them, as may whoever reads figures."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from api.models import Profile
from api.reports import making
from api.roles import Role
from tests.factories import people
from touchledger.settings import Settings

ASKED = {
    "template": "performance_summary",
    "date_from": "2026-03-01",
    "date_to": "2026-03-02",
    "format": "html",
}


@pytest.fixture
def report_id(client: FlaskClient, settings: Settings, profile: Profile) -> str:
    """A report that an agent of an editor asked for, made."""
    url = settings.operational_url
    editor = people.user(url)
    people.member(url, editor, profile.workspace_id, Role.EDITOR)
    answer = client.post(
        f"/api/v1/workspaces/{profile.workspace_id}/reports/bulk-generate",
        json={**ASKED, "profile_ids": [profile.id]},
        headers={"Authorization": f"Bearer {people.token_of(url, editor, grants=['mcp:write'])}"},
    )
    making.make_due(settings)
    return str(answer.get_json()["data"]["reports"][0]["report_id"])


def test_one_of_the_two_grants_reads_a_report_and_the_third_does_not(
    client: FlaskClient, settings: Settings, profile: Profile, report_id: str
) -> None:
    url = settings.operational_url
    viewer = people.user(url)
    people.member(url, viewer, profile.workspace_id, Role.VIEWER)
    answers = {}
    for grant in ("mcp:read", "mcp:write", "mcp:read_pii"):
        headers = {"Authorization": f"Bearer {people.token_of(url, viewer, grants=[grant])}"}
        paths = (f"/api/v1/reports/{report_id}", f"/api/v1/reports/{report_id}/file")
        answers[grant] = [client.get(path, headers=headers).status_code for path in paths]
    assert answers == {"mcp:read": [200, 200], "mcp:write": [200, 200], "mcp:read_pii": [403, 403]}
