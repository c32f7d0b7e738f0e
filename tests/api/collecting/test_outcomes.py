"""Outcomes and identities that a browser tells of: none of them is cash."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api import db
from api.models import GoalRow, Profile
from data_contracts.contract import inbound, internal
from data_contracts.judge import judge
from tests.factories import tracked
from touchledger.settings import Settings

Tell = Callable[..., TestResponse]
Became = Callable[[str], list[dict[str, Any]]]


@pytest.mark.parametrize(
    ("name", "conversion_type"),
    [
        ("lead_submitted", "lead_created"),
        ("appointment_booked", "appointment_booked"),
        ("purchase", "order_placed"),
        ("order_placed", "order_placed"),
        ("payment_received", "order_placed"),
        ("page_view", None),
        ("refund_issued", None),
    ],
)
def test_an_event_that_a_goal_names_is_a_conversion_and_never_cash(
    tell: Tell, became: Became, name: str, conversion_type: str | None
) -> None:
    tell(eventName=name, eventId="e-1", valueAmount=0.1 + 0.2, currency="usd", order_id="#1001")
    found = became("conversions")
    assert [row["conversion_type"] for row in found] == ([conversion_type] if conversion_type else [])
    for row in found:
        told = {"conversion_key": "web:e-1", "value": "0.3000", "currency": "USD", "order_ref": "#1001"}
        assert told.items() <= row.items()
        assert "payment_ref" not in row
        assert judge(inbound()["conversions"], found).rejected == []


@pytest.mark.parametrize("blank", ["", "  ", None])
def test_an_amount_that_is_blank_is_none_as_in_every_other_field(tell: Tell, became: Became, blank: Any) -> None:
    assert tell(eventName="lead_submitted", valueAmount=blank, currency="").status_code == 202
    (lead,) = became("conversions")
    assert "value" not in lead and "currency" not in lead


@pytest.mark.parametrize(
    ("text", "kept"), [(" 12.5 ", "12.5000"), ("1e3", "1000.0000"), (".5", "0.5000"), ("7.", "7.0000")]
)
def test_an_amount_may_be_a_text_as_scripts_write_numbers(tell: Tell, became: Became, text: str, kept: str) -> None:
    assert tell(eventName="lead_submitted", valueAmount=text, currency="USD").status_code == 202
    (lead,) = became("conversions")
    assert lead["value"] == kept


def test_a_profiles_own_goals_count_its_browsers_events_and_none_of_them_is_cash(
    tell: Tell, became: Became, settings: Settings, profile: Profile
) -> None:
    with db.transaction(settings.operational_url) as session:
        for key, worth in (("trial_started", "pipeline"), ("deposit", "cash")):
            goal = GoalRow(id=db.new_id(), profile_id=profile.id, conversion_key=key, display_name=key)
            goal.source_event_names, goal.revenue_type, goal.attribution_eligible = [f"{key}_web"], worth, True
            session.add(goal)
    tell(eventName="trial_started_web")
    tell(eventName="deposit_web", valueAmount=5, currency="USD", order_id="#1")
    kept = [(row["conversion_type"], row["event_name"], row["event_origin"]) for row in became("conversions")]
    assert kept == [
        *(("unmapped_event", "trial_started_web", "browser"), ("order_placed", "deposit_web", "browser")),
    ]


def test_an_outcome_carries_the_click_that_metas_cookie_dates_and_no_undated_one(tell: Tell, became: Became) -> None:
    clicked = (db.now() - timedelta(days=3)).replace(microsecond=0)
    fbc = f"fb.1.{int(clicked.timestamp() * 1000)}.click-1"
    tell(eventName="lead_created", clickIds={"gclid": "g"}, firstTouchClickIds={"gclid": "first"}, fbc=fbc)
    tell(eventName="lead_created", clickIds={"gclid": "g"}, firstTouchUtm={"source": "old"})
    dated, undated = became("conversions")
    assert (dated["click_id_type"], dated["click_id"]) == ("fbclid", "click-1")
    assert dated["touch_at"] == clicked.isoformat()
    assert not {"click_id", "utm_source", "touch_at"} & undated.keys()


def test_whoever_is_identified_is_joined_to_the_browser_once(tell: Tell, became: Became) -> None:
    who = {"email": " Ann@Example.com", "phone": "+1 415 555 0123", "firstName": "Ann"}
    tell(userId="u-7", identify=who)
    tell(userId="u-7", identify=who, eventName="lead_created")
    joined = {(row["kind_b"], row["value_b"], row["confidence"]) for row in became("identities")}
    assert joined == {
        ("external_id", "u-7", "certain"),
        ("email", "ann@example.com", "certain"),
        ("phone", "+14155550123", "certain"),
    }
    assert len(became("identities")) == 3
    (lead,) = became("conversions")
    assert (lead["email"], lead["external_id"], lead["x_first_name"]) == ("ann@example.com", "u-7", "Ann")


def test_whoever_is_named_within_identify_alone_is_joined_too(tell: Tell, became: Became) -> None:
    longest = "u" * 128
    tell(eventName="lead_created", identify={"userId": longest})
    assert [(row["kind_b"], row["value_b"]) for row in became("identities")] == [("external_id", longest)]
    tell(eventName="lead_created", userId="u-7", identify={"userId": "another"}, order_ref="o-1")
    assert [row["external_id"] for row in became("conversions")] == [longest, "u-7"]


def test_what_a_browser_calls_somebody_is_told_of_all_by_which_the_event_knows_them(tell: Tell, became: Became) -> None:
    tell(eventName="identify", eventId="e-1", identify={"email": "Ann@Example.com", "firstName": " Ann "})
    tell(eventName="lead_created", eventId="e-2", identify={"lastName": "Lee", "phone": "555 0123"})
    tell(eventName="lead_created", eventId="e-3", identify={"email": "ann@example.com", "firstName": " "})
    tell(eventName="identify", eventId="e-1", identify={"email": "Ann@Example.com", "firstName": "Anna"})
    first, second = became("personal_names")
    who = {"anonymous_id": first["anonymous_id"], "event_origin": "browser", "told_at": first["told_at"]}
    assert first == {**who, "name_key": "web:e-1", "email": "ann@example.com", "first_name": "Ann"}
    assert second == {**who, "name_key": "web:e-2", "last_name": "Lee", "told_at": second["told_at"]}
    assert judge(internal()["personal_names"], [first, second]).rejected == []


def test_what_nobody_could_be_reached_by_is_left_out_and_the_event_stays(tell: Tell, became: Became) -> None:
    tell(eventName="lead_created", identify={"email": "not an address", "phone": "555 0123"})
    (lead,) = became("conversions")
    assert not {"email", "phone"} & lead.keys()
    assert became("identities") == []


def test_what_somebody_typed_too_much_of_does_not_take_the_lead_along(tell: Tell, became: Became) -> None:
    typed = {"phone": "+1 415 555 0123, after five and not on Fridays", "email": "a" * 255, "firstName": "A\0"}
    tell(eventName="lead_created", identify={**typed, "lastName": "Lee"}, fbc="fb.1.1700000000000." + "x" * 1024)
    (lead,) = became("conversions")
    assert lead["x_last_name"] == "Lee" and not {"email", "phone", "x_first_name", "click_id"} & lead.keys()


def test_the_listed_identifiers_of_a_person_are_joined_beside_those_with_a_field(tell: Tell, became: Became) -> None:
    more = [
        {"type": "email", "value": "Ann@Work.example"},
        {"type": "email", "value": "ann@home.example"},
        {"type": "userId", "value": "u-7"},
        {"type": "phone", "value": "+1 415 555 0123"},
    ]
    tell(eventName="lead_created", identify={"email": "ann@home.example", "identifiers": more})
    assert [(row["kind_b"], row["value_b"]) for row in became("identities")] == [
        ("email", "ann@home.example"), ("email", "ann@work.example"), ("external_id", "u-7"), ("phone", "+14155550123"),
    ]  # fmt: skip
    (lead,) = became("conversions")
    assert (lead["email"], lead["external_id"], lead["phone"]) == ("ann@home.example", "u-7", "+14155550123")


@pytest.mark.parametrize(
    "listed",
    [
        "ann@home.example",
        {"type": "email", "value": "ann@home.example"},
        ["ann@home.example", None, {"type": ["email"], "value": "a@home.example"}, {"type": "passport", "value": "1"}],
        [{"type": "email"}, {"type": "email", "value": {}}, {"type": "email", "value": "a" * 255}],
        [{"type": "phone", "value": "555 0123"}],
        [{"type": "phone", "value": "x"}] * 16 + [{"type": "email", "value": "ann@home.example"}],
    ],
    ids=["text", "mapping", "items", "values", "phone", "too_many"],
)
def test_listed_identifiers_that_are_none_are_left_out_and_the_event_stays(
    tell: Tell, became: Became, listed: Any
) -> None:
    tell(eventName="lead_created", identify={"identifiers": listed})
    assert (len(became("conversions")), became("identities")) == (1, [])


def signal(key: str, **changes: Any) -> dict[str, Any]:
    body = {
        "trackingKey": key,
        "anonymousId": "browser-1",
        "idType": "email",
        "idValue": "Ann@Example.com",
        "pageUrl": tracked.SHOP,
        "capturedAt": db.now().isoformat(),
    }
    return {name: value for name, value in {**body, **changes}.items() if value is not None}


def test_what_somebody_typed_is_an_identity_and_nothing_else(client: FlaskClient, key: str, became: Became) -> None:
    answer = tracked.send(client, signal(key), "identity-signal")
    assert (answer.status_code, answer.json) == (202, {})
    assert (
        tracked.send(client, signal(key, idType="phone", idValue="+14155550123"), "identity-signal").status_code == 202
    )
    assert [(row["kind_b"], row["value_b"], row["confidence"]) for row in became("identities")] == [
        ("email", "ann@example.com", "typed"), ("phone", "+14155550123", "typed"),
    ]  # fmt: skip
    assert judge(inbound()["identities"], became("identities")).rejected == []
    assert (became("touches"), became("conversions")) == ([], [])


def test_who_typed_an_address_and_is_identified_by_it_later_is_known_for_certain(
    client: FlaskClient, key: str, tell: Tell, became: Became
) -> None:
    browser = tracked.event(key)["anonymousId"]
    tracked.send(client, signal(key, anonymousId=browser), "identity-signal")
    for _ in range(2):
        tell(eventName="identify", identify={"email": "ann@example.com"})
    tracked.send(client, signal(key, anonymousId=browser), "identity-signal")
    assert [row["confidence"] for row in became("identities")] == ["typed", "certain"]


@pytest.mark.parametrize(
    "changes",
    [
        {"idType": "name"},
        {"idValue": "nobody"},
        {"idValue": None},
        {"anonymousId": None},
        {"capturedAt": "noon"},
        {"pageUrl": "x"},
    ],
)
def test_what_is_no_identifier_is_refused(
    client: FlaskClient, key: str, became: Became, changes: dict[str, Any]
) -> None:
    body = {**signal(key), **changes}
    assert tracked.send(client, body, "identity-signal").status_code == 422
    assert became("identities") == []


@pytest.mark.parametrize("headers", [{}, {"Sec-GPC": "1"}], ids=["healthcare", "refused by the browser"])
def test_what_may_not_be_captured_is_acknowledged_and_not_kept(
    client: FlaskClient, settings: Settings, profile: Profile, key: str, became: Became, headers: dict[str, str]
) -> None:
    if not headers:
        with db.transaction(settings.operational_url) as session:
            session.get_one(Profile, profile.id).privacy_mode = "platform_safe"
    assert tracked.send(client, signal(key), "identity-signal", headers=headers).status_code == 202
    assert became("identities") == []
