"""The wire shapes of the Marketing API that clients trip over."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import httpx
import pytest

from sandbox.faces import TOKENS
from tests.fixtures.sandbox import TODAY, RunningSandbox


@pytest.fixture
def graph(sandbox: RunningSandbox) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {TOKENS['meta']}"}
    with httpx.Client(base_url=f"{sandbox.url}/meta/v26.0", headers=headers, trust_env=False) as client:
        yield client


def insights(sandbox: RunningSandbox, graph: httpx.Client, since: date, until: date, **more: Any) -> dict[str, Any]:
    params = {"level": "ad", "fields": "ad_id,spend,impressions,clicks,reach,actions,action_values", **more}
    params["time_range"] = json.dumps({"since": str(since), "until": str(until)})
    answer = graph.get(f"/act_{sandbox.world.accounts[0].id}/insights", params=params)
    return dict(answer.json())


def test_the_last_page_has_a_cursor_but_no_next(sandbox: RunningSandbox, graph: httpx.Client) -> None:
    pages = [insights(sandbox, graph, TODAY, TODAY, limit=7)]
    while "next" in pages[-1]["paging"]:
        after = pages[-1]["paging"]["cursors"]["after"]
        pages.append(insights(sandbox, graph, TODAY, TODAY, limit=7, after=after))
    assert len(pages) > 1
    assert pages[-1]["paging"]["cursors"]["after"]
    beyond = insights(sandbox, graph, TODAY, TODAY, limit=7, after=pages[-1]["paging"]["cursors"]["after"])
    assert beyond == {"data": []}


def test_a_page_that_is_exactly_full_and_last_has_no_next(sandbox: RunningSandbox, graph: httpx.Client) -> None:
    everything = insights(sandbox, graph, TODAY, TODAY, limit=500)["data"]
    assert "next" not in insights(sandbox, graph, TODAY, TODAY, limit=len(everything))["paging"]
    assert "next" in insights(sandbox, graph, TODAY, TODAY, limit=len(everything) - 1)["paging"]


def test_the_next_address_leads_to_the_following_page(sandbox: RunningSandbox, graph: httpx.Client) -> None:
    first = insights(sandbox, graph, TODAY, TODAY, limit=4)
    following = graph.get(first["paging"]["next"]).json()
    asked = insights(sandbox, graph, TODAY, TODAY, limit=4, after=first["paging"]["cursors"]["after"])
    assert following["data"] == asked["data"]
    assert following["paging"]["cursors"] == asked["paging"]["cursors"]


def test_every_figure_is_a_string(sandbox: RunningSandbox, graph: httpx.Client) -> None:
    rows = insights(sandbox, graph, TODAY - timedelta(days=20), TODAY, time_increment=1, limit=500)["data"]

    def leaves(value: Any) -> list[Any]:
        if isinstance(value, dict):
            return [leaf for part in value.values() for leaf in leaves(part)]
        return [leaf for part in value for leaf in leaves(part)] if isinstance(value, list) else [value]

    assert {type(leaf) for row in rows for leaf in leaves(row)} == {str}


def test_days_on_which_nothing_ran_have_no_row(sandbox: RunningSandbox, graph: httpx.Client) -> None:
    since = TODAY - timedelta(days=14)
    rows = insights(sandbox, graph, since, TODAY, time_increment=1, limit=500)["data"]
    seen = sandbox.world.delivery_seen(sandbox.world.accounts[0].id, since, TODAY)
    assert {(row["ad_id"], row["date_start"]) for row in rows} == {(row.ad_id, str(row.day)) for row in seen}
    before = sandbox.world.first_day - timedelta(days=3)
    assert insights(sandbox, graph, before, before) == {"data": []}


def test_one_purchase_stands_under_several_action_types(sandbox: RunningSandbox, graph: httpx.Client) -> None:
    windows = json.dumps(["7d_click", "1d_view"])
    since = TODAY - timedelta(days=40)
    rows = insights(sandbox, graph, since, TODAY, level="account", action_attribution_windows=windows)["data"]
    purchases = [one for one in rows[0]["actions"] if "purchase" in one["action_type"]]
    assert 5 <= len(purchases) <= 8
    assert len({one["value"] for one in purchases}) == 1
    assert all(int(one["7d_click"]) + int(one.get("1d_view", 0)) == int(one["value"]) for one in purchases)


def test_levels_add_up_to_the_account_in_spend_but_not_in_reach(sandbox: RunningSandbox, graph: httpx.Client) -> None:
    since = TODAY - timedelta(days=6)
    totals = {}
    for level in ("account", "campaign", "adset", "ad"):
        rows = insights(sandbox, graph, since, TODAY, level=level, fields="spend,reach", limit=500)["data"]
        cents = sum(int(row["spend"].replace(".", "")) for row in rows)
        totals[level] = (cents, sum(int(row["reach"]) for row in rows))
    assert len({spend for spend, _ in totals.values()}) == 1
    assert totals["account"][1] < totals["campaign"][1] < totals["ad"][1]


def test_a_deleted_ad_has_rows_only_when_its_state_is_asked_for(sandbox: RunningSandbox, graph: httpx.Client) -> None:
    def told(*states: str, level: str = "ad") -> set[str]:
        named = {"field": f"{level}.effective_status", "operator": "IN", "value": states}
        more = {"filtering": json.dumps([named])} if states else {}
        rows = insights(sandbox, graph, TODAY - timedelta(days=6), TODAY, level=level, limit=500, **more)["data"]
        return {row.get("ad_id", "") for row in rows}

    whole = told()
    gone = sorted(whole)[0]
    sandbox.set(gone, status="DELETED")
    assert (told(), told("DELETED"), told(level="account")) == (whole - {gone}, {gone}, {""})
    assert told("ACTIVE", "PAUSED", "ARCHIVED", "DELETED", "CAMPAIGN_PAUSED") == whole


def test_several_ranges_in_one_request_each_have_their_rows(sandbox: RunningSandbox, graph: httpx.Client) -> None:
    ranges = [(TODAY - timedelta(days=6), TODAY), (TODAY, TODAY)]
    spans = json.dumps([{"since": str(since), "until": str(until)} for since, until in ranges])
    params = {"level": "campaign", "fields": "campaign_id,reach", "time_ranges": spans, "limit": 500}
    rows = graph.get(f"/act_{sandbox.world.accounts[0].id}/insights", params=params).json()["data"]
    for since, until in ranges:
        alone = insights(sandbox, graph, since, until, level="campaign", fields="campaign_id,reach")["data"]
        assert [row for row in rows if row["date_start"] == str(since)] == alone


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"level": "planet"}, 100),
        ({"fields": "spend,nonsense"}, 100),
        ({"time_increment": "0"}, 100),
        ({"action_attribution_windows": '["9d_click"]'}, 100),
        ({"breakdowns": "age"}, 100),
        ({"filtering": '[{"field": "ad.effective_status", "operator": "IN", "value": ["GONE"]}]'}, 100),
        ({"breakdowns": "country,publisher_platform"}, 100),
        ({"breakdowns": "country", "fields": "ad_id,reach"}, 100),
        ({"after": "not base64"}, 2642),
    ],
)
def test_bad_parameters_are_refused_with_metas_code(
    sandbox: RunningSandbox, graph: httpx.Client, params: dict[str, str], code: int
) -> None:
    assert insights(sandbox, graph, TODAY, TODAY, **params)["error"]["code"] == code


def test_ranges_that_end_before_they_begin_or_are_too_old_are_refused(
    sandbox: RunningSandbox, graph: httpx.Client
) -> None:
    assert insights(sandbox, graph, TODAY, TODAY - timedelta(days=1))["error"]["code"] == 100
    assert insights(sandbox, graph, TODAY - timedelta(days=1200), TODAY)["error"]["code"] == 3018


def test_the_windows_that_meta_ended_are_taken_but_never_filled(sandbox: RunningSandbox, graph: httpx.Client) -> None:
    since = TODAY - timedelta(days=20)
    windows = json.dumps(["28d_view", "1d_click"])
    rows = insights(sandbox, graph, since, TODAY, level="account", action_attribution_windows=windows)["data"]
    assert all("28d_view" not in one for one in rows[0]["actions"])
    assert any("1d_click" in one for one in rows[0]["actions"])


@pytest.mark.parametrize(
    ("path", "code", "subcode"),
    [("/act_1/ads", 100, 33), ("/123", 100, 33), ("/../v25.0/act_1/ads", 2635, None), ("/nothing", 100, 33)],
)
def test_unknown_objects_and_old_versions_are_refused(
    graph: httpx.Client, path: str, code: int, subcode: int | None
) -> None:
    error = graph.get(path).json()["error"]
    assert (error["code"], error.get("error_subcode")) == (code, subcode)


def test_a_wrong_token_is_code_190(sandbox: RunningSandbox) -> None:
    url = f"{sandbox.url}/meta/v26.0/act_{sandbox.world.accounts[0].id}"
    answer = httpx.get(url, headers={"Authorization": "Bearer nobody"}, trust_env=False)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, 190)


def test_a_report_has_no_rows_before_it_is_complete(sandbox: RunningSandbox, graph: httpx.Client) -> None:
    account = sandbox.world.accounts[0].id
    run = graph.post(f"/act_{account}/insights", data={"level": "ad", "fields": "spend"}).json()["report_run_id"]
    assert graph.get(f"/{run}/insights").json()["error"]["code"] == 2601
    percents = [graph.get(f"/{run}/").json()["async_percent_completion"] for _ in range(4)]
    assert percents == [0, 10, 60, 100]
    assert graph.get(f"/{run}/insights").json()["data"]


def test_a_failed_report_says_why(sandbox: RunningSandbox, graph: httpx.Client) -> None:
    sandbox.plan({"route": "/insights$", "method": "POST", "kind": "report_failed"})
    account = sandbox.world.accounts[0].id
    run = graph.post(f"/act_{account}/insights", data={"fields": "spend"}).json()["report_run_id"]
    graph.get(f"/{run}")
    node = graph.get(f"/{run}").json()
    assert (node["async_status"], node["error_code"]) == ("Job Failed", 2)
