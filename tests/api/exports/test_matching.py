"""A conversion of a new snapshot gets one row per destination for ever: queued, or skipped with the first reason."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from api import agreements, db, dpa
from api.exports import catalog, gates
from api.exports.candidates import Candidate
from api.models import (
    AgreementSignature,
    DpaAcceptance,
    Event,
    ExportDestination,
    ExportRow,
    Profile,
    WebhookEvent,
    Workspace,
)
from tests.api.exports.conftest import Exporting
from tests.api.webhooks.conftest import subscribed
from tests.factories import accounts, exports, people

QUEUED = ("queued", None)


def skipped(reason: str) -> tuple[str, str]:
    assert reason in gates.SKIP_REASONS
    return "skipped", reason


def event(exporting: Exporting, **columns: Any) -> Event:
    with db.transaction(exporting.url) as session:
        made = Event(**{"id": db.new_id(), "profile_id": exporting.profile.id, "fingerprint": "f", **columns})
        made.conversion_type = "payment_received"
        session.add(made)
    return made


def test_a_conversion_gets_one_row_however_often_it_is_published(exporting: Exporting) -> None:
    sale = exporting.conversion("one")
    exporting.publish(sale)
    assert (exporting.match(), exporting.match()) == (1, 0)
    exporting.publish(sale, exporting.conversion("two"))
    assert exporting.match() == 1
    assert exporting.ledger() == {exporting.id_of("one"): QUEUED, exporting.id_of("two"): QUEUED}


def test_what_is_known_by_a_shared_inbox_alone_goes_under_nobodys_hashes(exporting: Exporting) -> None:
    assert exporting.outcome(exporting.conversion("one", is_shared=True)) == skipped("no_identifiers")


def test_what_a_file_tells_ahead_waits_until_it_has_happened(exporting: Exporting) -> None:
    ahead = exporting.conversion("ahead", hours_ago=-2)
    exporting.publish(ahead)
    assert (exporting.match(), exporting.send()) == (1, 0)
    (row,) = exporting.rows()
    assert row.next_attempt_at is not None and row.next_attempt_at.timestamp() == ahead["ts"]
    assert exporting.ledger() == {exporting.id_of("ahead"): QUEUED}


def test_what_no_rule_asks_for_has_no_row(exporting: Exporting) -> None:
    exporting.change(ExportDestination, exporting.destination.id, conversion_types=["lead_created"])
    event(exporting, is_test=True)
    exporting.publish(exporting.conversion("one"))
    assert exporting.match() == 0
    off = [{"type": "payment_received", "enabled": False, "send_value": False}]
    with db.transaction(exporting.url) as session:
        catalog.put(session, exporting.profile, "standard", off)
    exporting.publish(exporting.conversion("two", conversion_type="lead_created"))
    assert exporting.match() == 0


def test_what_happened_long_before_the_destination_has_no_row(exporting: Exporting) -> None:
    exporting.change(ExportDestination, exporting.destination.id, created_at=db.now())
    exporting.publish(exporting.conversion("old", hours_ago=24 * 8), exporting.conversion("new", hours_ago=24 * 6))
    exporting.match()
    assert exporting.ledger() == {exporting.id_of("new"): QUEUED}


def test_what_comes_too_late_for_the_platform_is_skipped(exporting: Exporting) -> None:
    assert exporting.outcome(exporting.conversion("late", hours_ago=24 * 7 + 1)) == skipped("too_old")


def test_nobody_and_who_refuses_marketing_are_skipped(exporting: Exporting) -> None:
    exporting.publish(exporting.conversion("nobody", person_key=2), exporting.conversion("refused"), is_refused=True)
    exporting.match()
    assert exporting.ledger() == {
        exporting.id_of("nobody"): skipped("no_identifiers"),
        exporting.id_of("refused"): skipped("consent_denied"),
    }


def test_a_payment_taken_back_in_full_is_worth_nothing_to_report(exporting: Exporting) -> None:
    lead = {"conversion_type": "lead_created", "is_cash": False, "cash_minor": None, "pipeline_minor": 0}
    exporting.publish(exporting.conversion("back", cash_minor=0), exporting.conversion("lead", **lead))
    exporting.match()
    assert exporting.ledger() == {exporting.id_of("back"): skipped("zero_value"), exporting.id_of("lead"): QUEUED}


def test_an_event_that_was_taken_back_after_the_snapshot_is_skipped(exporting: Exporting) -> None:
    gone = event(exporting, retracted_at=db.now())
    assert exporting.outcome(exporting.conversion("gone", outcome_event_id=gone.id)) == skipped("retracted")


def test_a_test_event_is_seen_and_stays_here(exporting: Exporting) -> None:
    event(exporting, is_test=True, profile_id=accounts.profile(exporting.url).id)
    seen = event(exporting, is_test=True)
    assert exporting.outcome() == skipped("test_event")
    assert [one.event_id for one in exporting.rows()] == [seen.id]


def test_the_second_way_to_the_same_pixel_is_a_duplicate(exporting: Exporting) -> None:
    other = exports.connection(exporting.url, exporting.profile)
    second = exports.destination(exporting.url, exporting.profile, other, target=exporting.destination.target)
    exporting.publish(exporting.conversion("one"))
    assert exporting.match() == 2
    found = {row.destination_id: (row.status, row.reason) for row in exporting.rows()}
    assert found == {exporting.destination.id: QUEUED, second.id: skipped("duplicate")}
    # what never went the first way is none
    exporting.change(ExportRow, exporting.rows()[0].id, status="failed", reason="rejected")
    third = exports.connection(exporting.url, exporting.profile)
    exports.destination(exporting.url, exporting.profile, third, target=exporting.destination.target)
    exporting.match()
    assert [row.status for row in exporting.rows()] == ["failed", "skipped", "queued"]


def test_what_was_sent_stays_where_it_went_when_its_destination_is_moved(exporting: Exporting) -> None:
    first, there = exporting.destination, exporting.destination.target
    exporting.publish(exporting.conversion("one"))
    exporting.match()
    exporting.send()
    elsewhere = exports.destination(exporting.url, exporting.profile, target="7")
    exporting.change(ExportDestination, elsewhere.id, connection_id=exporting.connection.id)
    exporting.change(ExportDestination, first.id, target="7", connection_id=elsewhere.connection_id)
    back = exports.destination(exporting.url, exporting.profile, exporting.connection, target=there)
    assert exporting.match() == 2
    found = {row.destination_id: (row.status, row.reason) for row in exporting.rows()}
    assert found == {first.id: ("sent", None), elsewhere.id: QUEUED, back.id: skipped("duplicate")}


def test_a_destination_that_is_moved_sends_nothing_again_under_another_name(exporting: Exporting) -> None:
    exporting.publish(exporting.conversion("store:5", source="store"))
    exporting.match()
    exporting.send()
    exporting.change(ExportDestination, exporting.destination.id, target="7", updated_at=db.now())
    exporting.publish(exporting.conversion("pp:1"), other_names={"store:5": "pp:1"})
    exporting.match()
    assert exporting.ledger()[exporting.id_of("pp:1")] == skipped("duplicate")


def test_an_event_told_under_another_conversion_is_a_duplicate(exporting: Exporting) -> None:
    paid = event(exporting)
    exporting.publish(exporting.conversion("order", outcome_event_id=paid.id))
    exporting.match()
    exporting.send()
    exporting.publish(exporting.conversion("payment", outcome_event_id=paid.id))
    exporting.match()
    assert exporting.ledger()[exporting.id_of("payment")] == skipped("duplicate")


def test_a_sale_told_under_its_order_is_a_duplicate_once_its_payment_is_known(exporting: Exporting) -> None:
    exporting.publish(exporting.conversion("store:5", source="store"))
    exporting.match()
    exporting.send()
    others = {"order:#5": "pp:1", "store:5": "pp:1", "store:6": "pp:2"}
    exporting.publish(exporting.conversion("pp:1"), exporting.conversion("pp:2"), other_names=others)
    exporting.match()
    assert exporting.ledger() == {
        exporting.id_of("store:5"): ("sent", None),
        exporting.id_of("pp:1"): skipped("duplicate"),
        exporting.id_of("pp:2"): QUEUED,
    }


def test_a_sale_that_was_not_sent_under_its_order_goes_under_its_payment(exporting: Exporting) -> None:
    exporting.publish(exporting.conversion("store:5", source="store"))
    exporting.match()
    exporting.publish(exporting.conversion("pp:1"), other_names={"store:5": "pp:1"})
    exporting.match()
    exporting.send()
    assert exporting.ledger() == {
        exporting.id_of("store:5"): skipped("retracted"),
        exporting.id_of("pp:1"): ("sent", None),
    }


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("never", skipped("legal_compliance_missing")),
        ("accepted", QUEUED),
        ("withdrawn", skipped("legal_gate_blocked")),
    ],
)
def test_a_provisioned_profile_waits_for_its_apps_agreement(
    exporting: Exporting, state: str, expected: tuple[str, str | None]
) -> None:
    app = people.app(exporting.url).app
    exporting.change(Profile, exporting.profile.id, provisioned_by_app_id=app.id)
    if state != "never":
        with db.transaction(exporting.url) as session:
            signed = DpaAcceptance(app_id=app.id, version=dpa.VERSION, text_hash=dpa.TEXT_HASH, signatory_name="Ada")
            signed.signatory_title, signed.accepted_by_kind, signed.accepted_by_id = "Owner", "session", "x"
            signed.withdrawn_at = db.now() if state == "withdrawn" else None
            session.add(signed)
    assert exporting.outcome(exporting.conversion("one")) == expected


def test_hipaa_sends_nothing_without_the_current_agreement(exporting: Exporting) -> None:
    exporting.change(Profile, exporting.profile.id, privacy_mode="hipaa")
    exporting.publish(exporting.conversion("unsigned"))
    exporting.match()
    with db.transaction(exporting.url) as session:
        signed = AgreementSignature(profile_id=exporting.profile.id, version=agreements.VERSION)
        signed.text_hash, signed.signatory_name, signed.signatory_title = agreements.text_hash(), "Ada", "Owner"
        signed.signed_by_kind, signed.signed_by_id = "session", "x"
        session.add(signed)
    exporting.publish(exporting.conversion("signed"))
    exporting.match()
    assert exporting.ledger() == {
        exporting.id_of("unsigned"): skipped("hipaa_baa_unsigned"),
        exporting.id_of("signed"): QUEUED,
    }


def test_where_health_is_concerned_only_listed_types_and_no_stages_of_a_practice_leave(exporting: Exporting) -> None:
    exporting.change(Workspace, exporting.profile.workspace_id, is_healthcare_agency=True)
    exporting.publish(
        exporting.conversion("listed"),
        exporting.conversion("unlisted", conversion_type="appointment_attended"),
        exporting.conversion("stage", conversion_type="lead_created", source="crm"),
    )
    exporting.match()
    assert exporting.ledger() == {
        exporting.id_of("listed"): QUEUED,
        exporting.id_of("unlisted"): skipped("healthcare_allowlist_blocked"),
        exporting.id_of("stage"): skipped("healthcare_stage_transition_blocked"),
    }


def test_the_businesss_own_id_alone_finds_nobody_where_health_is_concerned(exporting: Exporting) -> None:
    exporting.change(Profile, exporting.profile.id, privacy_mode="platform_safe")
    alone = {"email_sha256": None, "external_id_sha256": "c" * 64}
    assert exporting.outcome(exporting.conversion("one"), **alone) == skipped("no_identifiers")


def test_a_type_that_no_goal_knows_is_told_where_health_is_concerned(exporting: Exporting) -> None:
    # no snapshot holds such a type yet; goals of people's own will bring them
    exporting.change(Profile, exporting.profile.id, privacy_mode="platform_safe")
    with db.transaction(exporting.url) as session:
        judged = gates.situation(session, session.get_one(Profile, exporting.profile.id), db.now())
    assert gates.skip_reason(judged, Candidate("c", None, "check_up", db.now())) == "healthcare_missing_conversion_key"


def test_a_destination_that_is_off_matches_nothing_and_catches_up_when_it_is_on(exporting: Exporting) -> None:
    exporting.change(ExportDestination, exporting.destination.id, is_enabled=False)
    exporting.publish(exporting.conversion("one"))
    assert exporting.match() == 0
    exporting.change(ExportDestination, exporting.destination.id, is_enabled=True, updated_at=db.now())
    assert exporting.match() == 1


def test_what_is_skipped_at_once_is_told_once_for_the_batch(exporting: Exporting) -> None:
    subscribed(exporting.settings, exporting.profile)
    exporting.publish(
        exporting.conversion("late", hours_ago=24 * 8),
        exporting.conversion("worthless", cash_minor=0),
        exporting.conversion("good"),
    )
    exporting.match()
    with db.transaction(exporting.url) as session:
        (event,) = session.scalars(sa.select(WebhookEvent)).all()
    assert (event.type, event.data["reasons"]) == ("conversion_export.skipped", {"too_old": 1, "zero_value": 1})


def test_an_archived_profile_exports_nothing(exporting: Exporting) -> None:
    exporting.change(Profile, exporting.profile.id, archived_at=db.now() - timedelta(days=1))
    exporting.publish(exporting.conversion("one"))
    assert exporting.match() == 0
