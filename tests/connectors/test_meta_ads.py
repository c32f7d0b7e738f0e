"""The Meta connector against the sandbox: the world's own figures, whatever goes wrong underneath."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from connectors import meta_ads, meta_graph
from connectors.ad_platform import AdPlatform, Row, days_of, reach_windows
from connectors.errors import ConnectorError, CursorExpired, Malformed, Revoked, Transient
from connectors.meta_ads import MetaAds
from connectors.transport import Transport
from sandbox.faces import TOKENS
from tests.connectors.conftest import SINCE
from tests.connectors.truths import Figures, delivered, true_delivery
from tests.fixtures.sandbox import TODAY, RunningSandbox

INSIGHTS = "/insights$"
LONG_SINCE = TODAY - timedelta(days=40)


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages small enough that two weeks of a small world take several."""
    monkeypatch.setattr(meta_graph, "PAGE", 25)


def truth(sandbox: RunningSandbox, since: date, until: date) -> Figures:
    return true_delivery(sandbox.world, sandbox.world.accounts[0].id, since, until)


def test_it_is_an_ad_platform(meta: MetaAds) -> None:
    platform: AdPlatform = meta
    assert platform.platform == "meta"


def test_every_entity_arrives_archived_ones_too(sandbox: RunningSandbox, meta: MetaAds) -> None:
    found = meta.entities()
    account, world = sandbox.world.accounts[0], sandbox.world

    def own(rows: Any) -> set[str]:
        return {row.id for row in rows if row.account_id == account.id}

    assert found["ad_accounts"] == [
        {"platform": "meta", "ad_account_id": account.id, "name": account.name, "currency": "USD",
         "timezone": "America/New_York", "status": "ACTIVE"}
    ]  # fmt: skip
    assert {row["campaign_id"] for row in found["campaigns"]} == own(world.campaigns)
    assert {row["ad_set_id"] for row in found["ad_sets"]} == own(world.ad_sets)
    assert {row["ad_id"] for row in found["ads"]} == own(world.ads)
    assert {row["creative_id"] for row in found["creatives"]} == own(world.creatives)
    assert "ARCHIVED" in {row["status"] for row in found["campaigns"]}


def test_entities_carry_the_worlds_names_budgets_groups_and_links(sandbox: RunningSandbox, meta: MetaAds) -> None:
    found, world = meta.entities(), sandbox.world
    campaigns = {row["campaign_id"]: row for row in found["campaigns"]}
    for campaign in (row for row in world.campaigns if row.id in campaigns):
        row = campaigns[campaign.id]
        assert (row["name"], row["objective_group"], row["daily_budget_minor"]) == (
            campaign.name, campaign.objective_group, campaign.daily_budget_minor,
        )  # fmt: skip
        assert row["created_at"].timestamp() == campaign.created_at
    ads = {row["ad_id"]: row for row in found["ads"]}
    for ad in (row for row in world.ads if row.id in ads):
        row = ads[ad.id]
        assert (row["ad_set_id"], row["campaign_id"], row["creative_id"], row["url_tags"], row["landing_url"]) == (
            ad.ad_set_id, ad.campaign_id, ad.creative_id, ad.url_tags, ad.landing_url,
        )  # fmt: skip
    formats = {row["creative_id"]: row["format"] for row in found["creatives"]}
    assert formats == {row.id: row.format for row in world.creatives if row.id in formats}


def test_two_weeks_of_delivery_equal_the_world(sandbox: RunningSandbox, meta: MetaAds, transport: Transport) -> None:
    days = list(meta.delivery(SINCE, TODAY))
    assert [day for day, _ in days] == [day for day, _ in days_of(SINCE, TODAY)]
    assert delivered(days) == truth(sandbox, SINCE, TODAY)
    assert transport.requests > 4


def test_a_long_range_goes_through_report_runs_and_equals_the_world(
    sandbox: RunningSandbox, meta: MetaAds, slept: list[float]
) -> None:
    sandbox.plan()
    days = list(meta.delivery(LONG_SINCE, TODAY))
    assert delivered(days) == truth(sandbox, LONG_SINCE, TODAY)
    assert len(days) == 41
    assert len(slept) == 3


def test_a_day_on_which_nothing_ran_is_an_empty_day(sandbox: RunningSandbox, meta: MetaAds) -> None:
    before = sandbox.world.first_day - timedelta(days=2)
    assert list(meta.delivery(before, before)) == [(before, [])]


def test_one_sale_under_six_action_types_is_counted_once(sandbox: RunningSandbox, meta: MetaAds) -> None:
    claimed = sum(row.claimed_purchases for row in sandbox.world.delivery_seen(meta.account_id, SINCE, TODAY))
    assert claimed > 0
    rows = [row for _, rows in meta.delivery(SINCE, TODAY) for row in rows]
    assert sum(row["platform_conversions"] for row in rows) == claimed


