"""GET /top-performers: filters, refusals, what an empty deployment answers, and the answer's tag."""

from __future__ import annotations

import pytest

from api.v1.top_performers.terms import LIKELIHOOD
from tests.api.v1.campaigns.conftest import OTHER, Caller, Deployment


def names(caller: Caller, **query: str) -> list[str]:
    answer = caller.get("/top-performers", **query)
    assert answer.status_code == 200, answer.text
    return [row["ad_external_id"] for row in answer.get_json()["data"]]


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ({"limit": "1"}, ["303"]),
        ({"window": "7d"}, ["301"]),
        ({"window": "lifetime"}, []),
        ({"min_spend": "25"}, ["303", "301", "302", "305"]),
        ({"min_spend": "25.000001"}, ["303", "301", "305"]),
        ({"min_spend": "999999999999999.999999"}, []),
        ({"objectives": "messaging,traffic"}, ["303", "306"]),
        ({"truth_grades": "lift, attributed"}, ["303", "301", "306"]),
        ({"outcome_kinds": "cash,platform"}, ["301", "302"]),
        ({"formats": "static,video"}, ["303", "301", "302"]),
        ({"formats": "ugc_video"}, ["301"]),
        ({"has_video": "true"}, ["303", "301"]),
        # ads of which no creative is known are neither
        ({"has_video": "false"}, ["302"]),
        ({"objectives": "sales", "has_video": "false", "min_spend": "2"}, ["302"]),
    ],
)
def test_a_filter_keeps_the_ads_it_names(caller: Caller, query: dict[str, str], ids: list[str]) -> None:
    assert names(caller, **query) == ids


@pytest.mark.parametrize(
    "query",
    [
        {"limit": "0"},
        {"limit": "51"},
        {"window": "30d"},
        {"min_spend": "-1"},
        {"min_spend": "1e3"},
        {"min_spend": "0.1234567"},
        {"objectives": "sales,"},
        {"objectives": "conversions"},
        {"truth_grades": "Lift"},
        {"outcome_kinds": ""},
        {"formats": "UGC"},
        {"formats": ",".join(f"f{n}" for n in range(21))},
        {"has_video": "1"},
        {"min_spent": "1"},
        {"date_from": "2026-03-01"},
    ],
)
def test_what_is_no_filter_is_refused(caller: Caller, query: dict[str, str]) -> None:
    status, code, message = caller.refusal("/top-performers", **query)
    assert (status, code) == (400, "invalid_parameter")
    assert next(iter(query)) in message


def test_what_the_scores_are_of_stands_beside_them(caller: Caller, ranked: Deployment) -> None:
    meta = caller.get("/top-performers", window="7d", limit=1).get_json()["meta"]
    assert meta.pop("snapshot_id")
    assert meta == {
        "profile_id": "01900000-0000-7000-8000-00000000aaaa",
        "score_window": "7d",
        "score_date": "2026-03-28",
        "config_version": 3,
        "currency": "USD",
        "data_as_of": "2026-03-29T04:05:06.789Z",
    }
    other = ranked.new_caller(OTHER).get("/top-performers").get_json()
    assert [row["spend"] for row in other["data"]] == [4801.0]
    assert (other["meta"]["currency"], other["meta"]["score_date"]) == ("JPY", "2026-03-27")


def test_rows_by_rules_have_no_version_and_rows_of_a_model_say_what_it_says(caller: Caller) -> None:
    for row in caller.get("/top-performers").get_json()["data"]:
        likelihood = row[LIKELIHOOD]
        assert (row["score_source"] == "rules") == (likelihood["status"] == "not_applicable")
        assert row["score_source"] == "model" or row["model_version"] is None
        assert (likelihood["value"] is None) == (likelihood["status"] != "served")


def test_before_anything_is_published_the_list_is_empty(unpublished: Deployment) -> None:
    answer = unpublished.new_caller().get("/top-performers").get_json()
    assert answer["data"] == []
    assert answer["meta"]["score_date"] is answer["meta"]["config_version"] is answer["meta"]["snapshot_id"] is None


def test_a_known_answer_is_not_sent_again_until_the_question_or_the_figures_change(
    deployment: Deployment,
) -> None:
    caller = deployment.new_caller()
    deployment.publish({"profiles": []})
    tag = caller.get("/top-performers", min_spend="1.50").headers["ETag"]
    again = {"If-None-Match": tag}
    assert caller.get("/top-performers", again, min_spend="1.5").status_code == 304
    assert caller.get("/top-performers", again, min_spend="1.51").status_code == 200
    deployment.publish({"profiles": []}, token=2)
    assert caller.get("/top-performers", again, min_spend="1.50").status_code == 200


def test_ads_of_one_score_and_spend_go_by_the_platforms_id(deployment: Deployment) -> None:
    facts = {"profile_key": 1, "profile_id": "01900000-0000-7000-8000-00000000aaaa", "currency": "USD"}
    ads = [("9", 1), ("10", 2), ("11", 3)]
    score = {"profile_key": 1, "score_window": "28d", "score_date": "2026-03-28", "day_from": "2026-03-01",
             "composite_score": 50.0, "maturity_stage": "cold"}  # fmt: skip
    deployment.publish(
        {
            "profiles": [{**facts, "currency_digits": 2}],
            "entities": [
                {"profile_key": 1, "level": "ad", "entity_key": key, "entity_id": f"{9 - key}", "platform_id": of}
                for of, key in ads
            ],
            "ad_scores": [{**score, "entity_key": key} for _, key in ads],
        }
    )
    assert names(deployment.new_caller()) == ["10", "11", "9"]
