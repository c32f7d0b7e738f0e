"""GET /ads/trend: every day, ads as asked or those that spent most."""

from __future__ import annotations

import json

import pytest

from tests.api.v1.campaigns.conftest import TWO_SIDES, WINDOW, Caller, Deployment

JACKET = "aaaaaaaa-0000-8000-8000-000000000031"


def _ads(caller: Caller, ids: str) -> list[str]:
    rows = caller.data("/ads/trend", entity_ids=ids)
    assert [row["date"] for row in rows] == ["2026-03-01", "2026-03-02"] * (len(rows) // 2)
    return [row["entity_id"][-2:] for row in rows[::2]]


def test_without_ids_it_is_of_the_ads_that_spent_most(caller: Caller) -> None:
    expected = json.loads((TWO_SIDES / "answers" / "ad_trend.json").read_text())
    assert caller.data("/ads/trend") == expected


def test_at_most_ten_ads_and_ties_by_id(deployment: Deployment) -> None:
    profile = {"profile_key": 1, "profile_id": "01900000-0000-7000-8000-00000000aaaa", "currency": "USD"}
    ads = [{"profile_key": 1, "level": "ad", "entity_key": n, "entity_id": f"{99 - n}", "name": "n"} for n in range(12)]
    day = {"profile_key": 1, "level": "ad", "day": "2026-03-01"}
    delivery = [{**day, "entity_key": n, "spend_minor": 100 + n // 11} for n in range(12)]
    deployment.publish({"profiles": [profile], "entities": ads, "delivery_daily": delivery})
    rows = deployment.new_caller().data("/ads/trend", date_to="2026-03-01")
    assert [row["entity_id"] for row in rows] == ["88", *(str(89 + n) for n in range(9))]


def test_an_ad_whose_spend_no_rate_converts_is_among_them(deployment: Deployment) -> None:
    # its impressions and clicks were left out too, and of an account in such a currency came no rows at all
    profile = {"profile_key": 1, "profile_id": "01900000-0000-7000-8000-00000000aaaa", "currency": "USD"}
    ads = [{"profile_key": 1, "level": "ad", "entity_key": n, "entity_id": f"{n}", "name": "n"} for n in range(3)]
    day = {"profile_key": 1, "level": "ad", "day": "2026-03-01", "impressions": 70}
    delivery = [{**day, "entity_key": n, "spend_minor": 100 * n} for n in range(2)]
    deployment.publish({"profiles": [profile], "entities": ads, "delivery_daily": delivery})
    rows = deployment.new_caller().data("/ads/trend", date_to="2026-03-01")
    assert [(row["entity_id"], row["spend"], row["impressions"]) for row in rows] == [("1", 100, 70), ("0", 0, 70)]


def test_ads_come_in_the_order_asked_by_either_id_and_once(caller: Caller) -> None:
    assert _ads(caller, f"302, {JACKET.upper()},301,302") == ["32", "31"]


def test_an_id_that_two_platforms_use_gives_both_ads(caller: Caller) -> None:
    assert _ads(caller, "399,301") == ["33", "34", "31"]


def test_unknown_foreign_and_other_levels_ids_give_no_rows(caller: Caller) -> None:
    assert caller.data("/ads/trend", entity_ids="nothing,403,101,bbbbbbbb-0000-8000-8000-000000000042") == []


@pytest.mark.parametrize("ids", ["", ",", "301,", ",".join(str(n) for n in range(11)), "a\u0007b", "x" * 129])
def test_bad_ids_are_refused_by_name(caller: Caller, ids: str) -> None:
    status, code, message = caller.refusal("/ads/trend", **WINDOW, entity_ids=ids)
    assert (status, code) == (400, "invalid_parameter")
    assert "entity_ids" in message


def test_the_window_is_needed(caller: Caller) -> None:
    assert caller.refusal("/ads/trend")[:2] == (400, "invalid_date_range")


def test_before_the_first_publication_there_are_no_days(unpublished: Deployment) -> None:
    assert unpublished.new_caller().data("/ads/trend") == []