def test_views_are_null_for_an_ad_without_video_and_counted_for_one_with(
    sandbox: RunningSandbox, meta: MetaAds
) -> None:
    seen = {(row.ad_id, row.day): row for row in sandbox.world.delivery_seen(meta.account_id, SINCE, TODAY)}
    rows = [row for _, rows in meta.delivery(SINCE, TODAY) for row in rows]
    for row in rows:
        true = seen[row["ad_id"], row["date"]]
        assert (row["video_3s_views"], row["video_15s_views"]) == (true.video_3s_views, true.video_15s_views)
    assert {row["video_3s_views"] is None for row in rows} == {True, False}


def test_reach_is_the_platforms_own_figure_of_each_window_and_level(sandbox: RunningSandbox, meta: MetaAds) -> None:
    windows = reach_windows(TODAY, TODAY)
    rows = list(meta.reach(windows))
    assert {row["level"] for row in rows} == {"campaign", "ad_set", "ad"}
    assert {(row["date_from"], row["date_to"]) for row in rows} == set(windows)
    for row in rows:
        window = (row["date_from"], row["date_to"])
        assert row["reach"] == sandbox.world.reach(row["level"], row["entity_id"], *window)
    keys = {(row["level"], row["entity_id"], row["date_from"], row["date_to"]) for row in rows}
    assert len(keys) == len(rows)


def test_what_is_deleted_keeps_the_spend_the_places_and_the_reach_of_its_days(
    sandbox: RunningSandbox, meta: MetaAds
) -> None:
    def told() -> tuple[Figures, list[Row], list[Row]]:
        days = delivered(meta.delivery(SINCE, TODAY))
        return days, list(meta.breakdowns(TODAY, TODAY)), list(meta.reach([(SINCE, TODAY)]))

    before = told()
    own = [row for row in sandbox.world.ads if row.account_id == meta.account_id]
    shown = {ad for ad, _ in before[0]}
    ad = next(row for row in own if row.id in shown)
    others = [row for row in own if row.id in shown and row.campaign_id != ad.campaign_id]
    for number in (ad.id, others[0].ad_set_id, others[-1].campaign_id):
        sandbox.set(number, status="DELETED")
    assert told() == before
    assert before[0] == truth(sandbox, SINCE, TODAY)
    long = delivered(meta.delivery(LONG_SINCE, TODAY))
    assert long == truth(sandbox, LONG_SINCE, TODAY)


def test_reach_windows_are_each_day_the_week_and_four_weeks_ending_on_it_and_the_months() -> None:
    windows = reach_windows(date(2026, 1, 31), date(2026, 2, 1))
    assert windows == sorted([
        (date(2026, 1, 31), date(2026, 1, 31)),
        (date(2026, 1, 25), date(2026, 1, 31)), (date(2026, 1, 4), date(2026, 1, 31)),
        (date(2026, 1, 26), date(2026, 2, 1)), (date(2026, 1, 5), date(2026, 2, 1)),
        (date(2026, 1, 1), date(2026, 1, 31)), (date(2026, 2, 1), date(2026, 2, 1)),
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("fault", "halvings"),
    [
        ({"code": "1", "message": "Please reduce the amount of data you're asking for", "times": 2}, 2),
        ({"code": "100", "message": "Cannot include x in summary param", "times": 1}, 0),
        ({"code": "100", "subcode": 1487534, "message": "Invalid parameter", "times": 3}, 1),
        ({"kind": "status", "status": 503, "code": "-1", "times": 2}, 0),
    ],
)
@pytest.mark.parametrize("after", [0, 3])
def test_odd_refusals_that_are_no_refusals_are_survived(
    sandbox: RunningSandbox, meta: MetaAds, transport: Transport, fault: dict[str, Any], halvings: int, after: int
) -> None:
    list(meta.delivery(SINCE, TODAY))
    undisturbed = transport.requests
    sandbox.plan({"route": INSIGHTS, "kind": "code", "after": after, **fault})
    assert delivered(list(meta.delivery(SINCE, TODAY))) == truth(sandbox, SINCE, TODAY)
    assert sandbox.hits() == [fault["times"]]
    assert transport.requests - undisturbed <= undisturbed * 2**halvings + fault["times"]


def test_a_token_revoked_mid_walk_stops_at_once_and_yields_no_partial_day(
    sandbox: RunningSandbox, meta: MetaAds
) -> None:
    first_chunk = truth(sandbox, SINCE, SINCE + timedelta(days=meta_ads.SYNC_DAYS - 1))
    pages = -(-len(first_chunk) // 25)
    sandbox.plan({"route": INSIGHTS, "kind": "revoked", "after": pages + 1, "times": None})
    got: list[tuple[date, list[Row]]] = []
    with pytest.raises(Revoked) as caught:
        for day in meta.delivery(SINCE, TODAY):
            got.append(day)  # noqa: PERF402 - what came before the error is the point
    assert caught.value.reason == "connection_revoked"
    assert len(got) == meta_ads.SYNC_DAYS
    assert delivered(got) == first_chunk
    assert sandbox.hits() == [1]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"kind": "cursor_expires"}, CursorExpired),
        ({"kind": "duplicate_page", "after": 1}, Malformed),
        ({"kind": "reset", "after": 1}, Transient),
        ({"kind": "code", "code": "1", "message": "Please reduce the amount of data"}, ConnectorError),
    ],
)
def test_a_fault_that_never_ends_ends_the_walk_within_a_bound(
    sandbox: RunningSandbox, meta: MetaAds, transport: Transport, fault: dict[str, Any], error: type[Exception]
) -> None:
    sandbox.plan({"route": INSIGHTS, "times": None, **fault})
    with pytest.raises(error):
        list(meta.delivery(SINCE, TODAY))
    # pages of 25 are halved to one row, then a week to one day
    assert transport.requests <= 20


