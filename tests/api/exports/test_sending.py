"""What is queued reaches the sandbox's pixel once, and every failure is retried, given up or told by the rules."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
import time_machine
from structlog.testing import capture_logs

from api import db
from api.exports import catalog, destinations, sending
from api.models import AuditEntry, Connection, ExportDestination, ExportRow, Profile, WebhookEvent
from api.v1.customers import erasing
from tests.api.exports.conftest import HASH, Exporting
from tests.api.webhooks.conftest import subscribed
from tests.factories import accounts, connected, exports

DOWN = {"route": "/events$", "kind": "status", "status": 503, "times": None}


def queue(exporting: Exporting, *names: str, **more: Any) -> None:
    exporting.publish(*(exporting.conversion(name, **more) for name in names))
    assert exporting.match() == len(names)


def row(exporting: Exporting, name: str = "one") -> ExportRow:
    return next(one for one in exporting.rows() if one.conversion_id == exporting.id_of(name))


def test_a_queued_payment_is_reported_with_its_value_and_hashes(exporting: Exporting) -> None:
    queue(exporting, "one")
    exporting.change(ExportRow, row(exporting).id, attempts=len(sending.WAITS))
    assert exporting.send() == 1
    (event,) = exporting.sandbox.pixel()["events"]
    assert (event["event_name"], event["event_id"]) == ("Purchase", exporting.id_of("one"))
    assert event["custom_data"] == {"value": 12.5, "currency": "EUR"}
    assert event["user_data"] == {"em": [HASH]}
    assert (row(exporting).status, row(exporting).attempts) == ("sent", 6), "its last try is one too"
    assert (exporting.health().last_sent_at is not None, exporting.send()) == (True, 0)


def test_where_health_is_concerned_neither_value_nor_own_id_leaves(exporting: Exporting) -> None:
    exporting.change(Profile, exporting.profile.id, privacy_mode="platform_safe")
    exporting.publish(exporting.conversion("one"), external_id_sha256="c" * 64)
    assert (exporting.match(), exporting.send()) == (1, 1)
    (event,) = exporting.sandbox.pixel()["events"]
    assert "custom_data" not in event
    assert event["user_data"] == {"em": [HASH]}


def test_no_address_and_no_number_stands_in_the_operational_database(exporting: Exporting) -> None:
    queue(exporting, "one")
    exporting.send()
    kept = json.dumps([[str(value) for value in vars(one).values()] for one in exporting.rows()])
    assert HASH not in kept and "@" not in kept


@pytest.mark.parametrize("code", ["2", "-1"])
def test_a_platform_that_is_down_is_asked_again_after_longer_and_longer_waits(exporting: Exporting, code: str) -> None:
    queue(exporting, "one")
    exporting.sandbox.plan({**DOWN, "code": code})
    at, waits = db.now(), []
    for _ in range(len(sending.WAITS) + 1):
        with time_machine.travel(at, tick=False):
            assert exporting.send() == 1
            found = row(exporting)
            if found.next_attempt_at:
                waits.append((found.next_attempt_at - at).total_seconds())
                at = found.next_attempt_at
    assert all(0.8 * planned <= waited <= 1.2 * planned for waited, planned in zip(waits, sending.WAITS, strict=True))
    assert (row(exporting).status, row(exporting).reason, row(exporting).attempts) == ("failed", "transient", 6)


def test_a_wait_that_the_platform_asks_for_is_kept(exporting: Exporting) -> None:
    queue(exporting, "one")
    exporting.sandbox.plan({"route": "/events$", "kind": "throttled", "wait": 7200})
    exporting.send()
    found = row(exporting)
    assert found.status == "queued" and found.reason == "throttled"
    assert found.next_attempt_at is not None and found.next_attempt_at > db.now() + timedelta(minutes=110)


def test_one_event_that_is_refused_does_not_hold_up_the_others(exporting: Exporting) -> None:
    exporting.publish(
        *(exporting.conversion(name) for name in ("one", "two", "three")),
        exporting.conversion("bad", person_key=2),
    )
    exporting.match()
    bad = row(exporting, "bad")
    exporting.publish(*(exporting.conversion(name) for name in ("one", "two", "three", "bad")))
    exporting.change(ExportRow, bad.id, status="queued", reason=None, next_attempt_at=db.now())
    exporting.sandbox.plan(
        {"route": "/events$", "containing": exporting.id_of("bad"), "kind": "code", "code": "100", "times": None}
    )
    assert exporting.send() == 4
    assert exporting.ledger()[exporting.id_of("bad")] == ("failed", "bad_parameter")
    assert sorted(status for status, _ in exporting.ledger().values()) == ["failed", "sent", "sent", "sent"]


def test_what_the_platform_took_stays_sent_when_it_fails_on_the_rest(exporting: Exporting) -> None:
    names = {"one": 4, "two": 3, "three": 2, "bad": 1}
    exporting.publish(*(exporting.conversion(name, hours_ago=hours) for name, hours in names.items()))
    exporting.match()
    bad = {"route": "/events$", "containing": exporting.id_of("bad")}
    exporting.sandbox.plan({**bad, "kind": "code", "code": "100"}, {**bad, **DOWN, "times": None})
    assert exporting.send() == 4
    assert {name: exporting.ledger()[exporting.id_of(name)] for name in names} == {
        "one": ("sent", None),
        "two": ("sent", None),
        "three": ("queued", "transient"),
        "bad": ("queued", "transient"),
    }


def test_a_payment_that_became_known_by_another_name_goes_though_its_first_row_never_went(
    exporting: Exporting,
) -> None:
    event = db.new_id()
    queue(exporting, "order", outcome_event_id=event)
    queue(exporting, "payment", outcome_event_id=event)
    exporting.send()
    assert exporting.ledger() == {
        exporting.id_of("order"): ("skipped", "retracted"),
        exporting.id_of("payment"): ("sent", None),
    }
    assert exporting.sandbox.pixel()["received"] == 1


def test_whoever_was_erased_goes_nowhere_though_the_snapshot_still_knows_them(exporting: Exporting) -> None:
    queue(exporting, "one")
    with db.transaction(exporting.url) as session:
        ids = frozenset({exporting.identifier})
        erasing.erase(
            session, exporting.settings, profile_id=exporting.profile.id, ids=ids, reason="other", reference=None
        )
    exporting.send()
    assert exporting.ledger() == {exporting.id_of("one"): ("skipped", "retracted")}
    assert exporting.sandbox.calls() == 0


def test_a_dead_token_blocks_and_a_new_one_sends_what_waited(exporting: Exporting) -> None:
    queue(exporting, "one")
    exporting.sandbox.plan({"route": "/events$", "kind": "revoked"})
    exporting.send()
    found = row(exporting)
    assert (found.status, found.attempts) == ("queued", 0)
    with db.transaction(exporting.url) as session:
        via = session.get_one(Connection, exporting.connection.id)
    assert destinations.state(exporting.health(), via) == ("blocked", "reconnect_required")
    assert exporting.send() == 0
    exporting.change(Connection, exporting.connection.id, status="active", token=exporting.connection.token)
    assert exporting.send() == 1
    assert row(exporting).status == "sent"


def test_a_missing_permission_fails_the_rows_and_marks_the_connection(exporting: Exporting) -> None:
    queue(exporting, "one", "two")
    exporting.sandbox.plan({"route": "/events$", "kind": "code", "code": "200", "times": None})
    exporting.send()
    assert set(exporting.ledger().values()) == {("failed", "permission_missing")}
    assert exporting.sandbox.calls("/events") == 1
    with db.transaction(exporting.url) as session:
        assert session.get_one(Connection, exporting.connection.id).status == "needs_action"


def test_who_died_while_sending_sends_again_and_the_platform_counts_once(exporting: Exporting) -> None:
    queue(exporting, "one")
    exporting.send()
    exporting.change(ExportRow, row(exporting).id, status="queued", sent_at=None, next_attempt_at=db.now())
    exporting.send()
    state = exporting.sandbox.pixel()
    assert (state["received"], state["duplicates"], row(exporting).status) == (1, 1, "sent")


def test_rows_taken_for_a_request_are_not_taken_again_meanwhile(exporting: Exporting) -> None:
    queue(exporting, "one")
    assert sending._claim(exporting.settings, exporting.destination.id) is not None
    assert exporting.send() == 0
    with time_machine.travel(db.now() + sending.LEASE + timedelta(seconds=1), tick=False):
        assert exporting.send() == 1


def test_what_waits_is_judged_again_before_it_goes(exporting: Exporting) -> None:
    exporting.publish(
        exporting.conversion("listed"),
        exporting.conversion("unlisted", conversion_type="closed_won"),
        exporting.conversion("old"),
        exporting.conversion("gone"),
    )
    exporting.match()
    exporting.change(Profile, exporting.profile.id, privacy_mode="platform_safe")
    exporting.publish(
        exporting.conversion("listed"),
        exporting.conversion("unlisted", conversion_type="closed_won"),
        exporting.conversion("old", hours_ago=24 * 8),
    )
    exporting.send()
    assert exporting.ledger() == {
        exporting.id_of("listed"): ("sent", None),
        exporting.id_of("unlisted"): ("skipped", "healthcare_allowlist_blocked"),
        exporting.id_of("old"): ("skipped", "too_old"),
        exporting.id_of("gone"): ("skipped", "retracted"),
    }


def test_a_type_that_is_taken_out_of_the_open_list_no_longer_goes(exporting: Exporting) -> None:
    queue(exporting, "one")
    with db.transaction(exporting.url) as session:
        catalog.put(session, exporting.profile, "standard", [])
    exporting.send()
    assert set(exporting.ledger().values()) == {("skipped", "destination_disabled")}


def test_a_type_that_is_taken_out_of_the_destination_no_longer_goes_even_when_it_is_tried_again(
    exporting: Exporting,
) -> None:
    queue(exporting, "one")
    exporting.sandbox.plan({**DOWN, "times": 1})
    exporting.send()
    exporting.change(ExportDestination, exporting.destination.id, conversion_types=["lead_created"])
    with time_machine.travel(db.now() + timedelta(minutes=3), tick=False):
        exporting.match()
        assert exporting.send() == 1
    assert set(exporting.ledger().values()) == {("skipped", "destination_disabled")}
    assert exporting.sandbox.pixel()["received"] == 0


def test_five_failures_in_a_row_are_failing_one_sent_is_well_and_a_day_of_it_is_the_end(exporting: Exporting) -> None:
    names = [str(number) for number in range(5)]
    queue(exporting, *names)
    exporting.sandbox.plan({"route": "/events$", "kind": "code", "code": "100", "subcode": 33, "times": None})
    exporting.send()
    assert (exporting.health().consecutive_failures, exporting.health().failing_reason) == (5, "not_found")
    assert sending.give_up(exporting.settings) == 0
    exporting.sandbox.plan()
    exporting.publish(*(exporting.conversion(name) for name in [*names, "well"]))
    exporting.match()
    exporting.send()
    assert (exporting.health().consecutive_failures, exporting.health().failing_since) == (0, None)
    exporting.change(ExportDestination, exporting.destination.id, failing_since=db.now() - timedelta(hours=25))
    waiting = exports.row(exporting.url, exporting.destination)
    assert [sending.give_up(exporting.settings) for _ in range(2)] == [1, 0]
    assert (exporting.health().is_enabled, exporting.health().disabled_reason) == (False, "failing_24h")
    assert exporting.ledger()[waiting.conversion_id] == ("skipped", "destination_disabled")
    with db.transaction(exporting.url) as session:
        entry = session.scalars(sa.select(AuditEntry)).one()
        assert (entry.actor_kind, entry.action) == ("system", "export_destination.given_up")


def test_nothing_is_sent_before_a_snapshot_is_published(exporting: Exporting) -> None:
    exports.row(exporting.url, exporting.destination)
    assert exporting.send() == 0
    (waiting,) = exporting.rows()
    assert (waiting.status, waiting.attempts) == ("queued", 0)
    assert waiting.next_attempt_at is not None and waiting.next_attempt_at <= db.now()


@pytest.mark.parametrize("send_value", [True, False])
def test_the_destination_decides_whether_values_go_with_it(exporting: Exporting, send_value: bool) -> None:
    exporting.change(ExportDestination, exporting.destination.id, send_value=send_value)
    queue(exporting, "one")
    exporting.send()
    (event,) = exporting.sandbox.pixel()["events"]
    assert ("custom_data" in event) is send_value


def test_a_profile_whose_figures_cannot_be_read_holds_up_no_other(exporting: Exporting, profile: Profile) -> None:
    other = accounts.profile(exporting.url, name="Other")
    via = connected.to_meta(exporting.url, other, exporting.sandbox.url)
    # the other's comes first in every order
    first = exports.destination(exporting.url, other, via, id="00000000-0000-7000-8000-000000000001")
    exporting.beside = [other]
    unreadable = {"profile_key": 2, "conversion_id": db.new_id(), "ts": 10**15}
    waiting = exports.row(exporting.url, first, conversion_id=unreadable["conversion_id"])
    exporting.publish(exporting.conversion("one"), exporting.conversion("two", **unreadable))
    with capture_logs() as told:
        assert (exporting.match(), exporting.send()) == (1, 1)
    failed = [(one["chore"], one["of"]) for one in told if one["event"] == "chore_failed"]
    assert failed == [("match_conversions", first.id), ("send_conversions", first.id)]
    assert exporting.ledger() == {waiting.conversion_id: ("queued", None), exporting.id_of("one"): ("sent", None)}


def test_subscribers_learn_of_what_was_sent_and_what_was_skipped_as_batches(exporting: Exporting) -> None:
    subscribed(exporting.settings, exporting.profile)
    sales = [exporting.conversion("one"), exporting.conversion("two"), exporting.conversion("nobody", person_key=2)]
    exporting.publish(*sales)
    exporting.match()
    exporting.match()
    exporting.send()
    with db.transaction(exporting.url) as session:
        events = list(session.scalars(sa.select(WebhookEvent).order_by(WebhookEvent.id)))
    assert [(event.type, event.data["count"], event.data.get("reasons")) for event in events] == [
        ("conversion_export.skipped", 1, {"no_identifiers": 1}),
        ("conversion_export.sent", 2, None),
    ]
    assert {event.data["destination_id"] for event in events} == {exporting.destination.id}
