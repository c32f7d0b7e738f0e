"""Receivers that are slow, silent or talk without end: what they cost the others, and the worker beside them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from api import db
from api.models import Profile, WebhookSubscription
from api.webhooks import delivering, egress
from api.webhooks.delivering import sending
from api.webhooks.egress import Egress, Outcome
from api.webhooks.waiting import OF_ONE
from tests.api.webhooks.conftest import subscribed
from tests.api.webhooks.test_delivering import deliveries, emitted
from tests.factories import accounts
from tests.factories.receivers import Receiver, receiving
from tests.fixtures.waiting import wait_until
from touchledger.settings import Settings

SLOW = "https://slow.example/hook"


@pytest.fixture
def slow() -> Iterator[Receiver]:
    """A receiver that answers nobody until it is told to."""
    with receiving() as listening:
        listening.answering.clear()
        yield listening
        listening.answering.set()


def test_a_slow_receiver_holds_neither_the_round_nor_the_others(
    settings: Settings, profile: Profile, subscription: WebhookSubscription, receiver: Receiver, slow: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(delivering, "PATIENCE", 0.3)
    with db.transaction(settings.operational_url) as session:
        session.get_one(WebhookSubscription, subscription.id).url = SLOW
    for number in range(OF_ONE + 3):
        emitted(settings, subscription, number=number)
    other = subscribed(settings, profile, profile_id=None)
    emitted(settings, subscription)
    deliver = sending(Egress({"https://receiver.example": receiver.url, "https://slow.example": slow.url}))
    taken = 0

    def rounds_until(holds: Callable[[], bool]) -> None:
        nonlocal taken
        while not holds():
            taken += deliver(settings)

    rounds_until(lambda: taken == 1)
    rounds_until(lambda: len(slow.came) == OF_ONE)
    for _ in range(2):
        taken += deliver(settings)
    told = [(row.subscription_id, row.status) for row in deliveries(settings) if row.status == "delivered"]
    assert (taken, told) == (1, [(other.id, "delivered")])
    # no more than two of its own wait at the slow one, however often there is a round
    assert len(slow.came) == OF_ONE
    slow.answering.set()
    rounds_until(lambda: taken == len(deliveries(settings)))
    assert taken == len(receiver.came) + len(slow.came)
    assert {row.status for row in deliveries(settings)} == {"delivered"}


def test_a_workspace_of_many_slow_receivers_does_not_keep_another_waiting(
    settings: Settings, profile: Profile, receiver: Receiver, slow: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivering, "PATIENCE", 0.3)
    monkeypatch.setattr(delivering, "AT_ONCE", 3)
    many = [subscribed(settings, profile, url=f"{SLOW}?{number}") for number in range(3)]
    emitted(settings, many[0])
    elsewhere = accounts.profile(settings.operational_url)
    other = subscribed(settings, elsewhere)
    emitted(settings, other)
    deliver = sending(Egress({"https://receiver.example": receiver.url, "https://slow.example": slow.url}))
    while not deliver(settings):
        assert len(slow.came) < 3, "they kept it waiting"
    assert len(receiver.came) == 1
    # what is free is everybody's
    deliver(settings)
    wait_until(lambda: len(slow.came) == 3)
    slow.answering.set()
    while {row.status for row in deliveries(settings)} != {"delivered"}:
        deliver(settings)


def test_a_receiver_that_never_answers_is_given_up(slow: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(egress, "WHOLE_SECONDS", 0.1)
    assert slow.egress.post("https://receiver.example/hook", b"{}", {}) == Outcome(error="timeout")
    assert not slow.answering.is_set()


def test_a_receiver_has_all_the_time_that_it_is_promised(slow: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    # it had ten seconds of the fifteen: the rest was kept for a connection that had long been made
    monkeypatch.setattr(egress, "WHOLE_SECONDS", 60.0)
    monkeypatch.setattr(egress, "CONNECT_SECONDS", 59.9)
    threading.Timer(0.3, slow.answering.set).start()
    assert slow.egress.post("https://receiver.example/hook", b"{}", {}) == Outcome(200)


def test_an_answer_without_end_is_taken_by_its_status(receiver: Receiver) -> None:
    # read to its end, it would be the test that has none
    receiver.is_endless = True
    assert receiver.egress.post("https://receiver.example/hook", b"{}", {}) == Outcome(200)
