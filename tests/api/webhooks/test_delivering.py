"""Deliveries: signed, at least once, on their schedule, dead after the last try, and one receiver never for another."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import time_machine
from pydantic import SecretStr

from api import db
from api.models import Profile, WebhookDelivery, WebhookEvent, WebhookSubscription
from api.v1.webhooks import subscriptions
from api.webhooks import delivering
from api.webhooks.delivering import deliver, forgetting_old, wait_before
from api.webhooks.emitting import emit_for_profile
from api.webhooks.waiting import WAITS
from tests.api.webhooks.conftest import SECRET, subscribed
from tests.factories import accounts
from tests.factories.receivers import Receiver
from tests.fixtures.at_once import meanwhile
from touchledger.settings import Settings

START = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture
def clock() -> Iterator[time_machine.Coordinates]:
    with time_machine.travel(START, tick=False) as travelled:
        yield travelled


def emitted(settings: Settings, subscription: WebhookSubscription, **data: Any) -> None:
    with db.transaction(settings.operational_url) as session:
        emit_for_profile(session, "report.ready", {"report_id": "r", **data}, subscription.profile_id or "")


def deliveries(settings: Settings) -> list[WebhookDelivery]:
    with db.transaction(settings.operational_url) as session:
        return list(session.scalars(sa.select(WebhookDelivery).order_by(WebhookDelivery.id)))


def state(settings: Settings, one: WebhookSubscription) -> WebhookSubscription:
    with db.transaction(settings.operational_url) as session:
        return session.get_one(WebhookSubscription, one.id)


def until_dead(settings: Settings, receiver: Receiver, clock: time_machine.Coordinates) -> list[timedelta]:
    """Deliver until nothing waits; gives the waits between attempts."""
    waits: list[timedelta] = []
    for _ in range(20):
        deliver(settings, receiver.egress)
        due = deliveries(settings)[-1].next_attempt_at
        if due is None:
            return waits
        waits.append(due - db.now())
        clock.move_to(due)
    raise AssertionError("it is tried for ever")


def test_a_receiver_gets_what_happened_signed_as_the_standard_says(
    settings: Settings, subscription: WebhookSubscription, receiver: Receiver
) -> None:
    emitted(settings, subscription)
    assert deliver(settings, receiver.egress) == 1
    event = receiver.read(0, SECRET)
    assert (event["type"], event["data"], receiver.ids()) == ("report.ready", {"report_id": "r"}, [event["id"]])
    (row,) = deliveries(settings)
    assert (row.status, row.attempts, row.last_status, row.next_attempt_at) == ("delivered", 1, 200, None)
    assert deliver(settings, receiver.egress) == 0
    assert state(settings, subscription).last_delivery_at is not None


def test_it_is_tried_ten_times_on_its_schedule_under_one_id_and_then_is_dead(
    settings: Settings, subscription: WebhookSubscription, receiver: Receiver, clock: time_machine.Coordinates
) -> None:
    receiver.answers = [500]
    emitted(settings, subscription)
    waits = until_dead(settings, receiver, clock)
    assert len(waits) == len(WAITS) == 9
    assert all(0.8 * planned <= wait <= 1.2 * planned for planned, wait in zip(WAITS, waits, strict=True))
    (row,) = deliveries(settings)
    assert (row.status, row.attempts, row.last_status) == ("dead", 10, 500)
    assert len(receiver.came) == 10 and len(set(receiver.ids())) == 1
    assert {body for body, _ in receiver.came} == {receiver.came[0][0]}
    assert state(settings, subscription).consecutive_failures == 10


def test_nothing_is_tried_before_its_time(
    settings: Settings, subscription: WebhookSubscription, receiver: Receiver, clock: time_machine.Coordinates
) -> None:
    receiver.answers = [503, 200]
    emitted(settings, subscription)
    deliver(settings, receiver.egress)
    due = deliveries(settings)[0].next_attempt_at
    assert due is not None
    clock.move_to(due - timedelta(milliseconds=10))
    assert deliver(settings, receiver.egress) == 0 and len(receiver.came) == 1
    clock.move_to(due)
    assert deliver(settings, receiver.egress) == 1
    assert state(settings, subscription).consecutive_failures == 0


@pytest.mark.parametrize("killed", [False, True])
def test_a_clock_that_was_set_back_keeps_nobody_waiting_for_its_old_time(
    settings: Settings,
    subscription: WebhookSubscription,
    receiver: Receiver,
    clock: time_machine.Coordinates,
    killed: bool,
) -> None:
    receiver.answers = [200] if killed else [503, 200]
    emitted(settings, subscription)
    if killed:
        delivering._claimed(settings, deliveries(settings)[0].id)
    else:
        deliver(settings, receiver.egress)
    assert deliver(settings, receiver.egress) == 0
    clock.move_to(START - timedelta(days=1))
    assert deliver(settings, receiver.egress) == 1


@pytest.mark.parametrize(("chance", "seconds"), [(0.0, 4.0), (0.5, 5.0), (1.0, 6.0)])
def test_waits_are_spread_by_a_fifth(chance: float, seconds: float) -> None:
    assert wait_before(1, chance) == timedelta(seconds=seconds)
    assert wait_before(10, chance) is None


def test_a_redirect_is_a_failure(settings: Settings, subscription: WebhookSubscription, receiver: Receiver) -> None:
    receiver.answers = [301]
    emitted(settings, subscription)
    assert deliver(settings, receiver.egress) == 0
    (row,) = deliveries(settings)
    assert (row.status, row.last_status, len(receiver.came)) == ("retrying", 301, 1)


def test_gone_ends_the_delivery_and_fails_the_subscription_which_is_asked_no_more(
    settings: Settings, subscription: WebhookSubscription, receiver: Receiver
) -> None:
    receiver.answers = [410]
    emitted(settings, subscription)
    emitted(settings, subscription, number=2)
    deliver(settings, receiver.egress)
    found = state(settings, subscription)
    assert (found.status, found.failure_reason) == ("failed", "gone")
    tried = len(receiver.came)
    deliver(settings, receiver.egress)
    assert len(receiver.came) == tried


def test_three_days_of_dead_deliveries_fail_the_subscription_and_one_success_forgives(
    settings: Settings, subscription: WebhookSubscription, receiver: Receiver, clock: time_machine.Coordinates
) -> None:
    receiver.answers = [500]
    emitted(settings, subscription)
    until_dead(settings, receiver, clock)
    clock.shift(timedelta(hours=70))
    receiver.answers = [200]
    emitted(settings, subscription)
    deliver(settings, receiver.egress)
    assert state(settings, subscription).dead_since is None
    receiver.answers = [500]
    for status in ("active", "failed"):
        emitted(settings, subscription)
        until_dead(settings, receiver, clock)
        assert state(settings, subscription).status == status
        # waits are spread at random: ten tries alone may take more or less than three days
        clock.shift(timedelta(hours=72))
    assert state(settings, subscription).failure_reason == "unreachable"


def test_what_waits_for_a_paused_subscription_goes_on_with_it(
    settings: Settings, subscription: WebhookSubscription, receiver: Receiver
) -> None:
    emitted(settings, subscription)
    for status, taken in (("paused", 0), ("active", 1)):
        with db.transaction(settings.operational_url) as session:
            session.get_one(WebhookSubscription, subscription.id).status = status
        assert deliver(settings, receiver.egress) == taken


def test_a_sender_that_died_leaves_its_deliveries_to_the_next(
    settings: Settings, subscription: WebhookSubscription, receiver: Receiver, clock: time_machine.Coordinates,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    emitted(settings, subscription)
    with monkeypatch.context() as patched:
        patched.setattr(delivering, "_settle", lambda *_: (_ for _ in ()).throw(SystemExit))
        with pytest.raises(SystemExit):
            deliver(settings, receiver.egress)
    # it arrived, and nobody knows: it is told again, under the same id
    assert deliver(settings, receiver.egress) == 0
    clock.shift(timedelta(minutes=3))
    assert deliver(settings, receiver.egress) == 1
    assert len(receiver.came) == 2 and len(set(receiver.ids())) == 1


def test_one_receivers_many_deliveries_do_not_keep_another_waiting(
    settings: Settings, profile: Profile, subscription: WebhookSubscription, receiver: Receiver
) -> None:
    for number in range(30):
        emitted(settings, subscription, number=number)
    other = subscribed(settings, profile, profile_id=None)
    emitted(settings, subscription)
    deliver(settings, receiver.egress)
    taken = {row.subscription_id for row in deliveries(settings) if row.status == "delivered"}
    assert taken == {subscription.id, other.id}


def test_an_inner_address_is_not_called_though_it_was_public_when_it_was_saved(
    settings: Settings, profile: Profile
) -> None:
    one = subscribed(settings, profile, url="https://127.0.0.1/hook")
    emitted(settings, one)
    assert deliver(settings) == 0
    assert [(row.status, row.last_error) for row in deliveries(settings)] == [("retrying", "address_not_public")]


def test_what_cannot_be_signed_is_not_sent_and_waits_for_the_right_key(
    settings: Settings, subscription: WebhookSubscription, receiver: Receiver
) -> None:
    emitted(settings, subscription)
    other = settings.model_copy(update={"secret_key": SecretStr("another key than when the secret was stored")})
    assert deliver(other, receiver.egress) == 0
    (waiting,) = deliveries(settings)
    assert (waiting.status, waiting.last_error, receiver.came) == ("retrying", "secret_unreadable", [])
    with time_machine.travel(waiting.next_attempt_at or START):
        assert deliver(settings, receiver.egress) == 1


@pytest.mark.parametrize("status", [410, 500, None])
def test_what_an_address_answers_after_it_was_changed_is_not_held_against_the_new_one(
    settings: Settings, subscription: WebhookSubscription, status: int | None
) -> None:
    emitted(settings, subscription)
    attempt = delivering._claimed(settings, deliveries(settings)[0].id)
    assert attempt is not None
    with db.transaction(settings.operational_url) as session:
        session.get_one(WebhookSubscription, subscription.id).url = "https://receiver.example/moved"
    with db.transaction(settings.operational_url) as session:
        delivering._settle(session, attempt, delivering.Outcome(status))
    found, (waiting,) = state(settings, subscription), deliveries(settings)
    assert (found.status, found.consecutive_failures, found.dead_since) == ("active", 0, None)
    assert (waiting.status, waiting.attempts, waiting.last_status) == ("retrying", 0, status)
    assert waiting.next_attempt_at is not None
    assert waiting.next_attempt_at <= db.now()


def test_a_subscription_deleted_while_it_is_told_leaves_nothing_behind(
    settings: Settings, subscription: WebhookSubscription, receiver: Receiver
) -> None:
    emitted(settings, subscription)
    attempt = delivering._claimed(settings, deliveries(settings)[0].id)
    assert attempt is not None
    with db.transaction(settings.operational_url) as session:
        session.execute(sa.delete(WebhookDelivery))
        delivering._settle(session, attempt, delivering.Outcome(200))
    assert deliveries(settings) == []


def test_a_subscription_is_deleted_while_what_it_was_told_is_noted(home: Path, database_url: str) -> None:
    settings = Settings(home=home, database_url=database_url)
    subscription = subscribed(settings, accounts.profile(database_url))
    emitted(settings, subscription)
    attempt = delivering._claimed(settings, deliveries(settings)[0].id)
    assert attempt is not None

    def note() -> None:
        with db.transaction(database_url) as session:
            delivering._settle(session, attempt, delivering.Outcome(200))

    place = subscriptions.Place(subscription.workspace_id, subscription.profile_id)
    with meanwhile(database_url, "FROM webhook_subscriptions", note), db.transaction(database_url) as session:
        subscriptions.delete(session, subscriptions.locked(session, place, subscription.id))
    assert deliveries(settings) == []


def test_what_ended_is_forgotten_after_thirty_days_and_what_waits_is_not(
    settings: Settings, subscription: WebhookSubscription, receiver: Receiver, clock: time_machine.Coordinates
) -> None:
    emitted(settings, subscription)
    deliver(settings, receiver.egress)
    emitted(settings, subscription)
    clock.shift(timedelta(days=31))
    assert forgetting_old()(settings) == 2
    with db.transaction(settings.operational_url) as session:
        assert [row.status for row in deliveries(settings)] == ["pending"]
        assert len(session.scalars(sa.select(WebhookEvent)).all()) == 1
