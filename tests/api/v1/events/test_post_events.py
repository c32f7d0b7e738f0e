"""POST /events: who may, what is refused and with which words, and what is kept for the pipeline."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from api import goals
from api.scopes import DEFAULT_SCOPES
from api.v1.events.schemas import ANSWERS
from api.warehouse_ids import uuid_v8
from tests.api.conftest import Caller
from tests.api.v1.events.conftest import PAYMENT, Sender

Landing = Callable[..., list[dict[str, Any]]]
LEAD: dict[str, Any] = {"event_name": "lead_created", "timestamp": "2026-03-05T10:00:00Z", "anonymous_id": "a1"}


def _with(body: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**body, **changes}


def test_nobody_sends_without_a_key_or_without_the_scope(anonymous: Caller, caller_with: Callable[..., Caller]) -> None:
    assert anonymous.post("/events", json=PAYMENT).status_code == 401
    response = caller_with(scopes=DEFAULT_SCOPES).post("/events", json=PAYMENT)
    assert (response.status_code, response.get_json()["error"]["required_scopes"]) == (403, ["events:write"])


def test_an_event_is_accepted_with_its_ids(sender: Sender, landing: Landing, profile: Any) -> None:
    assert sender.accepted(PAYMENT) == {
        "event_id": uuid_v8(profile.id, "event", "order-1-paid"),
        "status": "accepted",
        "conversion_type": "payment_received",
        "customer_key": None,
        "idempotency_key": "order-1-paid",
        "visible": "next_snapshot",
        "visible_by": None,
    }
    assert landing() == [
        {
            "conversion_key": "order-1-paid",
            "occurred_at": "2026-03-05T14:02:11+00:00",
            "conversion_type": "payment_received",
            "source": "server_event",
            "email": "ann@example.com",
            "value": 120.5,
            "currency": "USD",
            "payment_ref": "stripe:pi_1",
            "event_name": "purchase",
            "event_origin": "server",
        }
    ]


def test_everything_an_event_says_is_kept(sender: Sender, landing: Landing) -> None:
    body = {
        "event_name": "lead_submitted",
        "timestamp": "2026-03-05T11:00:00.250+01:00",
        "idempotency_key": "lead-1",
        "anonymous_id": "a1",
        "session_id": "s1",
        "user_traits": {"first_name": "Ann", "last_name": "Lee", "external_id": "crm-1", "phone": "+14155550100"},
        "properties": {"value": "1500.50", "currency": "EUR", "form": {"name": "demo"}, "subscription_ref": "sub_1"},
        "utm": {"source": "newsletter", "id": "u-1"},
        "click_ids": {"gclid": "G1"},
        "ad": {"platform": "google", "ad_id": "1", "ad_set_id": "2", "campaign_id": "3"},
        "touch_at": "2026-03-04T10:00:00Z",
        "conversation_id": "conv-1",
        "declared_source": {"answer_key": "other", "answer_text": "a billboard"},
    }
    assert sender.accepted(body)["conversion_type"] == "lead_created"
    assert landing() == [
        {
            "conversion_key": "lead-1",
            "occurred_at": "2026-03-05T10:00:00.250000+00:00",
            "conversion_type": "lead_created",
            "source": "server_event",
            "anonymous_id": "a1",
            "phone": "+14155550100",
            "external_id": "crm-1",
            "value": "1500.50",
            "currency": "EUR",
            "subscription_ref": "sub_1",
            "ad_platform": "google",
            "ad_id": "1",
            "ad_set_id": "2",
            "campaign_id": "3",
            "utm_source": "newsletter",
            "utm_id": "u-1",
            "click_id_type": "gclid",
            "click_id": "G1",
            "touch_at": "2026-03-04T10:00:00+00:00",
            "conversation_id": "conv-1",
            "answer_key": "other",
            "answer_text": "a billboard",
            "event_name": "lead_submitted",
            "event_origin": "server",
            "x_session_id": "s1",
            "x_first_name": "Ann",
            "x_last_name": "Lee",
            "x_properties": {"form": {"name": "demo"}},
            "x_click_ids": {"gclid": "G1"},
        }
    ]


@pytest.mark.parametrize(
    ("event_name", "conversion_type"),
    [
        *((name, goal.conversion_key) for goal in goals.BUILT_IN[:-1] for name in goal.event_names),
        *(("order_placed", "order_placed"), ("page_scrolled", None)),
    ],
)
def test_goals_map_event_names_to_conversion_types(
    sender: Sender, landing: Landing, event_name: str, conversion_type: str | None
) -> None:
    body = _with(PAYMENT, event_name=event_name)
    assert sender.accepted(body)["conversion_type"] == conversion_type
    assert landing()[0]["conversion_type"] == (conversion_type or "unmapped_event")


def test_names_of_events_are_those_of_the_interface() -> None:
    assert {goal.conversion_key: goal.event_names for goal in goals.BUILT_IN} == {
        "payment_received": ("payment_received", "purchase", "invoice_paid"),
        "lead_created": ("lead_created", "lead_submitted", "registration_completed"),
        "appointment_booked": ("appointment_booked",),
        "appointment_attended": ("appointment_attended",),
        "dm_started": ("dm_started",),
        "quote_presented": ("quote_presented",),
        "closed_won": ("closed_won",),
        "order_placed": ("order_placed", "purchase"),
    }
    by_revenue = {
        kind: {g.conversion_key for g in goals.BUILT_IN if g.revenue_type == kind} for kind in ("cash", "gross")
    }
    assert by_revenue == {"cash": {"payment_received"}, "gross": {"order_placed"}}
    assert [goal.conversion_key for goal in goals.BUILT_IN if not goal.attribution_eligible] == ["order_placed"]


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"event_name": None}, "event_name"),
    ({"event_name": ""}, "event_name"),
    ({"event_name": "two words"}, "event_name"),
    ({"event_name": "x" * 65}, "event_name"),
    ({"event_name": "lead\n"}, "event_name"),
    ({"surprise": 1}, "surprise"),
    ({"timestamp": "2026-03-05T14:02:11"}, "timestamp: a timestamp needs its offset"),
    ({"timestamp": "1999-12-31T23:59:59Z"}, "timestamp: before 2000"),
    ({"timestamp": "yesterday"}, "timestamp"),
    ({"timestamp": 1772719331}, "timestamp"),
    ({"idempotency_key": ""}, "idempotency_key"),
    ({"idempotency_key": "k" * 256}, "idempotency_key"),
    ({"idempotency_key": 7}, "idempotency_key"),
    ({"anonymous_id": "a" * 129}, "anonymous_id"),
    ({"session_id": "a\0"}, "session_id"),
    ({"anonymous_id": "\ud800"}, "anonymous_id"),
    ({"user_traits": {"email": "not an address"}}, "user_traits.email"),
    ({"user_traits": {"phone": "415 555 0100"}}, "user_traits.phone"),
    ({"user_traits": {"age": 7}}, "user_traits.age"),
    ({"customer": {}}, "customer: needs external_ref, email or phone"),
    ({"customer": {"email": "bob@example.com"}, "user_traits": {"email": "ann@example.com"}}, "customer.email"),
    ({"properties": []}, "properties"),
    ({"properties": {"value": -1, "currency": "USD"}}, "properties.value: negative"),
    ({"properties": {"value": "1.00001", "currency": "USD"}}, "properties.value: more than 4 decimals"),
    ({"properties": {"value": "1e3", "currency": "USD"}}, "properties.value"),
    ({"properties": {"value": True, "currency": "USD"}}, "properties.value"),
    ({"properties": {"value": 1}}, "properties.currency"),
    ({"properties": {"value": 1, "currency": "XQX"}}, "properties.currency"),
    ({"properties": {"value": 1, "currency": "usd"}}, "properties.currency"),
    ({"properties": {"payment_ref": "pi_1"}}, "properties.payment_ref"),
    ({"properties": {"is_test": "yes"}}, "properties.is_test"),
    ({"properties": {"a": {"b": {"c": {"d": {"e": {}}}}}}}, "properties: is nested deeper than 5"),
    ({"properties": {"a": "x" * 16384}}, "properties: is larger than 16384 bytes"),
    ({"properties": {"a": ["\ud800"]}}, "properties.a[0]: contains half"),
    ({"properties": {"a\0": 1}}, "properties: a name contains a NUL"),
    ({"\ud800": 1}, "a name contains half"),
    ({"utm": {"source": "x" * 256}}, "utm.source"),
    ({"utm": {"medium": 1}}, "utm.medium"),
    ({"utm": {"origin": "x"}}, "utm.origin"),
    ({"click_ids": {f"id{n}": "v" for n in range(17)}}, "click_ids"),
    ({"click_ids": {"gclid": 1}}, "click_ids"),
    ({"ad": {"platform": "Not A Slug"}}, "ad.platform"),
    ({"ad": {"ad_id": "1" * 129}}, "ad.ad_id"),
    ({"touch_at": "2026-03-05"}, "touch_at"),
    ({"conversation_id": ""}, "conversation_id"),
    ({"declared_source": {"answer_key": "other"}}, "declared_source.answer_text"),
    ({"declared_source": {"answer_text": "a friend"}}, "declared_source.answer_key"),
]


@pytest.mark.parametrize(("change", "told"), WRONG, ids=lambda value: str(value)[:60])
def test_a_wrong_body_is_refused_with_the_name_of_its_field(
    sender: Sender, landing: Landing, change: dict[str, Any], told: str
) -> None:
    status, code, message = sender.refused(_with(LEAD, **change))
    assert (status, code) == (422, "validation_error")
    assert message.startswith(told)
    assert landing() == []


def test_an_event_may_be_ten_minutes_ahead_and_no_more(sender: Sender) -> None:
    def ahead(minutes: float) -> str:
        return (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat()

    sender.accepted(_with(LEAD, timestamp=ahead(9.9)))
    assert sender.refused(_with(LEAD, timestamp=ahead(10.2)))[2].startswith("timestamp: more than ten minutes ahead")


def test_a_body_over_a_quarter_mebibyte_is_refused(sender: Sender) -> None:
    status, code, _ = sender.refused({"event_name": "x" * 256 * 1024})
    assert (status, code) == (413, "payload_too_large")


@pytest.mark.parametrize(
    ("missing", "told"),
    [
        ("value", "properties.value"),
        ("currency", "properties.currency"),
        ("payment_ref", "properties.payment_ref: a payment needs payment_ref or order_id"),
    ],
)
def test_a_payment_names_its_money_and_its_payment(sender: Sender, missing: str, told: str) -> None:
    properties = {name: value for name, value in PAYMENT["properties"].items() if name != missing}
    status, code, message = sender.refused(_with(PAYMENT, properties=properties))
    assert (status, code) == (422, "validation_error")
    assert message.startswith(told)


def test_an_order_is_name_enough_for_a_payment_and_for_its_refund(sender: Sender, landing: Landing) -> None:
    money = {"value": "20", "currency": "USD", "order_id": "1001"}
    sender.accepted({"event_name": "purchase", "properties": money, "idempotency_key": "p"})
    assert sender.accepted({"event_name": "refund_issued", "properties": money})["conversion_type"] is None
    payment, refund = landing()
    assert payment["order_ref"] == "1001"
    assert (refund["conversion_type"], refund["refunds_payment_ref"]) == ("refund_issued", "order:1001")


@pytest.mark.parametrize("missing", ["value", "currency", "refunds_payment_ref"])
def test_a_refund_names_its_money_and_its_payment(sender: Sender, missing: str) -> None:
    properties = {"value": 5, "currency": "USD", "refunds_payment_ref": "stripe:pi_1"}
    del properties[missing]
    status, code, message = sender.refused({"event_name": "refund_issued", "properties": properties})
    assert (status, code) == (422, "validation_error")
    assert message.startswith(f"properties.{missing}")


def test_a_test_event_is_answered_and_never_lands(sender: Sender, landing: Landing) -> None:
    body = _with(PAYMENT, properties={**PAYMENT["properties"], "is_test": True})
    answer = sender.accepted(body)
    assert (answer["conversion_type"], answer["visible"]) == ("payment_received", "never")
    assert landing() == []
    assert sender.accepted(body)["status"] == "duplicate"


@pytest.mark.parametrize("answer_key", ANSWERS)
def test_a_declared_source_is_kept(sender: Sender, landing: Landing, answer_key: str) -> None:
    declared = {"answer_key": answer_key, "answer_text": "in words"}
    sender.accepted(_with(LEAD, declared_source=declared))
    assert landing()[0]["answer_key"] == answer_key


def test_an_answer_outside_the_vocabulary_is_refused(sender: Sender, landing: Landing) -> None:
    refused = sender.refused(_with(LEAD, declared_source={"answer_key": "astrology"}))
    assert refused[:2] == (422, "unknown_answer_key")
    assert landing() == []


@pytest.mark.parametrize(
    ("click_ids", "kept"),
    [
        ({"fbclid": "F", "gclid": "G"}, ("gclid", "G", None)),
        ({"zclid": "Z", "aclid": "A"}, ("aclid", "A", None)),
        ({"fbc": "fb.1.1772611200000.F1"}, ("fbclid", "F1", "2026-03-04T08:00:00+00:00")),
        ({"fbc": "fb.1.1772611200000.F1", "fbclid": "F1"}, ("fbclid", "F1", "2026-03-04T08:00:00+00:00")),
        ({"fbc": "fb.1.1772611200000.F1", "fbclid": "F2"}, ("fbclid", "F2", None)),
        ({"fbc": "fb.1.1999999999999.F1"}, ("fbclid", "F1", None)),
        ({"fbc": "broken"}, ("fbc", "broken", None)),
    ],
)
def test_one_click_id_is_kept_and_a_cookie_dates_its_click(
    sender: Sender, landing: Landing, click_ids: dict[str, str], kept: tuple[str, str, str | None]
) -> None:
    sender.accepted(_with(LEAD, click_ids=click_ids))
    record = landing()[0]
    assert (record["click_id_type"], record["click_id"], record.get("touch_at")) == kept


def test_a_time_that_was_sent_stands_before_the_cookies(sender: Sender, landing: Landing) -> None:
    touch_at = "2026-03-03T00:00:00Z"
    sender.accepted(_with(LEAD, click_ids={"fbc": "fb.1.1772611200000.F1"}, touch_at=touch_at))
    assert landing()[0]["touch_at"] == "2026-03-03T00:00:00+00:00"


def test_without_a_time_an_event_happened_now(sender: Sender, landing: Landing) -> None:
    before = datetime.now(UTC)
    sender.accepted({"event_name": "lead_created"})
    assert before <= datetime.fromisoformat(landing()[0]["occurred_at"]) <= datetime.now(UTC)
