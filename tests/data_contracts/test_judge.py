"""Rules about whole rows; and what the judge promises for every set."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.data_contracts.records import judged, record, refusal, row


def test_a_touch_needs_one_identifier() -> None:
    field, reason = refusal("touches", person_key=None)
    assert field is None
    assert reason.startswith("none of person_key, anonymous_id, email")


@pytest.mark.parametrize(
    "source", [{"ad_id": "1"}, {"click_id": "x"}, {"utm_medium": "email"}, {"referrer_host": "news.example"}]
)
def test_a_direct_touch_names_no_source(source: dict[str, str]) -> None:
    assert refusal("touches", is_direct=True, **source)[0] == "is_direct"


def test_a_direct_touch_may_come_from_its_own_host() -> None:
    assert row("touches", is_direct="true", referrer_host="shop.example", landing_host="shop.example")["is_direct"]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({}, False),
        ({"ad_id": "1"}, True),
        ({"click_id_type": "gclid", "click_id": "x"}, True),
        ({"click_id_type": "fbc", "click_id": "x"}, True),
        ({"click_id_type": "mc_eid", "click_id": "x"}, False),
        ({"utm_medium": "CPC"}, True),
        ({"utm_medium": "email"}, False),
        ({"ad_id": "1", "is_paid": "false"}, False),
    ],
)
def test_paid_is_known_from_what_the_row_names(told: dict[str, Any], expected: bool) -> None:
    assert row("touches", **told)["is_paid"] is expected


CLICK = ("click_id_type", "click_id", "touch_at")
COOKIE = {"click_id_type": "FBC", "click_id": "fb.1.1761998400000.AbC"}
CLICKED_AT = datetime(2025, 11, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("dataset", ["conversions", "orders"])
def test_metas_cookie_is_the_click_it_holds_and_dates_it(dataset: str) -> None:
    found = row(dataset, **COOKIE)
    assert [found[name] for name in CLICK] == ["fbclid", "AbC", CLICKED_AT]


def test_a_visit_with_metas_cookie_has_its_click_and_keeps_its_own_time() -> None:
    found = row("touches", **COOKIE)
    assert (found["click_id_type"], found["click_id"], found["is_paid"]) == ("fbclid", "AbC", True)
    assert found["occurred_at"] == datetime(2026, 11, 1, 10, tzinfo=UTC)


def test_a_time_that_was_told_stands_before_the_cookies() -> None:
    told = datetime(2026, 10, 1, tzinfo=UTC)
    assert row("conversions", **COOKIE, touch_at=told)["touch_at"] == told


def test_a_cookie_of_a_click_after_the_outcome_does_not_date_it() -> None:
    found = row("conversions", **COOKIE, occurred_at=CLICKED_AT - timedelta(seconds=1))
    assert [found[name] for name in CLICK] == ["fbclid", "AbC", None]
    found = row("orders", **COOKIE, processed_at=CLICKED_AT - timedelta(seconds=1))
    assert found["touch_at"] is None


def test_what_is_no_cookie_of_metas_stays_as_it_is() -> None:
    found = row("conversions", click_id_type="fbc", click_id="broken")
    assert [found[name] for name in CLICK] == ["fbc", "broken", None]


def test_a_touch_is_not_direct_unless_told() -> None:
    assert row("touches")["is_direct"] is False


@pytest.mark.parametrize("name", ["value", "currency"])
def test_a_payment_has_value_and_currency(name: str) -> None:
    assert refusal("conversions", **{name: None})[0] == name


def test_a_payment_has_a_reference_or_an_order() -> None:
    assert refusal("conversions", payment_ref=None) == ("payment_ref", "a payment needs payment_ref or order_ref")
    assert row("conversions", payment_ref=None, order_ref="1001")["payment_status"] == "captured"


def test_a_refund_names_the_payment_it_lowers() -> None:
    refund = {"conversion_type": "refund_issued", "payment_ref": None, "refunds_payment_ref": "stripe:pi_1"}
    accepted = row("conversions", **refund)
    assert (accepted["refund_kind"], accepted["payment_status"]) == ("refund", None)
    assert refusal("conversions", **{**refund, "refunds_payment_ref": None})[0] == "refunds_payment_ref"
    assert refusal("conversions", **{**refund, "value": "0"}) == ("value", "a refund of nothing")
    assert refusal("conversions", **{**refund, "value": None})[0] == "value"


def test_a_pipeline_outcome_needs_no_money() -> None:
    lead = row("conversions", conversion_type="lead_created", value=None, currency=None, payment_ref=None)
    assert (lead["payment_status"], lead["refund_kind"], lead["source"]) == (None, None, "file")


def test_money_without_currency_is_refused() -> None:
    told = refusal("conversions", conversion_type="quote_presented", currency=None)
    assert told == ("currency", "money without currency")


def test_negative_spend_is_refused() -> None:
    assert refusal("ad_delivery", spend="-0.01") == ("spend", "negative")


def test_counts_that_no_ad_has_in_a_day_are_refused() -> None:
    most = record("ad_delivery", impressions=10**12, platform_conversions="1000000000")
    assert judged("ad_delivery", most).rejected == []
    assert refusal("ad_delivery", impressions=10**12 + 1) == ("impressions", "above 1000000000000")
    claimed = refusal("ad_delivery", platform_conversions="1000000000.0001")
    assert claimed == ("platform_conversions", "above 1000000000")


def test_identities_are_normalised_by_their_kind() -> None:
    assert row("identities", value_b="A@Example.com")["value_b"] == "a@example.com"
    assert refusal("identities", value_b="nobody") == ("value_b", "not an e-mail address")
    assert row("identities", kind_b="external_id", value_b="A@Example.com")["value_b"] == "A@Example.com"


def test_typed_joins_a_device_to_an_address_only() -> None:
    assert row("identities", confidence="typed")["confidence"] == "typed"
    assert row("identities")["confidence"] == "certain"
    assert refusal("identities", confidence="typed", kind_a="external_id")[0] == "confidence"


def test_a_window_does_not_end_before_it_starts() -> None:
    assert row("entity_reach", date_to="2026-11-01")
    assert refusal("entity_reach", date_to="2026-10-31") == ("date_to", "before date_from")
    assert refusal("experiments", end_date="2026-12-23") == ("end_date", "before start_date")


def test_a_withdrawn_row_needs_only_its_key() -> None:
    (withdrawn,) = judged("touches", {"touch_key": "t1", "_deleted": "true"}).rows
    assert withdrawn["_deleted"] is True
    verdict = judged("touches", {"person_key": "p1", "_deleted": True})
    assert [(one.field, one.reason) for one in verdict.rejected] == [("touch_key", "missing")]


def test_an_unknown_column_is_refused_and_the_nearest_is_named() -> None:
    field, reason = refusal("touches", occured_at="2026-11-01T10:00:00Z")
    assert field is None
    assert "unknown column 'occured_at'; did you mean 'occurred_at'?" in reason


def test_columns_of_the_producer_are_kept_apart() -> None:
    assert row("touches", x_shop="north", x_n=[1])["_extra"] == '{"x_n": [1], "x_shop": "north"}'


def test_each_rejection_has_its_line_and_its_record_and_the_first_reason() -> None:
    bad = record("touches", channel="tv", origin="tv")
    verdict = judged("touches", record("touches"), bad, record("touches", touch_key="t3"))
    assert verdict.lines == [1, 3]
    assert [(one.line, one.field, one.record) for one in verdict.rejected] == [(2, "channel", bad)]


def test_the_records_given_stay_as_they_are() -> None:
    given = record("touches", email="A@Example.com")
    before = dict(given)
    judged("touches", given)
    assert given == before


@pytest.mark.parametrize("rounded", ["1.20212E+17", "6E+12", "1,20212E+17", "1.2021e+17"])
@pytest.mark.parametrize(
    ("dataset", "column"),
    [
        ("ad_delivery", "ad_id"),
        ("ad_delivery", "campaign_id"),
        ("orders", "order_id"),
        ("orders", "payment_customer_id"),
        ("conversions", "conversion_key"),
        ("touches", "ad_id"),
        ("variants", "variant_id"),
    ],
)
def test_an_id_that_a_spreadsheet_rounded_is_refused_since_many_have_become_one(
    dataset: str, column: str, rounded: str
) -> None:
    field, reason = refusal(dataset, **{column: rounded})
    assert (field, reason.partition(";")[0]) == (column, "an id that a spreadsheet has rounded to a number")


def test_a_rounded_id_joins_nobody_and_an_address_is_no_id() -> None:
    assert refusal("identities", kind_a="external_id", value_a="6E+12")[0] == "value_a"
    assert row("identities", value_b="1e+17@example.com")["value_b"] == "1e+17@example.com"


@pytest.mark.parametrize("told", [{"utm_id": "6E+12"}, {"click_id": "6E+12"}, {"ad_id": "6E12"}, {"ad_id": "E+12"}])
def test_labels_and_what_only_resembles_a_rounded_number_are_taken(told: dict[str, str]) -> None:
    assert row("touches", **told).items() >= told.items()
