"""GET /ads/{id}: one ad by either id, its figures by hand, its texts untouched."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime

import pytest

from api.served import ProfileFacts
from api.v1.ads.routes import default_window
from api.windows import DateRange
from tests.api.v1.campaigns.conftest import OTHER, TWO_SIDES, WINDOW, Caller, Deployment

JACKET = "aaaaaaaa-0000-8000-8000-000000000031"
BEHIND = "aaaaaaaa-0000-8000-8000-000000000033"


def _expected() -> dict[str, object]:
    answer: dict[str, object] = json.loads((TWO_SIDES / "answers" / "ad_detail.json").read_text())
    return answer


@pytest.mark.parametrize("ad_id", [JACKET, JACKET.upper(), "301"])
def test_the_answer_is_the_one_computed_by_hand_under_either_id(caller: Caller, ad_id: str) -> None:
    response = caller.get(f"/ads/{ad_id}")
    assert response.json["data"] == _expected()
    meta = response.json["meta"]
    assert (meta["date_from"], meta["date_to"]) == ("2026-02-03", "2026-03-02")
    assert (meta["model"], meta["currency"]) == ("last_touch", "USD")


def test_a_window_and_a_model_of_the_callers_own(caller: Caller) -> None:
    found = caller.data(f"/ads/{JACKET}", model="first_touch")
    assert (found["spend"], found["outcome_value"], found["outcome_count"], found["cac"]) == (10.0, 0.01, 0, None)
    assert (found["reach"], found["reach_basis"]) == (880, "at_least")
    idle = caller.data(f"/ads/{JACKET}", date_from="2026-03-02", date_to="2026-03-02")
    assert (idle["spend"], idle["impressions"], idle["link_clicks"], idle["roas"], idle["ctr"]) == (
        0.0,
        0,
        0,
        None,
        None,
    )
    assert (idle["platform_reported_conversions"], idle["platform_reported_conversion_value"]) == (None, None)


def test_an_unmeasured_figure_is_null_and_not_zero(caller: Caller) -> None:
    found = caller.data("/ads/302")
    assert (found["clicks"], found["link_clicks"], found["video_3s_views"]) == (20, None, None)


def test_texts_of_the_platform_pass_untouched(caller: Caller) -> None:
    response = caller.get("/ads/302")
    assert response.mimetype == "application/json"
    assert response.json["data"]["ad_name"] == '{"name": null}</script><!--'
    assert response.json["data"]["creative"]["title"] == "<img src=x onerror=alert(1)>"
    assert caller.get("/ads/aaaaaaaa-0000-8000-8000-000000000034").json["data"]["campaign_name"] == (
        "\"><script>alert('x')</script> & Söhne 🎯 '; drop table entities; --"
    )


def test_an_ad_whose_creative_is_not_synced_has_an_empty_one(caller: Caller) -> None:
    found = caller.get(f"/ads/{BEHIND}").json["data"]
    assert set(found["creative"].values()) == {None}
    assert found["created_at"] is None


def test_unknown_foreign_and_other_levels_ids_are_not_found_alike(caller: Caller) -> None:
    foreign = "bbbbbbbb-0000-8000-8000-000000000042"
    for ad_id in ("cccccccc-0000-8000-8000-000000000001", foreign, "403", "101", "' or 1=1 --", "%00", "x" * 500):
        status, code, message = caller.refusal(f"/ads/{ad_id}")
        assert (status, code, message) == (404, "not_found", "No ad of this profile has this id.")


def test_an_id_that_two_platforms_use_is_not_guessed(caller: Caller) -> None:
    assert caller.refusal("/ads/399")[:2] == (404, "not_found")
    assert caller.get(f"/ads/{BEHIND}").json["data"]["ad_external_id"] == "399"


def test_one_date_alone_or_a_bad_one_is_refused(caller: Caller) -> None:
    for query in ({"date_from": "2026-03-01"}, {"date_to": "2026-03-01"}, {"date_from": "x", "date_to": "2026-03-01"}):
        assert caller.refusal("/ads/301", **query)[:2] == (400, "invalid_date_range")
    assert caller.refusal("/ads/301", **WINDOW, model="last")[:2] == (400, "invalid_parameter")
    assert caller.refusal("/ads/301", level="ad")[:2] == (400, "invalid_parameter")


def test_a_bad_query_is_refused_before_the_ad_is_looked_up(caller: Caller) -> None:
    assert caller.refusal("/ads/nothing", model="last")[:2] == (400, "invalid_parameter")


def test_without_delivery_the_window_ends_on_the_day_of_the_data(compared: Deployment) -> None:
    meta = compared.new_caller(OTHER).get("/ads/403").json["meta"]
    assert (meta["date_from"], meta["date_to"]) == ("2026-02-04", "2026-03-03")


@pytest.mark.parametrize(("zone", "hour", "last"), [("Asia/Tokyo", 22, 4), ("America/Los_Angeles", 5, 2)])
def test_the_day_of_the_data_is_the_day_it_was_for_the_profile(zone: str, hour: int, last: int) -> None:
    # in Tokyo the payments of a morning were left out until nine o'clock
    of = ProfileFacts(1, zone, "JPY", 0, "one", 90, 7, None, datetime(2026, 3, 3, hour, tzinfo=UTC))
    assert default_window(of) == DateRange(date(2026, 2, last + 1), date(2026, 3, last))


def test_before_the_first_publication_no_ad_is_known(unpublished: Deployment) -> None:
    assert unpublished.new_caller().refusal("/ads/301")[:2] == (404, "not_found")


def test_nobody_sees_an_ad_without_a_key(caller: Caller) -> None:
    assert caller.client.get("/api/v1/ads/301").status_code == 401


def test_a_known_answer_is_not_sent_again(caller: Caller) -> None:
    tag = caller.get("/ads/301").headers["ETag"]
    assert caller.get("/ads/301", headers={"If-None-Match": tag}).status_code == 304
    assert caller.get("/ads/302", headers={"If-None-Match": tag}).status_code == 200
