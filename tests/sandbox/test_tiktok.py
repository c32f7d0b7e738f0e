"""TikTok's face: a presence that leaves the world as it is, and refusals in TikTok's own words."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import httpx
import pytest

from sandbox.faces import TOKENS
from sandbox.tiktok_world import ADVERTISERS, Presences, build
from tests.fixtures.sandbox import TODAY, RunningSandbox

TOLD = {"advertiser_id": ADVERTISERS[0].id}
REPORT = {
    **TOLD, "service_type": "AUCTION", "report_type": "BASIC", "data_level": "AUCTION_AD",
    "dimensions": '["ad_id","stat_time_day"]', "metrics": '["spend"]',
    "start_date": str(TODAY - timedelta(days=6)), "end_date": str(TODAY),
}  # fmt: skip


def ask(sandbox: RunningSandbox, path: str, token: str = TOKENS["tiktok"], **params: Any) -> dict[str, Any]:
    url = f"{sandbox.url}/tiktok/open_api/v1.3/{path}"
    answer = httpx.get(url, params=params, headers={"Access-Token": token}, trust_env=False)
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def test_the_same_world_has_the_same_presence_and_is_not_changed_by_it(sandbox: RunningSandbox) -> None:
    world = sandbox.world
    touches, deliveries = world.touches, world.deliveries
    first, second = build(world), build(world)
    assert first.deliveries == second.deliveries
    assert (world.touches, world.deliveries) == (touches, deliveries)
    assert not {row.ad_id for row in first.deliveries} & {row.id for row in world.ads}
    presences = Presences()
    assert presences.of(world) is presences.of(world)


def test_claims_are_sales_of_the_world_and_no_more_than_there_were(sandbox: RunningSandbox) -> None:
    captured = sum(payment.status == "captured" for payment in sandbox.world.payments)
    claimed = sum(row.claimed_purchases for row in build(sandbox.world).deliveries)
    assert 0 < claimed < captured / 2


def state(noun: str) -> str:
    """The filter of a report by which objects of every state are asked for."""
    value = json.dumps(["STATUS_ALL"])
    return json.dumps([{"field_name": f"{noun}_status", "filter_type": "IN", "filter_value": value}])


@pytest.mark.parametrize(
    ("path", "params", "code"),
    [
        ("campaign/get/", {"advertiser_id": "99"}, 40001),
        ("campaign/get/", {**TOLD, "page_size": 1001}, 40002),
        ("campaign/get/", {**TOLD, "filtering": json.dumps({"campaign_ids": ["1"] * 101})}, 40002),
        ("advertiser/info/", {"advertiser_ids": '["99"]'}, 40001),
        ("campaign/other/", TOLD, 40400),
        ("report/integrated/get/", {**REPORT, "start_date": str(TODAY - timedelta(days=30))}, 40002),
        ("report/integrated/get/", {**REPORT, "metrics": '["ad_idd"]'}, 40002),
        ("report/integrated/get/", {**REPORT, "dimensions": '["stat_time_day"]'}, 40002),
        ("report/integrated/get/", {**REPORT, "dimensions": '["ad_id","country_code"]'}, 40002),
        ("report/integrated/get/", {**REPORT, "data_level": "AD"}, 40002),
        ("report/integrated/get/", {**REPORT, "filtering": "ad_status"}, 40002),
        ("report/integrated/get/", {**REPORT, "filtering": state("campaign")}, 40002),
        ("report/integrated/get/", {**REPORT, "end_date": "today"}, 40002),
    ],
)
def test_what_is_wrong_is_refused_with_http_200_and_a_code(
    sandbox: RunningSandbox, path: str, params: dict[str, Any], code: int
) -> None:
    told = ask(sandbox, path, **params)
    assert (told["code"], told["data"]) == (code, {})


def test_another_token_opens_nothing(sandbox: RunningSandbox) -> None:
    for path in ("campaign/get/", "advertiser/info/", "oauth2/advertiser/get/"):
        assert ask(sandbox, path, token="another", **TOLD)["code"] == 40105


def test_a_page_says_which_it_is_and_metrics_are_texts(sandbox: RunningSandbox) -> None:
    data = ask(sandbox, "report/integrated/get/", page=2, page_size=3, **REPORT)["data"]
    assert (data["page_info"]["page"], data["page_info"]["page_size"], len(data["list"])) == (2, 3, 3)
    assert data["page_info"]["total_page"] == -(-data["page_info"]["total_number"] // 3)
    row = data["list"][0]
    assert row["dimensions"]["stat_time_day"].endswith(" 00:00:00")
    assert isinstance(row["metrics"]["spend"], str)


def test_what_is_deleted_is_told_only_to_those_who_ask_for_it(sandbox: RunningSandbox) -> None:
    def statuses(**filtering: str) -> set[str]:
        found = ask(sandbox, "campaign/get/", **TOLD, filtering=json.dumps(filtering))["data"]["list"]
        return {row["secondary_status"] for row in found}

    assert statuses() == statuses(primary_status="STATUS_NOT_DELETE")
    assert "CAMPAIGN_STATUS_DELETE" not in statuses()
    assert statuses(primary_status="STATUS_ALL") - statuses() == {"CAMPAIGN_STATUS_DELETE"}


def test_reports_leave_out_what_is_deleted_unless_every_state_is_asked_for(sandbox: RunningSandbox) -> None:
    def ads(**filtering: str) -> set[str]:
        found = ask(sandbox, "report/integrated/get/", **long, page_size=1000, **filtering)["data"]["list"]
        return {row["dimensions"]["ad_id"] for row in found}

    long = {**REPORT, "dimensions": '["ad_id"]', "start_date": str(TODAY - timedelta(days=59))}
    whole = build(sandbox.world).tree
    removed = {row.id for row in whole.campaigns if row.status == "DELETED"}
    gone = ads(filtering=state("ad")) - ads()
    assert gone
    assert gone <= {row.id for row in whole.ads if row.campaign_id in removed}
