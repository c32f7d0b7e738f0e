"""An event's key is its own for ever: repetitions, other content, and taking an event back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest
import sqlalchemy as sa

from api import db
from api.goals import BUILT_IN
from api.models import AuditEntry, IdempotencyRecord, Run
from api.v1.events import ledger
from api.v1.events.records import Sent, sent
from api.v1.events.schemas import EventBody
from orchestration.ingested import land_ingested
from orchestration.lake import Lake
from tests.api.v1.events.conftest import PAYMENT, Sender
from tests.factories import accounts
from touchledger.settings import Settings

Landing = Callable[..., list[dict[str, Any]]]
LEAD: dict[str, Any] = {"event_name": "lead_created", "timestamp": "2026-03-05T10:00:00Z", "anonymous_id": "a1"}


def test_the_same_event_again_is_a_duplicate_with_the_same_ids(sender: Sender, landing: Landing) -> None:
    first = sender.accepted(PAYMENT)
    again = sender.accepted(PAYMENT)
    assert again == {**first, "status": "duplicate"}
    assert len(landing()) == 1


def test_equal_content_in_other_words_is_the_same_event(sender: Sender) -> None:
    sender.accepted(PAYMENT)
    other_words = {
        **PAYMENT,
        "timestamp": "2026-03-05T15:02:11+01:00",
        "user_traits": {"email": " ann@example.com "},
        "properties": {**PAYMENT["properties"], "value": "120.50"},
    }
    assert sender.accepted(other_words)["status"] == "duplicate"


@pytest.mark.parametrize(
    "change",
    [
        {"event_name": "lead_created"},
        {"timestamp": "2026-03-05T14:02:12Z"},
        {"session_id": "s2"},
        {"properties": {**PAYMENT["properties"], "value": 120.51}},
        {"properties": {**PAYMENT["properties"], "note": "x"}},
        {"ad": {"ad_id": "1"}},
    ],
    ids=str,
)
def test_other_content_under_the_same_key_is_a_conflict(
    sender: Sender, landing: Landing, change: dict[str, Any]
) -> None:
    sender.accepted(PAYMENT)
    assert sender.refused({**PAYMENT, **change})[:2] == (409, "idempotency_key_conflict")
    assert len(landing()) == 1


def test_an_event_without_a_time_is_the_same_when_sent_again_later(sender: Sender, landing: Landing) -> None:
    body = {"event_name": "lead_created", "idempotency_key": "l1", "anonymous_id": "a1"}
    sender.accepted(body)
    assert sender.accepted(body)["status"] == "duplicate"
    assert len(landing()) == 1


def test_the_header_is_the_key_when_the_body_has_none(sender: Sender, settings: Settings) -> None:
    header = {"Idempotency-Key": "from-header"}
    first = sender.accepted(LEAD, **header)
    assert first["idempotency_key"] == "from-header"
    replay = sender.send(json=LEAD, headers=header)
    assert (replay.headers["Idempotent-Replayed"], replay.get_json()["data"]) == ("true", first)
    with db.transaction(settings.operational_url) as session:
        session.execute(sa.delete(IdempotencyRecord))
    # the header is forgotten after a day, the event never is
    assert sender.accepted(LEAD, **header) == {**first, "status": "duplicate"}
    assert sender.accepted({**LEAD, "idempotency_key": "from-header"})["status"] == "duplicate"


def test_two_keys_that_differ_are_refused(sender: Sender, landing: Landing) -> None:
    status, code, message = sender.refused(PAYMENT, **{"Idempotency-Key": "another"})
    assert (status, code) == (422, "validation_error")
    assert message.startswith("idempotency_key")
    assert landing() == []
    assert sender.accepted(PAYMENT, **{"Idempotency-Key": PAYMENT["idempotency_key"]})["status"] == "accepted"


def test_events_without_a_key_are_never_the_same(sender: Sender, landing: Landing) -> None:
    first, second = sender.accepted(LEAD), sender.accepted(LEAD)
    assert first["event_id"] != second["event_id"]
    assert first["idempotency_key"] is None
    assert len({record["conversion_key"] for record in landing()}) == 2


def test_an_event_without_a_key_is_taken_back_by_the_one_it_was_given(sender: Sender, landing: Landing) -> None:
    sent = sender.accepted(LEAD)
    (record,) = landing()
    told = sender.retract(record["conversion_key"]).get_json()["data"]
    assert (told["event_id"], told["status"]) == (sent["event_id"], "retracted")


def test_a_key_of_one_profile_is_free_in_another(sender: Sender, stranger: Sender) -> None:
    ours, theirs = sender.accepted(PAYMENT), stranger.accepted(PAYMENT)
    assert theirs["status"] == "accepted"
    assert theirs["event_id"] != ours["event_id"]


def _payment() -> Sent:
    parsed: Sent = EventBody(known=BUILT_IN).load({**PAYMENT, "event_name": "lead_created"})["sent"]
    return parsed


def test_fifty_at_once_with_one_key_are_one_event(database_url: str) -> None:
    profile, outcomes, event = accounts.profile(database_url), [], _payment()

    def send() -> None:
        with db.unit(database_url) as session:
            outcomes.append(ledger.keep(session, profile.id, "same", event)[1])

    threads = [threading.Thread(target=send) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [False] * 49 + [True]


def test_an_event_is_taken_back_once(sender: Sender, landing: Landing, settings: Settings) -> None:
    event_id = sender.accepted(PAYMENT)["event_id"]
    first = sender.retract("order-1-paid")
    assert first.status_code == 200
    told = first.get_json()["data"]
    assert told == {
        "idempotency_key": "order-1-paid",
        "event_id": event_id,
        "status": "retracted",
        "retracted_at": told["retracted_at"],
    }
    assert sender.retract("order-1-paid").get_json()["data"] == {**told, "status": "already_retracted"}
    sent_first, withdrawn = landing()
    assert (sent_first["conversion_key"], "_deleted" in sent_first) == ("order-1-paid", False)
    assert (withdrawn["conversion_key"], withdrawn["_deleted"]) == ("order-1-paid", True)
    with db.transaction(settings.operational_url) as session:
        assert [row.action for row in session.scalars(sa.select(AuditEntry))] == ["event.retracted"]


def test_a_key_that_was_taken_back_stays_taken(sender: Sender, landing: Landing) -> None:
    sender.accepted(PAYMENT)
    sender.retract("order-1-paid")
    again = sender.accepted(PAYMENT)
    assert (again["status"], again["visible"]) == ("duplicate", "never")
    assert len(landing()) == 2


@pytest.mark.parametrize(
    "key", ["shop/1001?paid=ä", "/1001", "//a//b/", "/", "a%2Fb#c", "x/journey", "..", "a b+c", "first\nsecond"]
)
def test_a_key_with_slashes_and_marks_can_be_taken_back(sender: Sender, key: str) -> None:
    sender.accepted({**PAYMENT, "idempotency_key": key})
    assert sender.retract(quote(key, safe="")).get_json()["data"]["status"] == "retracted"


@pytest.mark.parametrize(
    ("given", "path"),
    [("cafe\u0301", "cafe%CC%81"), (" order 1 ", "%20order%201%20")],
)
def test_a_key_is_taken_back_in_the_words_it_was_sent_in(sender: Sender, given: str, path: str) -> None:
    kept = sender.accepted({**PAYMENT, "idempotency_key": given})
    told = sender.retract(path).get_json()["data"]
    assert (told["event_id"], told["idempotency_key"]) == (kept["event_id"], kept["idempotency_key"])


def test_a_key_that_could_not_be_sent_is_unknown(sender: Sender) -> None:
    response = sender.retract("a%00b")
    assert (response.status_code, response.get_json()["error"]["code"]) == (404, "event_not_found")


def test_what_was_never_sent_here_cannot_be_taken_back(sender: Sender, stranger: Sender) -> None:
    sender.accepted(PAYMENT)
    for response in (sender.retract("unknown"), stranger.retract("order-1-paid")):
        assert (response.status_code, response.get_json()["error"]["code"]) == (404, "event_not_found")


def test_the_lead_of_a_conversation_stays(sender: Sender, landing: Landing) -> None:
    lead = {**LEAD, "conversation_id": "conv-1"}
    sender.accepted({**lead, "idempotency_key": "first"})
    sender.accepted({**lead, "idempotency_key": "second"})
    refused = sender.retract("first")
    assert (refused.status_code, refused.get_json()["error"]["code"]) == (409, "event_linked_to_conversation")
    assert sender.retract("second").get_json()["data"]["status"] == "retracted"
    assert len(landing()) == 3


def test_a_test_event_is_taken_back_without_a_trace(sender: Sender, landing: Landing) -> None:
    sender.accepted({**PAYMENT, "properties": {**PAYMENT["properties"], "is_test": True}})
    assert sender.retract("order-1-paid").get_json()["data"]["status"] == "retracted"
    assert landing() == []


def test_the_answer_says_when_the_event_will_be_seen(sender: Sender, settings: Settings) -> None:
    def published(took: timedelta) -> None:
        at = db.now()
        with db.transaction(settings.operational_url) as session:
            session.add(Run(started_at=at - took, published_at=at, snapshot_id=db.new_id()))

    published(timedelta(seconds=40))
    asked = db.now()
    answer = sender.accepted(PAYMENT)
    due = datetime.fromisoformat(answer["visible_by"])
    assert answer["visible"] == "next_snapshot"
    assert asked + timedelta(seconds=98) < due <= db.now() + timedelta(seconds=102)
    published(timedelta(0))
    assert sender.accepted(PAYMENT)["visible"] == "next_snapshot", "that run took up nothing that was sent"
    lake = Lake(settings.lake)
    lake.prepare()
    assert len(land_ingested(settings.operational_url, lake)) == 1
    assert sender.accepted(PAYMENT)["visible"] == "next_snapshot", "taken up, and not yet published"
    published(timedelta(0))
    again = sender.accepted(PAYMENT)
    assert (again["visible"], again["visible_by"]) == ("published", None)


def test_a_body_without_a_time_does_not_hash_its_arrival() -> None:
    body = EventBody(known=BUILT_IN).load({"event_name": "lead_created", "anonymous_id": "a"})
    assert sent(body, db.now()).fingerprint == sent(body, db.now() + timedelta(days=-1)).fingerprint
