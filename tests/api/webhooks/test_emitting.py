"""Events: who is told, that they share the fate of their change, and how often a catalogue may change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import orjson
import pytest
import sqlalchemy as sa
import time_machine
from sqlalchemy.orm import Session

from api import db
from api.models import Profile, WebhookDelivery, WebhookEvent, WebhookSubscription
from api.webhooks.emitting import content, emit, emit_for_profile, emit_seldom
from tests.api.webhooks.conftest import subscribed
from tests.factories import accounts
from touchledger.settings import Settings

DATA = {"report_id": "r"}


def told(session: Session) -> list[str]:
    return sorted(session.scalars(sa.select(WebhookDelivery.subscription_id)))


def test_only_who_listens_to_the_kind_the_profile_or_its_workspace_is_told(
    settings: Settings, profile: Profile
) -> None:
    other = accounts.profile(settings.operational_url)
    listening = [
        subscribed(settings, profile),
        subscribed(settings, profile, profile_id=None, events=["import.finished", "report.ready"]),
    ]
    subscribed(settings, profile, events=["import.finished"])
    subscribed(settings, profile, status="paused")
    subscribed(settings, profile, status="failed")
    subscribed(settings, other)
    subscribed(settings, other, profile_id=None)
    with db.transaction(settings.operational_url) as session:
        event = emit_for_profile(session, "report.ready", DATA, profile.id)
        assert told(session) == sorted(one.id for one in listening)
        assert event is not None
        assert orjson.loads(content(event)) == {
            "id": event.id,
            "type": "report.ready",
            "occurred_at": event.occurred_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "api_version": "v1",
            "workspace_id": profile.workspace_id,
            "profile_id": profile.id,
            "data": DATA,
        }


def test_an_event_of_the_workspace_is_not_for_those_of_one_profile(settings: Settings, profile: Profile) -> None:
    subscribed(settings, profile)
    whole = subscribed(settings, profile, profile_id=None)
    subscribed(settings, accounts.profile(settings.operational_url), profile_id=None)
    with db.transaction(settings.operational_url) as session:
        emit(session, "report.ready", DATA, workspace_id=profile.workspace_id)
        assert told(session) == [whole.id]


def test_nothing_is_kept_where_nobody_listens(settings: Settings, profile: Profile) -> None:
    with db.transaction(settings.operational_url) as session:
        assert emit_for_profile(session, "report.ready", DATA, profile.id) is None
        assert session.scalars(sa.select(WebhookEvent)).all() == []


def test_what_is_rolled_back_is_told_to_nobody(settings: Settings, subscription: WebhookSubscription) -> None:
    def fails() -> None:
        with db.transaction(settings.operational_url) as session:
            emit_for_profile(session, "report.ready", DATA, subscription.profile_id or "")
            raise LookupError

    with pytest.raises(LookupError):
        fails()
    with db.transaction(settings.operational_url) as session:
        assert told(session) == []


@pytest.mark.parametrize(("kind", "data"), [("report.done", {}), ("report.ready", {"report_id": "x" * 20_000})])
def test_an_unknown_kind_and_a_large_event_are_errors_of_ours(
    settings: Settings, subscription: WebhookSubscription, kind: str, data: dict[str, str]
) -> None:
    with db.transaction(settings.operational_url) as session, pytest.raises(ValueError, match="event"):
        emit_for_profile(session, kind, data, subscription.profile_id or "")


def test_a_catalogue_is_told_of_at_most_once_a_minute_and_never_forgotten(
    settings: Settings, profile: Profile, subscription: WebhookSubscription
) -> None:
    start = datetime(2026, 6, 1, tzinfo=UTC)
    about = {"workspace_id": profile.workspace_id, "profile_id": profile.id}
    for seconds, subject in ((0, "a"), (10, "a"), (10, "b"), (75, "a"), (200, "a")):
        with (
            time_machine.travel(start + timedelta(seconds=seconds), tick=False),
            db.transaction(settings.operational_url) as session,
        ):
            emit_seldom(session, "catalog.updated", {}, subject=subject, **about)
    with db.transaction(settings.operational_url) as session:
        chosen = sa.select(WebhookDelivery.next_attempt_at).order_by(WebhookDelivery.id)
        assert [(at - start).total_seconds() for at in session.scalars(chosen) if at] == [0, 60, 10, 120, 200]
