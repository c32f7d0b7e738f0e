"""What the sources of events tell: connections, reports, files, erasures, analyses and exports."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
import sqlalchemy as sa

from api import db
from api.connections import asking
from api.creative_analysis import working
from api.errors import ApiError
from api.hooks import store_effects
from api.models import (
    Connection,
    CreativeAnalysis,
    Erasure,
    ExportDestination,
    ExportRow,
    Profile,
    Report,
    StoreDelivery,
    WebhookEvent,
    WebhookSubscription,
)
from api.reports import making
from api.webhooks.telling import exports_ended, report_ended
from connectors.errors import Refused, Revoked
from orchestration.erasure import complete_erasures
from orchestration.importer import import_file
from orchestration.lake import Lake
from tests.factories.connected import to_store
from touchledger.settings import REPOSITORY, Settings

pytestmark = pytest.mark.usefixtures("subscription")
AT = datetime(2026, 6, 1, tzinfo=UTC)


def told(settings: Settings) -> list[tuple[str, dict[str, Any]]]:
    with db.transaction(settings.operational_url) as session:
        events = session.scalars(sa.select(WebhookEvent).order_by(WebhookEvent.id))
        return [(event.type, event.data) for event in events]


def fail(settings: Settings, connection: Connection, failure: Exception) -> None:
    with pytest.raises(ApiError), asking(settings, connection, within=5):
        raise failure


def test_a_lost_grant_is_told_once_and_each_change_of_a_connections_health(
    settings: Settings, profile: Profile
) -> None:
    store = to_store(settings.operational_url, profile, "http://127.0.0.1:9")
    fail(settings, store, Refused("shopify", "no", reason="permission_missing"))
    for _ in range(2):
        fail(settings, store, Revoked("shopify", "dead"))
    (_, withheld), (_, health), (kind, lost) = told(settings)
    assert (withheld["status"], withheld["previous_status"], withheld["reconnect_required"]) == (
        *("needs_action", "active"),
        False,
    )
    assert (health["status"], health["previous_status"]) == ("reconnect_required", "needs_action")
    assert kind == "connection.reconnect_required"
    assert (lost["connection_id"], lost["reason"]) == (store.id, "revoked")
    assert lost["reconnect_url"] == health["reconnect_url"] != withheld["reconnect_url"]


def test_a_grant_whose_time_is_over_is_told_as_expired(settings: Settings, profile: Profile) -> None:
    store = to_store(settings.operational_url, profile, "http://127.0.0.1:9")
    fail(settings, store, Revoked("meta", "over", reason="expired"))
    (_, health), (_, lost) = told(settings)
    assert (health["status_reason"], lost["reason"]) == ("expired", "expired")


def test_a_removed_app_is_a_lost_grant(settings: Settings, profile: Profile) -> None:
    store = to_store(settings.operational_url, profile, "http://127.0.0.1:9")
    about = {"profile_id": profile.id, "connection_id": store.id, "occurred_at": AT}
    with db.transaction(settings.operational_url) as session:
        session.add(StoreDelivery(delivery_id="d", topic="app/uninstalled", **about))
    store_effects.settle_due(settings)
    assert [kind for kind, _ in told(settings)] == ["channel.health.updated", "connection.reconnect_required"]


def test_a_file_is_told_of_when_it_is_rejected_and_when_it_is_loaded(
    settings: Settings, profile: Profile, tmp_path: Path
) -> None:
    lake = Lake(settings.lake)
    lake.prepare()
    files = {
        "bad.csv": "nothing\n1\n",
        "good.csv": "platform,ad_account_id,currency,timezone\nmeta,1,USD,UTC\nmeta,,,\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        for _ in range(2):
            import_file(
                settings.operational_url, lake, dataset="ad_accounts", path=tmp_path / name, profile_id=profile.id
            )
    found = [data for kind, data in told(settings) if kind == "import.finished"]
    assert [(data["status"], data["rows_in"], data["rows_loaded"], data["rows_quarantined"]) for data in found] == [
        ("rejected", 0, 0, 0),
        ("rejected", 0, 0, 0),
        ("loaded", 2, 1, 1),
    ]


def test_an_erasure_is_told_of_when_it_is_completed(settings: Settings, profile: Profile) -> None:
    done = {"profile_id": profile.id, "reason": "other", "counts": {}, "due_at": AT, "status": "processing"}
    with db.transaction(settings.operational_url) as session:
        session.add_all([Erasure(rewritten_at=AT, **done), Erasure(**done)])
    (finished,) = complete_erasures(settings)
    complete_erasures(settings)
    ((kind, data),) = told(settings)
    assert (kind, data["erasure_id"]) == ("customer.erased", finished)
    assert data["completed_at"].endswith("Z")


def test_a_report_that_cannot_be_made_is_told_of_as_well_as_one_that_is_ready(
    settings: Settings, profile: Profile
) -> None:
    order = {"workspace_id": profile.workspace_id, "profile_id": profile.id, "template": "performance_summary"}
    window = {"date_from": date(2026, 1, 1), "date_to": date(2026, 1, 31), "locale": "en", "format": "csv"}
    with db.transaction(settings.operational_url) as session:
        report = Report(batch_id="b", **order, **window)
        session.add(report)
        session.flush()
        report_ended(session, report, "ready")
    making.make_due(settings)
    expected = {"report_id": report.id, "template": "performance_summary", "batch_id": "b"}
    assert told(settings) == [("report.ready", {**expected, "status": one}) for one in ("ready", "failed")]


def test_an_analysis_is_told_of_when_it_ends_and_not_when_it_is_put_off(settings: Settings, profile: Profile) -> None:
    job = {"profile_id": profile.id, "account": "a", "ad_id": "i", "ad_external_id": "e", "creative_hash": "h"}
    with db.transaction(settings.operational_url) as session:
        rows = [CreativeAnalysis(**job, creative={}, status="running", begun_at=AT) for _ in range(2)]
        session.add_all(rows)
    working._postpone(settings, rows[0], "timeout")
    assert told(settings) == []
    working._fail_overdue(settings)
    ((kind, data),) = told(settings)
    assert (kind, data["job_id"], data["status"]) == ("creative_analysis.completed", rows[1].id, "failed")
    assert (data["ad_id"], data["ad_external_id"], data["failure_reason"]) == ("i", "e", "timed_out")


def test_a_batch_of_exports_is_one_event_for_each_end_and_never_one_for_each_row(
    settings: Settings, profile: Profile
) -> None:
    ends = [("1", "sent", None), ("2", "skipped", "too_old"), ("3", "sent", None), ("4", "queued", "timeout")]
    ends += [("5", "skipped", "zero_value"), ("6", "skipped", "too_old")]
    with db.transaction(settings.operational_url) as session:
        destination = ExportDestination(id="d", profile_id=profile.id, kind="meta_pixel")
        exports_ended(session, destination, [ExportRow(id=n, status=s, reason=r) for n, s, r in ends])
    about = {"destination_id": "d", "kind": "meta_pixel"}
    assert told(settings) == [
        ("conversion_export.sent", {**about, "count": 2, "first_export_id": "1", "last_export_id": "3"}),
        (
            "conversion_export.skipped",
            {
                **about,
                "count": 3,
                "first_export_id": "2",
                "last_export_id": "6",
                "reasons": {"too_old": 2, "zero_value": 1},
            },
        ),
    ]


def test_the_page_names_what_a_batch_of_exports_tells_by_its_end(settings: Settings, profile: Profile) -> None:
    ends = [("1", "sent", None), ("2", "skipped", "too_old"), ("3", "failed", "refused")]
    with db.transaction(settings.operational_url) as session:
        destination = ExportDestination(id="d", profile_id=profile.id, kind="meta_pixel")
        exports_ended(session, destination, [ExportRow(id=n, status=s, reason=r) for n, s, r in ends])
    page = (REPOSITORY / "docs" / "webhooks.md").read_text()
    named = {
        kind: set(members.split(", "))
        for kinds, members in re.findall(r"^\| (`.*`) \| .* \| (.*) \|$", page, re.MULTILINE)
        for kind in re.findall(r"`([^`]+)`", kinds)
    }
    events = told(settings)
    assert len(events) == 3
    for kind, data in events:
        assert named[kind] == set(data), kind


def test_no_event_tells_of_a_person(settings: Settings, profile: Profile, subscription: WebhookSubscription) -> None:
    store = to_store(settings.operational_url, profile, "http://127.0.0.1:9", display_name="ann@example.com")
    fail(settings, store, Revoked("shopify", "dead: ann@example.com"))
    assert b"ann@" not in orjson.dumps(told(settings))
    assert subscription.created_at - AT > timedelta(0)
