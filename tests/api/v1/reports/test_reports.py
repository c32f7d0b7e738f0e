"""W/reports: what is queued, made by the worker, served to members and mailed; who may, and what is refused."""

from __future__ import annotations

import os
import sys
import uuid
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api import db, mail_delivery
from api.models import AuditEntry, OutgoingMail, Profile, Report
from api.purge import retire
from api.reports import making
from api.roles import Role
from tests.api.v1.reports.conftest import Ask, change
from tests.factories import accounts, people
from tests.factories.deployments import application
from tests.factories.mailbox import Mailbox
from touchledger.settings import Settings

WINDOW = {"date_from": "2026-03-01", "date_to": "2026-03-02"}


def body(*profiles: Profile, **more: Any) -> dict[str, Any]:
    asked = {"profile_ids": [one.id for one in profiles], "template": "performance_summary", "format": "html"}
    return {**asked, **WINDOW, **more}


def generate(ask: Ask, *profiles: Profile, **more: Any) -> dict[str, Any]:
    answer = ask("POST", "/reports/bulk-generate", json=body(*profiles, **more))
    assert answer.status_code == 202, answer.text
    return dict(answer.get_json()["data"])


def hub(ask: Ask, query: str = "", role: Role = Role.VIEWER) -> dict[str, Any]:
    answer = ask("GET", f"/reports/hub{query}", role=role)
    assert answer.status_code == 200, answer.text
    return dict(answer.get_json()["data"])


def code(response: TestResponse) -> tuple[int, str]:
    return response.status_code, response.get_json()["error"]["code"]


def path_of(report: dict[str, Any]) -> str:
    return "/api/" + str(report["file_url"]).partition("/api/")[2]


@pytest.mark.parametrize(
    ("form", "mime", "begins"),
    [
        ("html", "text/html", b"<!doctype html>"),
        ("csv", "text/csv", b"\xef\xbb\xbf"),
        ("pdf", "application/pdf", b"%PDF"),
    ],
)
def test_a_report_is_queued_made_and_served_to_members_only(
    ask: Ask, client: FlaskClient, settings: Settings, profile: Profile, form: str, mime: str, begins: bytes
) -> None:
    batch = generate(ask, profile, format=form)
    (queued,) = batch["reports"]
    assert (queued["status"], queued["profile_id"], queued["reason"]) == ("queued", profile.id, None)
    (waiting,) = hub(ask)["reports"]
    assert (waiting["status"], waiting["file_url"], waiting["batch_id"]) == ("queued", None, batch["batch_id"])
    assert code(ask("GET", f"/api/v1/reports/{queued['report_id']}/file", role=Role.VIEWER)) == (404, "not_found")

    assert making.make_due(settings) == 1
    (ready,) = hub(ask)["reports"]
    assert (ready["status"], ready["profile_name"], ready["recipients_count"]) == ("ready", "Golden & Co", 0)
    assert ready["snapshot_id"] is not None
    file = ask("GET", path_of(ready), role=Role.VIEWER)
    assert (file.status_code, file.mimetype, file.data[: len(begins)]) == (200, mime, begins)
    name = f"Golden-Co-performance-summary-2026-03-02.{form}"
    assert file.headers["Content-Disposition"] == f"attachment; filename={name}"
    assert "sandbox" in file.headers["Content-Security-Policy"]
    assert file.headers["Cache-Control"] == "no-store"
    assert client.get(ready["file_url"].partition("8000")[2]).status_code == 401
    assert code(ask("GET", path_of(ready), role=Role.GUEST)) == (404, "not_found")
    alone = ask("GET", f"/api/v1/reports/{ready['report_id']}", role=Role.VIEWER).get_json()
    assert alone["data"] == ready
    assert alone["meta"] == {"workspace_id": profile.workspace_id, "profile_id": profile.id}


def test_a_stranger_and_another_workspace_get_the_answer_of_an_unknown_report(
    ask: Ask, client: FlaskClient, settings: Settings, profile: Profile
) -> None:
    generate(ask, profile)
    making.make_due(settings)
    (ready,) = hub(ask)["reports"]
    url = settings.operational_url
    other = accounts.profile(url)
    person = people.user(url)
    people.member(url, person, other.workspace_id, Role.OWNER)
    headers = {"Authorization": f"Bearer {people.session_of(url, person)}"}
    for path in (path_of(ready), f"/api/v1/reports/{ready['report_id']}"):
        assert code(client.get(path, headers=headers)) == (404, "not_found")
    stolen = client.post(
        f"/api/v1/workspaces/{other.workspace_id}/reports/bulk-generate", json=body(profile), headers=headers
    )
    assert code(stolen) == (404, "not_found")


