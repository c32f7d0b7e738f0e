"""How many reports a person may have mailed within an hour, and what becomes of one whose worker knows no server."""

from __future__ import annotations

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api import db, rate_limit
from api.models import Profile
from api.reports import making
from api.roles import Role
from api.v1.reports.mailing import HOURLY
from tests.api.v1.reports.conftest import Ask
from tests.api.v1.reports.test_reports import body, code, generate, hub, path_of
from tests.factories import people
from touchledger.settings import Settings


def test_a_person_has_two_thousand_messages_an_hour(
    client: FlaskClient, settings: Settings, profile: Profile, second: Profile
) -> None:
    url = settings.operational_url
    editor = people.user(url)
    people.member(url, editor, profile.workspace_id, Role.EDITOR)
    headers = {"Authorization": f"Bearer {people.session_of(url, editor)}"}
    path = f"/api/v1/workspaces/{profile.workspace_id}/reports/bulk-generate"

    def order(addresses: int, *, send: bool = True) -> TestResponse:
        recipients = [f"p{number}@example.com" for number in range(addresses)]
        return client.post(path, json=body(profile, second, send=send, recipients=recipients), headers=headers)

    # the second profile has nothing to tell: no report, no mail
    assert order(20).status_code == 202
    with db.transaction(url) as session:
        bucket = f"user:{editor.id}:report_mail"
        left = rate_limit.charge(session, bucket, units=1970, limit=HOURLY.limit, window=HOURLY.window)
    assert (HOURLY.limit, left.remaining) == (2000, 10)
    refused = order(11)
    assert (*code(refused), refused.get_json()["error"]["reason"]) == (429, "rate_limit_exceeded", "request_rate")
    assert 3000 < int(refused.headers["Retry-After"]) <= 3600
    assert "11 where 10 are left" in refused.get_json()["error"]["message"]
    assert [order(11, send=False).status_code, order(10).status_code, order(1).status_code] == [202, 202, 429]


def test_a_worker_without_a_mail_server_keeps_the_file_and_says_why(
    ask: Ask, settings: Settings, profile: Profile
) -> None:
    generate(ask, profile, send=True, recipients=["ada@example.com"])
    assert making.make_due(settings.model_copy(update={"smtp_host": None})) == 1
    (failed,) = hub(ask)["reports"]
    assert (failed["status"], failed["failure_reason"]) == ("failed", "mail_not_configured")
    assert ask("GET", path_of(failed)).status_code == 200