TOO_MANY_ROWS = {"route": INSIGHTS, "kind": "code", "code": "100", "subcode": 1487534, "message": "Invalid parameter"}


def test_what_has_too_many_rows_is_asked_for_in_shorter_ranges(sandbox: RunningSandbox, meta: MetaAds) -> None:
    def told() -> list[Row]:
        rows = [*meta.reach(days_of(TODAY - timedelta(days=4), TODAY)), *meta.breakdowns(SINCE, TODAY)]
        return sorted(rows, key=str)

    whole = told()
    sandbox.plan({**TOO_MANY_ROWS, "times": 2}, {**TOO_MANY_ROWS, "containing": "breakdowns", "times": 3})
    assert told() == whole
    assert sandbox.hits() == [2, 3]
    sandbox.plan({**TOO_MANY_ROWS, "method": "POST", "times": 3})
    assert delivered(list(meta.delivery(LONG_SINCE, TODAY))) == truth(sandbox, LONG_SINCE, TODAY)
    assert sandbox.hits() == [3]


def test_a_day_with_too_many_rows_ends_the_walk(sandbox: RunningSandbox, meta: MetaAds, transport: Transport) -> None:
    sandbox.plan({**TOO_MANY_ROWS, "times": None})
    for first, most in ((SINCE, 4), (LONG_SINCE, 7)):
        before = transport.requests
        with pytest.raises(ConnectorError) as caught:
            list(meta.delivery(first, TODAY))
        assert caught.value.reason == "too_many_rows"
        assert transport.requests - before <= most


def test_a_failed_report_run_is_tried_again_then_split(sandbox: RunningSandbox, meta: MetaAds) -> None:
    for failures, runs in ((1, 2), (2, 4)):
        sandbox.plan({"route": INSIGHTS, "method": "POST", "kind": "report_failed", "times": failures})
        assert delivered(list(meta.delivery(LONG_SINCE, TODAY))) == truth(sandbox, LONG_SINCE, TODAY)
        assert sandbox.calls(f"act_{meta.account_id}/insights") == runs


def test_a_stuck_report_run_is_given_up_after_its_time_and_asked_again(
    sandbox: RunningSandbox, meta: MetaAds, slept: list[float]
) -> None:
    sandbox.plan({"route": INSIGHTS, "method": "POST", "kind": "report_stuck", "times": 1})
    assert delivered(list(meta.delivery(LONG_SINCE, TODAY))) == truth(sandbox, LONG_SINCE, TODAY)
    assert meta_graph.FINISH_TIMEOUT <= sum(slept) < 2 * meta_graph.FINISH_TIMEOUT


def test_reports_that_always_fail_end_in_an_error_and_no_day(sandbox: RunningSandbox, meta: MetaAds) -> None:
    sandbox.plan({"route": INSIGHTS, "method": "POST", "kind": "report_failed", "times": None})
    got = []
    with pytest.raises(Transient) as caught:
        got.extend(meta.delivery(LONG_SINCE, TODAY))
    assert (caught.value.reason, got) == ("report_failed", [])
    assert sandbox.hits()[0] <= 14


def test_a_report_run_that_cannot_be_read_yet_is_looked_at_again(sandbox: RunningSandbox, meta: MetaAds) -> None:
    fault = {"kind": "code", "code": "100", "subcode": 33, "message": "does not exist", "times": 2}
    sandbox.plan({"route": r"/87\d+$", **fault})
    assert delivered(list(meta.delivery(LONG_SINCE, TODAY))) == truth(sandbox, LONG_SINCE, TODAY)


def test_figures_of_the_last_weeks_are_revised_and_older_ones_stand(sandbox: RunningSandbox, meta: MetaAds) -> None:
    now = delivered(list(meta.delivery(SINCE, TODAY)))
    sandbox.holder.see_as_of(TODAY + timedelta(days=28))
    later = delivered(list(meta.delivery(SINCE, TODAY)))
    assert later == truth(sandbox, SINCE, TODAY)
    assert later != now
    sandbox.holder.see_as_of(TODAY)
    old = TODAY - timedelta(days=35)
    settled = delivered(list(meta.delivery(old, old)))
    sandbox.holder.see_as_of(TODAY + timedelta(days=28))
    assert delivered(list(meta.delivery(old, old))) == settled


def test_a_foreign_account_is_refused_not_empty(sandbox: RunningSandbox, transport: Transport) -> None:
    foreign = MetaAds(f"{sandbox.url}/meta", TOKENS["meta"], "99", transport)
    with pytest.raises(ConnectorError) as caught:
        foreign.entities()
    assert caught.value.reason == "not_found"
    assert transport.requests == 1
