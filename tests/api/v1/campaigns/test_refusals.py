"""Every bad query parameter is refused by name; none is ignored, clamped or coerced."""

from __future__ import annotations

import pytest

from tests.api.v1.campaigns.conftest import WINDOW, Caller

PATHS = ("/campaigns", "/campaigns/trend", "/campaigns/unattributed")

BAD_DATES: dict[str, dict[str, str]] = {
    "both absent": {},
    "date_from absent": {"date_to": "2026-03-02"},
    "date_to absent": {"date_from": "2026-03-01"},
    "empty": {"date_from": "", "date_to": "2026-03-02"},
    "not a date": {"date_from": "yesterday", "date_to": "2026-03-02"},
    "no such day": {"date_from": "2026-02-30", "date_to": "2026-03-02"},
    "no leap day": {"date_from": "2027-02-29", "date_to": "2027-03-02"},
    "short form": {"date_from": "2026-3-1", "date_to": "2026-03-02"},
    "basic form": {"date_from": "20260301", "date_to": "2026-03-02"},
    "a week": {"date_from": "2026-W09-7", "date_to": "2026-03-02"},
    "a timestamp": {"date_from": "2026-03-01T00:00:00Z", "date_to": "2026-03-02"},
    "spaces": {"date_from": " 2026-03-01", "date_to": "2026-03-02"},
    "other digits": {"date_from": "٢٠٢٦-٠٣-٠١", "date_to": "2026-03-02"},
    "year zero": {"date_from": "0000-01-01", "date_to": "0000-01-02"},
    "turned round": {"date_from": "2026-03-02", "date_to": "2026-03-01"},
    "367 days on": {"date_from": "2025-03-01", "date_to": "2026-03-03"},
}

BAD_VALUES: list[tuple[str, str, str]] = [
    *(("/campaigns", "limit", value) for value in ("0", "101", "-1", "+5", "5.0", "", " 5", "٥", "1234567890", "ten")),
    *(("/campaigns", "model", value) for value in ("", "last", "Linear", "last_touch,linear", "none")),
    *(("/campaigns", "level", value) for value in ("", "campaigns", "adset", "AD")),
    *(("/campaigns", "cursor", value) for value in ("", "x", "!!!!", "A" * 3000, "é")),
    ("/campaigns", "pagination.cursor", "x"),
    ("/campaigns", "campaign_external_id", "101"),
    ("/campaigns", "ad_set_external_id", "201"),
    ("/campaigns/trend", "level", "account"),
    ("/campaigns/unattributed", "model", "markov"),
    ("/campaigns/unattributed", "level", "platform"),
    ("/campaigns/unattributed", "limit", "5"),
]


@pytest.mark.parametrize("name", BAD_DATES)
def test_a_bad_window_is_invalid_date_range(caller: Caller, name: str) -> None:
    for path in PATHS:
        ids = {"entity_ids": "aaaaaaaa-0000-8000-8000-000000000011"} if path.endswith("trend") else {}
        assert caller.refusal(path, **BAD_DATES[name], **ids)[:2] == (400, "invalid_date_range"), path


def test_the_longest_window_is_366_days_after_its_first(caller: Caller) -> None:
    assert caller.get("/campaigns", date_from="2025-03-01", date_to="2026-03-02").status_code == 200


def test_one_day_and_future_days_are_windows(caller: Caller) -> None:
    assert caller.data(date_from="2026-03-01", date_to="2026-03-01")
    assert caller.data(date_from="2999-01-01", date_to="2999-12-31") == []


@pytest.mark.parametrize(("path", "name", "value"), BAD_VALUES)
def test_a_bad_value_is_invalid_parameter_and_named(caller: Caller, path: str, name: str, value: str) -> None:
    ids = {"entity_ids": "aaaaaaaa-0000-8000-8000-000000000011"} if path.endswith("trend") else {}
    status, code, message = caller.refusal(path, **WINDOW, **ids, **{name: value})
    assert (status, code) == (400, "invalid_parameter")
    assert name.removeprefix("pagination.") in message


@pytest.mark.parametrize(("name", "near"), [("modle", "model"), ("levels", "level"), ("dateFrom", "date_from")])
def test_a_misspelt_parameter_is_refused_with_the_nearest_known_one(caller: Caller, name: str, near: str) -> None:
    status, code, message = caller.refusal(**WINDOW, **{name: "x"})
    assert (status, code) == (400, "invalid_parameter")
    assert name in message
    assert near in message


@pytest.mark.parametrize("name", ["model", "date_from", "limit", "cursor"])
def test_a_parameter_sent_twice_is_refused(caller: Caller, name: str) -> None:
    query = [*WINDOW.items(), (name, "linear"), (name, "linear")]
    response = caller.client.get(
        "/api/v1/campaigns", query_string=query, headers={"Authorization": f"Bearer {caller.key}"}
    )
    assert (response.status_code, response.json["error"]["code"]) == (400, "invalid_parameter")
    assert name in response.json["error"]["message"]


def test_the_two_names_of_the_cursor_cannot_be_sent_together(caller: Caller) -> None:
    cursor = caller.get("/campaigns", **WINDOW, limit=1).json["meta"]["next_cursor"]
    refusal = caller.refusal(**WINDOW, cursor=cursor, **{"pagination.cursor": cursor})
    assert refusal[:2] == (400, "invalid_parameter")


def test_an_ad_set_filter_needs_the_level_of_ads(caller: Caller) -> None:
    assert caller.refusal(**WINDOW, level="ad_set", ad_set_external_id="201")[:2] == (400, "invalid_parameter")
    assert caller.refusal(**WINDOW, level="campaign", campaign_external_id="101")[:2] == (400, "invalid_parameter")