def test_a_profile_with_nothing_to_tell_is_skipped_and_one_out_of_reach_stops_all(
    ask: Ask, settings: Settings, profile: Profile, second: Profile
) -> None:
    told = generate(ask, second, profile)["reports"]
    assert [(one["status"], one["reason"]) for one in told] == [("skipped", "no_data"), ("queued", None)]
    quiet = generate(ask, profile, date_from="2025-01-01", date_to="2025-01-31")["reports"]
    assert [(one["report_id"], one["reason"]) for one in quiet] == [(None, "no_data")]
    foreign = accounts.profile(settings.operational_url)
    assert code(ask("POST", "/reports/bulk-generate", json=body(profile, foreign))) == (404, "not_found")
    assert len(hub(ask)["reports"]) == 1


def test_a_sent_report_arrives_with_its_file_and_is_then_sent(
    ask: Ask, settings: Settings, profile: Profile, mailbox: Mailbox
) -> None:
    ask("PUT", "/branding", role=Role.ADMIN, json={"display_name": "Ágora", "locale": "es"})
    generate(ask, profile, send=True, recipients=["A@example.com", "b@example.com", "a@example.com"])
    making.make_due(settings)
    making.settle_sending(settings)
    (sending,) = hub(ask)["reports"]
    assert (sending["status"], sending["recipients_count"], sending["locale"]) == ("sending", 2, "es")
    assert mail_delivery.deliver(settings) == 2
    making.settle_sending(settings)
    (sent,) = hub(ask)["reports"]
    assert (sent["status"], sent["failure_reason"]) == ("sent", None)
    assert sent["sent_at"] is not None
    assert sorted(mailbox.recipients) == ["a@example.com", "b@example.com"]
    message = mailbox.arrived[0]
    assert message["Subject"] == "Resumen de rendimiento: Golden & Co, 1 mar 2026 – 2 mar 2026"
    (attached,) = message.iter_attachments()
    assert attached.get_filename() == "Golden-Co-performance-summary-2026-03-02.html"
    assert "Resumen de rendimiento" in attached.get_content()


def test_a_report_that_nobody_took_has_failed_and_its_file_stays(
    ask: Ask, settings: Settings, profile: Profile, mailbox: Mailbox
) -> None:
    mailbox.refusals = ["550 no", "550 no"]
    generate(ask, profile, send=True, recipients=["a@example.com", "b@example.com"])
    making.make_due(settings)
    mail_delivery.deliver(settings)
    making.settle_sending(settings)
    (failed,) = hub(ask)["reports"]
    assert (failed["status"], failed["failure_reason"]) == ("failed", "recipients_failed")
    assert ask("GET", path_of(failed)).status_code == 200


