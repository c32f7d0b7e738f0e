"""GET W/top-performers and its brief: profiles merged, money in one currency, and who sees which."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from api import db
from api.models import Workspace
from api.roles import Role
from tests.api.v1.campaigns.conftest import UNBUILT, Caller, Deployment
from tests.api.v1.top_performers.conftest import GOLDEN, OTHER, PROFILE, Member, error
from tests.factories import served

Members = Callable[..., Member]


def ids(member: Member, **query: Any) -> list[str]:
    return [row["ad_external_id"] for row in member.data("/top-performers", **query)]


def test_the_merge_is_by_score_and_the_meta_says_what_it_rests_on(member: Members) -> None:
    ada = member()
    assert ids(ada) == ["403", "303", "301", "302", "306", "304", "305"]
    meta = ada.get("/top-performers").get_json()["meta"]
    assert meta.pop("snapshot_id") and meta.pop("workspace_id") == ada.workspace.id
    assert meta == {
        "score_window": "28d",
        "score_date": "2026-03-27",
        "config_version": 3,
        "profiles_included": 2,
        "rates_as_of": "2026-03-27",
        "currency": "USD",
        "data_as_of": "2026-03-28T01:00:00.000Z",
    }


def test_the_least_spend_is_in_the_workspaces_currency(member: Members) -> None:
    # 4801 JPY are 30.00625 USD before they are rounded
    assert ids(member(), min_spend="30.006") == ["403", "303", "305"]
    assert ids(member(), min_spend="30.0063") == ["303", "305"]


def test_only_the_profiles_named_are_merged(member: Members) -> None:
    ada = member()
    assert ids(ada, profile_ids=OTHER) == ids(ada, profile_id=OTHER) == ["403"]
    assert ids(ada, profile_ids=UNBUILT) == []
    assert ada.get("/top-performers", profile_ids=f"{OTHER},{UNBUILT}").get_json()["meta"]["profiles_included"] == 1
    assert ada.data("/top-performers/brief", profile_ids=OTHER)["scored"] == 1


def test_a_guest_sees_the_profiles_they_are_let_into_and_no_sign_of_others(member: Members) -> None:
    guest = member(Role.GUEST, of=(OTHER,))
    assert ids(guest) == ["403"]
    assert guest.data("/top-performers/brief")["leaders"] == 1
    for path in ("/top-performers", "/top-performers/brief"):
        assert error(guest.get(path, profile_ids=PROFILE)) == (404, "not_found", None)
        assert error(guest.get(path, profile_ids=f"{OTHER},{PROFILE}")) == (404, "not_found", None)


def test_a_key_does_not_reach_across_profiles(caller: Caller, member: Members) -> None:
    answer = caller.get(f"/workspaces/{member().workspace.id}/top-performers")
    assert error(answer) == (403, "forbidden", "api_key_not_allowed")


@pytest.mark.parametrize("query", [{"profile_ids": "x"}, {"limit": "51"}, {"cursor": "x"}, {"window": "1d"}])
def test_what_is_no_question_is_refused(member: Members, query: dict[str, str]) -> None:
    assert error(member().get("/top-performers", **query))[:2] == (400, "invalid_parameter")


def test_money_without_a_rate_is_null_and_never_another_currencys(deployment: Deployment) -> None:
    deployment.publish({**served.from_csv(GOLDEN), "fx_latest": []})
    ada = Member(deployment)
    first = ada.data("/top-performers", limit=1)[0]
    assert first["ad_external_id"] == "403"
    money = ("spend", "cpc", "cac", "attributed_revenue", "attributed_pipeline_value", "cost_per_conversation",
             "platform_reported_conversion_value")  # fmt: skip
    assert [first[name] for name in money] == [None] * len(money)
    assert (first["roas"], first["composite_score"], first["impressions"]) == (2.08269111, 90.0, 1000)
    assert "403" not in ids(ada, min_spend="0.01")
    assert ids(ada, min_spend="0")[0] == "403"
    assert ada.get("/top-performers").get_json()["meta"]["rates_as_of"] is None


def test_a_profile_whose_ads_delivered_and_have_no_score_is_none_with_scored_ads(deployment: Deployment) -> None:
    rows = served.from_csv(GOLDEN)
    scores = [{**row, "composite_score": None} if row["profile_key"] == "2" else row for row in rows["ad_scores"]]
    deployment.publish({**rows, "ad_scores": scores})
    ada = Member(deployment)
    assert "403" in ids(ada)
    assert ada.get("/top-performers").get_json()["meta"]["profiles_included"] == 1


def test_another_currency_of_the_workspace_is_another_answer(deployment: Deployment) -> None:
    deployment.publish(served.from_csv(GOLDEN))
    ada = Member(deployment)
    before = ada.get("/top-performers")
    with db.transaction(deployment.settings.operational_url) as session:
        session.get_one(Workspace, ada.workspace.id).reporting_currency = "JPY"
    after = ada.get("/top-performers", limit="10")
    assert after.headers["ETag"] != before.headers["ETag"]
    # 30 USD at 160; yen have no decimals
    assert {row["ad_external_id"]: row["spend"] for row in after.get_json()["data"]}["301"] == 4800.0
    assert after.get_json()["data"][0]["spend"] == 4801.0


def test_a_known_answer_is_not_sent_again_until_the_code_changes(member: Members, upgrade: Callable[[], None]) -> None:
    ada = member()
    for path in ("/top-performers", "/top-performers/brief"):
        tag = ada.get(path, window="7d").headers["ETag"]
        assert ada("GET", path, query_string={"window": "7d"}, headers={"If-None-Match": tag}).status_code == 304
        assert ada("GET", path, headers={"If-None-Match": tag}).status_code == 200
    upgrade()
    assert ada("GET", path, query_string={"window": "7d"}, headers={"If-None-Match": tag}).status_code == 200


def test_before_anything_is_published_all_is_empty(unpublished: Deployment) -> None:
    ada = Member(unpublished)
    assert ids(ada) == []
    assert ada.get("/top-performers").get_json()["meta"]["profiles_included"] == 0
    assert set(ada.data("/top-performers/brief").values()) == {"28d", 0}