def test_what_keeps_failing_is_tried_three_times(
    ask: Ask, settings: Settings, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    generate(ask, profile)
    # the folder cannot be made where a file is
    (settings.home / "reports").write_text("in the way")
    for attempt in (1, 2, 3):
        assert making.make_due(settings) == 0
        with db.transaction(settings.operational_url) as session:
            report = session.scalars(sa.select(Report)).one()
            assert report.attempts == min(attempt, 2)
            assert attempt == 3 or report.next_attempt_at > db.now()
            report.next_attempt_at = db.now()
    (failed,) = hub(ask)["reports"]
    assert (failed["status"], failed["failure_reason"]) == ("failed", "rendering_failed")


def test_what_a_killed_worker_was_rendering_is_rendered_again(ask: Ask, settings: Settings, profile: Profile) -> None:
    generate(ask, profile)
    with db.transaction(settings.operational_url) as session:
        long_ago = db.now() - making.ABANDONED_AFTER - timedelta(seconds=1)
        session.execute(sa.update(Report).values(status="rendering", begun_at=long_ago))
    assert making.make_due(settings) == 0
    with db.transaction(settings.operational_url) as session:
        session.execute(sa.update(Report).values(next_attempt_at=db.now()))
    assert making.make_due(settings) == 1


def test_writing_needs_the_permission_which_editors_have_and_viewers_may_be_given(ask: Ask, profile: Profile) -> None:
    schedule = {"profile_ids": [profile.id], "patch": {"template": "pacing"}}
    for path, sent in (("/reports/bulk-generate", body(profile)), ("/reports/schedules/bulk", schedule)):
        guest = ask("POST", path, role=Role.GUEST, permissions=("reports.manage",), json=sent)
        assert code(guest) == (403, "forbidden")
        assert code(ask("POST", path, role=Role.VIEWER, json=sent)) == (403, "insufficient_scope")
        assert code(ask("POST", path, permissions=("-reports.manage",), json=sent)) == (403, "insufficient_scope")
        given = ask("POST", path, role=Role.VIEWER, permissions=("reports.manage",), json={})
        assert code(given) == (422, "validation_error")
    assert code(ask("GET", "/reports/hub", role=Role.GUEST)) == (403, "forbidden")


def test_the_plan_limits_bulk_and_not_single_reports(
    ask: Ask, settings: Settings, profile: Profile, second: Profile
) -> None:
    change(settings, profile, plan="starter")
    refused = ask("POST", "/reports/bulk-generate", json=body(profile, second))
    assert code(refused) == (402, "plan_upgrade_required")
    generate(ask, profile)


def test_mail_is_refused_where_it_could_not_leave(ask: Ask, settings: Settings, profile: Profile) -> None:
    sending = body(profile, send=True, recipients=["a@example.com"])
    change(settings, profile, acquisition_source="oauth")
    assert code(ask("POST", "/reports/bulk-generate", json=sending)) == (403, "app_provisioned_workspace")
    generate(ask, profile)
    change(settings, profile, acquisition_source="direct")
    url, person = settings.operational_url, people.user(settings.operational_url)
    people.member(url, person, profile.workspace_id, Role.EDITOR)
    silent = application(Settings(home=settings.home)).test_client()
    answer = silent.post(
        f"/api/v1/workspaces/{profile.workspace_id}/reports/bulk-generate",
        json=sending,
        headers={"Authorization": f"Bearer {people.session_of(url, person)}"},
    )
    assert code(answer) == (503, "service_unavailable")
    assert "Retry-After" in answer.headers


def test_pdf_is_not_implemented_where_its_libraries_are_absent(
    ask: Ask, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    assert code(ask("POST", "/reports/bulk-generate", json=body(profile, format="pdf"))) == (501, "not_implemented")
    generate(ask, profile, format="html")


@pytest.mark.parametrize(
    "wrong",
    [
        {"profile_ids": []},
        {"profile_ids": ["x"]},
        {"template": "weather"},
        {"date_to": "2026-02-28"},
        {"date_to": "2027-03-03"},
        {"date_from": "1999-01-01", "date_to": "1999-01-02"},
        # forms that ISO 8601 has beside the calendar's
        {"date_from": "20260301"},
        {"date_from": "2026-W09-7"},
        {"format": "docx"},
        {"locale": "de"},
        {"send": True},
        {"send": "true", "recipients": ["a@example.com"]},
        {"send": True, "recipients": ["a@example.com\nBcc: b@example.com"]},
        {"send": True, "recipients": [f"p{n}@example.com" for n in range(21)]},
    ],
)
def test_what_is_wrong_is_refused(ask: Ask, profile: Profile, wrong: dict[str, Any]) -> None:
    assert code(ask("POST", "/reports/bulk-generate", json=body(profile, **wrong))) == (422, "validation_error")


def test_the_hub_pages_through_reports_and_narrows_to_profiles(
    ask: Ask, settings: Settings, profile: Profile, second: Profile
) -> None:
    for _ in range(3):
        generate(ask, profile)
    first = ask("GET", "/reports/hub?limit=2", role=Role.VIEWER).get_json()
    assert (len(first["data"]["reports"]), first["pagination"]["has_next"]) == (2, True)
    rest = ask("GET", f"/reports/hub?limit=2&cursor={first['pagination']['cursor']}", role=Role.VIEWER).get_json()
    assert (len(rest["data"]["reports"]), rest["pagination"]["has_next"]) == (1, False)
    assert len({one["report_id"] for one in first["data"]["reports"] + rest["data"]["reports"]}) == 3
    assert hub(ask, f"?profile_ids={second.id}")["reports"] == []
    assert hub(ask, f"?profile_id={second.id}")["reports"] == []
    assert len(hub(ask, f"?profile_ids={second.id},{profile.id}")["reports"]) == 3
    for unknown in (str(uuid.uuid4()), accounts.profile(settings.operational_url, name="Foreign").id):
        assert code(ask("GET", f"/reports/hub?profile_ids={profile.id},{unknown}")) == (404, "not_found")
    with db.transaction(settings.operational_url) as session:
        session.execute(sa.update(Report).values(created_at=db.now()))
    tied = [one["report_id"] for one in hub(ask)["reports"]]
    assert tied == sorted(tied)
    told = hub(ask)
    assert [one["key"] for one in told["templates"]] == ["performance_summary", "creative_review", "pacing"]
    assert told["sender"] == {
        "from_address": "mail@deployment.example", "domain_verified": False, "mail_configured": True,
    }  # fmt: skip


def test_the_trail_names_no_recipients_and_an_archive_takes_reports_and_files(
    ask: Ask, settings: Settings, profile: Profile
) -> None:
    generate(ask, profile, send=True, recipients=["canary@example.com"])
    making.make_due(settings)
    with db.transaction(settings.operational_url) as session:
        (entry,) = session.scalars(sa.select(AuditEntry).where(AuditEntry.action == "report.requested"))
        assert "canary" not in str(entry.details)
        assert session.scalars(sa.select(OutgoingMail)).one().to_address == "canary@example.com"
        retire(session, [profile.id], at=db.now())
    assert hub(ask)["reports"] == []
    (file,) = (settings.home / "reports").iterdir()
    making.forget_unnamed(settings)
    assert file.exists()
    os.utime(file, (file.stat().st_mtime - 7200,) * 2)
    making.forget_unnamed(settings)
    assert not file.exists()
    with db.transaction(settings.operational_url) as session:
        assert list(session.scalars(sa.select(Report))) == []
